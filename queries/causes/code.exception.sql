-- cause: code.exception
-- title: The program failed
-- rank: 8
-- level: supported
-- needs: log.cuda_error.address, log.cuda_error.program, k8s.workload.failed.exception, log.traceback, log.traceback.of_rank, log.training_done, log.exception.stack, log.exception.line, log.exception.logged, log.gives_up, log.fatal, launcher.exception, launcher.worker_exited, mpi.aborted, nccl.mismatch, k8s.container.exited_nonzero, slurm.failed, slurm.task_failed, log.tool_failed
-- overturned_by: logs: the traceback
-- summary: {pod} failed with an error: {message}
-- summary_of: k8s.container.exited_nonzero: The program of {pod} ended with exit code {exit_code}; no log shows why.
-- summary_of: launcher.worker_exited: In {pod}, rank {detail} ended with exit code {exit_code}, which it chose itself, and no log shows why; what the others say of a lost peer or a timeout follows from that.
-- summary_of: mpi.aborted: One rank ended {pod} as a whole, and no log shows why: {message}
-- summary_of: slurm.failed, slurm.task_failed: The program of {pod} failed, and no log shows why: {message}
-- summary_of: nccl.mismatch: The ranks of {workload} called different collectives at the same point, so each waited for the others: {message}
-- summary_of: log.tool_failed: A tool that the script of {pod} ran failed, and with its exit code {exit_code} {pod} ended: {message}
-- title_of: nccl.mismatch: Ranks called different collectives
-- advice_of: nccl.mismatch: Find where the ranks of the program take different branches: all of them must call the same collectives in the same order.
-- advice_of: k8s.container.exited_nonzero, slurm.failed, slurm.task_failed: Look for an error in the log of {pod}; if no log was kept, run the program again and keep its stderr.
-- advice_of: log.tool_failed: Look at what the tool was to do; what the program did before it may be complete.
-- advice_of: log.exception.line, log.exception.logged, log.gives_up, log.fatal: Read the last log lines of the first rank to fail; other ranks, if there are any, failed as a consequence.
-- advice: Read the traceback of the first rank to fail; other ranks, if there are any, failed as a consequence.
--
-- A traceback shortly before the process ended by itself; without a log, only an
-- ordinary exit code, which proves that the process chose to end and no more.
-- What only reports a collective's timeout or another process's end is a symptom; that
-- it was told to stop speaks of whoever told it.
-- Pods that submit a Ray job, and follow it from afar: KubeRay names those of the cluster -head- and -worker-.
WITH submitters AS (
  SELECT death, run FROM deaths
  WHERE root_kind = 'RayJob' AND mode = 'exited' AND pod <> '' AND NOT regexp_like(pod, '-(head|worker)(-|$)')
),
-- One ends in an error once the job has failed, whatever ended it, or cannot be followed any more: where a pod of the cluster
-- had just ended, a process of the job was lost or its deadline had passed, that is why.
follows AS (
  SELECT s.death FROM submitters s
  JOIN links w ON w.death = s.death
    AND (w.via = 'workload' AND (w.signal = 'k8s.workload.deadline' AND w.lag_s BETWEEN -5 AND 300
        OR w.signal = 'ray.job_lost_process' AND w.lag_s BETWEEN -300 AND 300)
      OR w.via = 'pod' AND w.signal = 'ray.follower_lost' AND w.lag_s BETWEEN -5 AND 120)
  UNION
  SELECT s.death FROM submitters s
  JOIN links own ON own.death = s.death AND own.via = 'pod' AND own.signal = 'k8s.container.exited_nonzero'
  JOIN links o ON o.run = s.run AND o.death <> s.death AND own.time - o.time BETWEEN 0 AND 300000000000
    AND (o.via = 'pod' AND o.lag_s BETWEEN -1 AND 1 AND regexp_like(o.pod, '-(head|worker)(-|$)')
      OR o.via = 'workload' AND o.signal = 'ray.pod_oom_killed')
),
-- Records that only say that another member of the gang was gone: no failure of this program.
missed_peer AS (
  SELECT DISTINCT death, record FROM links
  WHERE via = 'pod' AND signal IN ('gloo.error', 'nccl.peer_lost', 'jax.peer_died', 'jax.barrier_timeout', 'ray.actor_died', 'ray.worker_lost',
                                     'ray.node_died', 'ray.node_ended', 'ucx.error', 'horovod.aborted', 'xgboost.collective_failed', 'vllm.engine_died',
                                     'vllm.worker_died', 'sglang.child_failed', 'sglang.gives_up')
  UNION
  SELECT l.death, l.record FROM links l
  JOIN submitters s ON s.death = l.death
  WHERE l.via = 'pod' AND l.signal = 'ray.follower_lost'
  -- Who waited at a barrier for others says what hang.rendezvous finds as surely.
  UNION
  SELECT DISTINCT r.death, r.record FROM links r
  JOIN links x ON x.death = r.death AND x.record = r.record AND x.via = 'pod' AND x.signal IN ('log.traceback', 'log.exception.stack', 'log.exception.line')
  WHERE r.via = 'pod' AND r.signal = 'rendezvous.error'
  -- A communicator is aborted by a watchdog that has waited long enough.
  UNION
  SELECT DISTINCT a.death, a.record FROM links a
  JOIN links t ON t.death = a.death AND t.via IN ('pod', 'gang') AND t.signal = 'nccl.timeout'
  WHERE a.via = 'pod' AND a.signal = 'nccl.aborted'
),
said AS (
  SELECT death, fact, record, time, signal, state, mode, exit_code, lag_s, steps_after, COALESCE(detail, '') AS detail
  FROM links
  WHERE signal IN ('log.traceback', 'log.exception.stack', 'log.exception.line', 'log.exception.logged', 'log.gives_up', 'log.fatal', 'launcher.exception') AND via = 'pod' AND same_container AND mode = 'exited'
    AND COALESCE(exit_code, 1) NOT IN (0, 130, 137, 143)
    AND lag_s BETWEEN -5 AND CASE WHEN signal IN ('log.fatal', 'log.exception.line', 'log.exception.logged', 'log.gives_up') THEN 10 ELSE 60 END
    AND COALESCE(detail, '') NOT LIKE '%DistBackendError' AND COALESCE(detail, '') NOT LIKE '%ChildFailedError'
    AND COALESCE(detail, '') NOT LIKE '%SignalException' AND COALESCE(detail, '') NOT LIKE '%KeyboardInterrupt'
    AND COALESCE(detail, '') NOT LIKE '%SIGTERMException'
    AND record NOT IN (SELECT record FROM missed_peer)
    -- That a process was killed is told by whoever waited for it.
    AND record NOT IN (SELECT record FROM links WHERE via = 'pod' AND signal = 'log.killed')
    -- Who lost another cancels what it still had to do.
    AND NOT (COALESCE(detail, '') LIKE '%CancelledError' AND death IN (SELECT death FROM missed_peer))
    -- Whom the others did not meet is no failure of its program: hang.rendezvous says it as surely.
    AND NOT (regexp_like(COALESCE(detail, ''), '(Rendezvous(Connection|Timeout|Closed)Error|DistStoreError|DistNetworkError)$')
      AND death IN (SELECT death FROM links WHERE via = 'pod' AND signal = 'rendezvous.error'))
),
told AS (
  SELECT s.* FROM said s
  -- A line that looks like an exception's last one, and has no traceback, may be a tool's notice: where a traceback follows, that
  -- is the end.
  WHERE s.signal <> 'log.exception.line'
    OR NOT EXISTS (SELECT 1 FROM said x WHERE x.death = s.death AND x.signal = 'log.traceback' AND x.detail <> '' AND x.time >= s.time)
),
-- Records at one time with those of another process's end, or of having waited for it. That a launcher reports the end of a
-- process makes its exception no weaker, unless the exception is the launcher's own.
peers AS (
  SELECT DISTINCT t.death, t.record
  FROM links t
  JOIN links o ON o.death = t.death AND o.time = t.time AND o.via = 'pod'
    AND (o.record = t.record OR o.signal NOT IN ('launcher.worker_failed', 'launcher.teardown', 'nccl.peer_lost', 'nccl.peer_timeout', 'nccl.aborted', 'nccl.timeout',
                                                 'gloo.error', 'ucx.error', 'horovod.aborted', 'rendezvous.error'))
  WHERE t.via = 'pod'
    AND t.signal IN ('log.traceback', 'log.exception.stack', 'log.exception.line', 'log.exception.logged', 'log.gives_up', 'log.fatal',
                     'launcher.exception')
    AND o.signal IN ('nccl.timeout', 'nccl.peer_lost', 'nccl.peer_timeout', 'nccl.aborted', 'gloo.error', 'rendezvous.error',
                     'ucx.error', 'mpi.process_died', 'mpi.node_lost', 'ray.actor_died', 'ray.node_died', 'ray.node_ended',
                     'jax.peer_died', 'jax.barrier_timeout', 'launcher.worker_failed', 'launcher.teardown',
                     'torchft.gave_up', 'ray.worker_lost', 'horovod.aborted', 'xgboost.collective_failed', 'vllm.engine_died', 'vllm.worker_died',
                     'sglang.child_failed', 'sglang.gives_up', 'sglang.watchdog',
                     -- and of storage or a device that failed under it: nothing says that the code did that.
                     'log.storage_error', 'log.cuda_error.device', 'gpu.nvlink_error', 'gpu.memory_error',
                     -- What another signal reads more closely is no surer for being an exception, too.
                     'log.device_ordinal', 'log.data_loader_failed', 'log.clock_skew', 'log.storage_throttled', 'log.no_licence', 'log.control_plane',
                     -- Whoever asked it to stop, or killed a process of it, is another matter.
                     'log.sigterm', 'log.killed',
                     -- An address that is not there may be the GPU's doing as well.
                     'log.cuda_error.address')
  UNION
  -- Azure's clients write the store's code on a line of its own, below the exception's.
  SELECT DISTINCT t.death, t.record
  FROM links t
  JOIN links o ON o.death = t.death AND o.via = 'pod' AND o.time - t.time BETWEEN 0 AND 1000000000
    AND o.signal IN ('log.storage_error', 'log.storage_throttled')
  WHERE t.via = 'pod' AND t.signal = 'log.traceback' AND t.detail LIKE 'azure.%'
)
-- What a logger writes of an exception, the program may have caught.
-- A traceback without its last line, which names the exception, may be of anything; one that a program shows after it has
-- said that all is done, and whose exit nobody saw, may have ended nothing.
SELECT t.death, t.fact AS cause, CAST(NULL AS BIGINT) AS effect,
  CASE WHEN p.death IS NOT NULL OR k.death IS NOT NULL OR done.death IS NOT NULL AND t.exit_code IS NULL OR t.signal IN ('launcher.exception', 'log.exception.logged', 'log.gives_up') OR t.signal = 'log.traceback' AND t.detail = ''
         -- What says itself that another process ended, or broke.
         OR regexp_like(t.detail, '(Process(Exited|Raised)Exception|CancelledError|BrokenProcessPool|ActorDiedError|ActorUnavailableError|RayActorError|WorkerCrashedError|NodeDiedError|ObjectLostError|OwnerDiedError|LocalRayletDiedError|HorovodInternalError|EngineDeadError|KilledWorker|TerminatedWorkerError|ExecutorLostFailure)$')
       THEN 'guess' ELSE 'inferred' END AS edge, 'fault' AS role
FROM told t
LEFT JOIN peers p ON p.death = t.death AND p.record = t.record
LEFT JOIN (SELECT death, MIN(time) AS time FROM links WHERE via = 'pod' AND signal = 'log.training_done' GROUP BY death) done
  ON done.death = t.death AND done.time <= t.time
-- Whom an exception ends, nobody has to kill: what was killed after it may have caught it, and had if it made steps since.
LEFT JOIN (SELECT death, MAX(time) AS time FROM links WHERE via = 'pod' AND signal = 'log.killed' GROUP BY death) k
  ON k.death = t.death AND k.time >= t.time
WHERE k.death IS NULL OR t.steps_after IS NOT TRUE
UNION ALL
-- Ranks that were in different collectives at one place do different things: the program's own doing.
-- What watchdogs wrote of one place may be of two attempts or two groups; a recorder's dump names both.
SELECT m.death, m.fact AS cause, CAST(NULL AS BIGINT) AS effect,
  CASE WHEN t.fact IS NULL THEN 'inferred' ELSE 'guess' END AS edge, 'fault' AS role
FROM links m
LEFT JOIN links t ON t.death = m.death AND t.record = m.record AND t.via = m.via AND t.signal = 'nccl.timeout'
WHERE m.signal = 'nccl.mismatch' AND m.via IN ('pod', 'workload') AND m.state IN ('died', 'restarted', 'crash_loop', 'stalled')
  AND m.lag_s BETWEEN CASE WHEN t.fact IS NULL THEN -600 ELSE -60 END AND 900 AND COALESCE(m.exit_code, 1) NOT IN (0, 143)
UNION ALL
SELECT e.death, e.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'guess' AS edge, 'claim' AS role
FROM links e
LEFT JOIN (SELECT DISTINCT death FROM links
           WHERE via = 'pod' AND (signal IN ('nccl.timeout', 'rendezvous.error', 'gloo.error', 'nccl.peer_lost', 'jax.peer_died',
             'ray.actor_died', 'ray.worker_lost', 'ray.node_died', 'ray.node_ended', 'ucx.error', 'horovod.aborted',
             'xgboost.collective_failed', 'vllm.engine_died', 'vllm.worker_died', 'sglang.child_failed', 'sglang.gives_up', 'sglang.watchdog', 'nvrx.hang', 'k8s.container.cannot_run', 'k8s.container.liveness_killed')
             -- Who is told to stop ends as it likes.
             OR signal = 'log.sigterm' AND lag_s BETWEEN -5 AND 120
             OR signal = 'log.traceback' AND lag_s BETWEEN -5 AND 60 AND regexp_like(COALESCE(detail, ''), '(SignalException|KeyboardInterrupt|SIGTERMException)$'))
           UNION
           SELECT death FROM killed_first) w ON w.death = e.death
WHERE e.signal = 'k8s.container.exited_nonzero' AND e.via = 'pod' AND e.same_container AND e.mode = 'exited'
  AND e.exit_code BETWEEN 1 AND 125 AND e.code = e.exit_code AND e.lag_s BETWEEN -1 AND 1 AND w.death IS NULL
  AND e.death NOT IN (SELECT death FROM follows)
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'guess' AS edge, 'claim' AS role
FROM links
WHERE signal IN ('slurm.failed', 'slurm.task_failed') AND via = 'pod' AND mode = 'exited' AND exit_code BETWEEN 1 AND 125
  AND death NOT IN (SELECT death FROM killed_first)
  -- Accounting takes 128 away from what a shell makes of a signal: SIGKILL and SIGTERM are 9 and 15.
  AND exit_code NOT IN (9, 15)
  AND lag_s BETWEEN -1 AND 1
UNION ALL
-- What ends with the very code that a tool, which its script ran at last, says that it failed with: no step was made after it.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'fault' AS role
FROM links
WHERE signal = 'log.tool_failed' AND via = 'pod' AND mode = 'exited' AND exit_code > 1 AND detail = CAST(exit_code AS VARCHAR)
  AND steps_after IS NOT TRUE AND lag_s BETWEEN -5 AND 600
UNION ALL
-- That all was done by then belongs to the story.
SELECT d.death, d.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'context' AS edge, 'state' AS role
FROM links d
JOIN links t ON t.death = d.death AND t.via = 'pod' AND t.signal = 'log.tool_failed' AND t.detail = CAST(t.exit_code AS VARCHAR) AND t.time >= d.time
WHERE d.signal = 'log.training_done' AND d.via = 'pod'
UNION ALL
-- A launcher names the first process to end, and that one chose its own code: the others missed it.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'guess' AS edge, 'claim' AS role
FROM links
WHERE signal IN ('launcher.worker_exited', 'mpi.aborted') AND via = 'pod' AND mode = 'exited' AND lag_s BETWEEN -5 AND 60
UNION ALL
-- The status of a job whose pods go on quotes the last words of its program.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'fault' AS role
FROM links
WHERE signal = 'k8s.workload.failed.exception' AND via = 'workload' AND state = 'failed' AND lag_s BETWEEN -60 AND 60
UNION ALL
-- A rank that failed, and after which no step was made: whoever ended what was left of the program, minutes later, did not
-- end it.
SELECT t.death, t.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'fault' AS role
FROM links t
JOIN links r ON r.death = t.death AND r.record = t.record AND r.signal = 'log.traceback.of_rank'
LEFT JOIN peers p ON p.death = t.death AND p.record = t.record
WHERE t.signal = 'log.traceback' AND t.via = 'pod' AND t.mode IN ('killed', 'lost') AND t.steps_after IS FALSE AND t.lag_s BETWEEN 120 AND 7200
  AND p.death IS NULL AND t.detail <> ''
  AND t.detail NOT LIKE '%DistBackendError' AND t.detail NOT LIKE '%ChildFailedError'
  AND t.detail NOT LIKE '%SignalException' AND t.detail NOT LIKE '%KeyboardInterrupt'
UNION ALL
-- What a kernel on a GPU did wrong may be told by a thread that watches it, which aborts the process, and by no exception of Python's.
SELECT e.death, MIN(e.fact) AS cause, CAST(NULL AS BIGINT) AS effect, 'guess' AS edge, 'fault' AS role
FROM links e
LEFT JOIN (SELECT DISTINCT death FROM links WHERE via = 'pod' AND signal IN ('log.traceback', 'log.exception.stack')
             AND NOT regexp_like(COALESCE(detail, ''), '(DistBackendError|ChildFailedError)$')) w ON w.death = e.death
WHERE e.signal IN ('log.cuda_error.address', 'log.cuda_error.program') AND e.via = 'pod' AND e.same_container AND e.mode = 'exited'
  AND COALESCE(e.exit_code, 1) NOT IN (0, 130, 137, 143) AND e.lag_s BETWEEN -5 AND 60 AND e.steps_after IS NOT TRUE AND w.death IS NULL
GROUP BY e.death
UNION ALL
-- A launcher that starts the same failure anew hides its end.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'fault' AS role
FROM links
WHERE signal = 'log.traceback' AND via = 'pod' AND state = 'failing'
  AND COALESCE(detail, '') NOT LIKE '%DistBackendError' AND COALESCE(detail, '') NOT LIKE '%ChildFailedError'
UNION ALL
-- A rank whose exception did not end its process (threads of its own, a library's clean-up that waits) lets the others
-- wait until their time is up: the one that gave up on nothing had raised it long before.
SELECT t.death, t.fact AS cause, CAST(NULL AS BIGINT) AS effect,
  CASE WHEN p.death IS NOT NULL THEN 'guess' ELSE 'inferred' END AS edge, 'fault' AS role
FROM links t
JOIN links g ON g.death = t.death AND g.via = 'gang' AND g.signal = 'nccl.timeout'
  AND g.time - t.time BETWEEN 60000000000 AND 7200000000000
LEFT JOIN (SELECT DISTINCT death FROM links WHERE via = 'pod' AND signal = 'nccl.timeout') own ON own.death = t.death
LEFT JOIN peers p ON p.death = t.death AND p.record = t.record
WHERE t.signal IN ('log.traceback', 'log.exception.stack') AND t.via = 'pod'
  AND (t.state = 'lingering' OR t.mode = 'exited' AND t.same_container AND COALESCE(t.exit_code, 1) NOT IN (0, 130, 134, 137, 143)
       AND own.death IS NULL)
  AND t.lag_s BETWEEN 60 AND 7200
  AND COALESCE(t.detail, '') NOT LIKE '%DistBackendError' AND COALESCE(t.detail, '') NOT LIKE '%ChildFailedError'
  AND COALESCE(t.detail, '') NOT LIKE '%SignalException' AND COALESCE(t.detail, '') NOT LIKE '%KeyboardInterrupt'
UNION ALL
-- Its process had written why it fails, and took its time to end (uploads, dumps, a clean-up that waits): the others lost touch with it at
-- once. Where nobody was there to do so, it may have gone on for all that is known.
SELECT t.death, t.fact AS cause, CAST(NULL AS BIGINT) AS effect, CASE WHEN c.death IS NULL THEN 'guess' ELSE 'inferred' END AS edge, 'fault' AS role
FROM links t
LEFT JOIN cut_off c ON c.death = t.death AND c.time - t.time BETWEEN -5000000000 AND 60000000000
LEFT JOIN peers p ON p.death = t.death AND p.record = t.record
WHERE t.signal = 'log.traceback' AND t.via = 'pod' AND t.same_container AND t.state = 'died' AND t.mode = 'exited' AND t.exit_code BETWEEN 1 AND 125
  AND t.lag_s BETWEEN 60 AND 900 AND t.steps_after IS FALSE AND p.death IS NULL AND t.detail <> ''
  AND t.record NOT IN (SELECT record FROM missed_peer)
  AND NOT regexp_like(t.detail, '(DistBackendError|ChildFailedError|SignalException|SIGTERMException|KeyboardInterrupt)$')
UNION ALL
-- Of several ranks that write one log, one ended in an exception, and the others waited for it.
SELECT t.death, t.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'fault' AS role
FROM links t
JOIN links r ON r.death = t.death AND r.record = t.record AND r.signal = 'log.traceback.of_rank'
JOIN links g ON g.death = t.death AND g.via = 'pod' AND g.signal = 'nccl.timeout'
  AND g.time - t.time BETWEEN 60000000000 AND 7200000000000
LEFT JOIN peers p ON p.death = t.death AND p.record = t.record
WHERE t.signal = 'log.traceback' AND t.via = 'pod' AND t.mode = 'exited' AND t.lag_s BETWEEN 60 AND 7200
  AND COALESCE(t.exit_code, 1) NOT IN (0, 130, 137, 143) AND p.death IS NULL
  AND NOT regexp_like(COALESCE(t.detail, ''), '(DistBackendError|ChildFailedError|SignalException|KeyboardInterrupt)$')
UNION ALL
-- What is started again after it failed may only find what the first try left behind: where the later ones say nothing of their
-- own, what ended the first is why, as far as anybody can tell.
SELECT f.death, f.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'guess' AS edge, 'fault' AS role
FROM (
  SELECT death, fact, record, ROW_NUMBER() OVER (PARTITION BY death ORDER BY time, fact) AS place FROM links
  WHERE signal IN ('log.traceback', 'log.exception.stack') AND via = 'pod' AND same_container
    AND state IN ('crash_loop', 'restarted') AND mode = 'exited' AND exit_code BETWEEN 1 AND 125
    AND lag_s BETWEEN 60 AND 7200 AND steps_after IS NOT TRUE
    AND COALESCE(detail, '') <> ''
    AND NOT regexp_like(detail, '(DistBackendError|ChildFailedError|SignalException|SIGTERMException|KeyboardInterrupt)$')
    AND record NOT IN (SELECT record FROM missed_peer)
) f
WHERE f.place = 1 AND f.death NOT IN (SELECT death FROM told)
UNION ALL
-- What was changed shortly before the pod was made may be why its program fails; it is part of the story.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'context' AS edge, 'act' AS role
FROM links
WHERE signal = 'k8s.workload.updated_by_user' AND via = 'workload' AND mode = 'exited' AND exit_code BETWEEN 1 AND 125
  AND created - time BETWEEN -1000000000 AND 300000000000
UNION ALL
-- Who was waited for may be a member that was never made: whose program gave up without a word may have waited.
SELECT death, MIN(fact) AS cause, CAST(NULL AS BIGINT) AS effect, 'context' AS edge, 'state' AS role
FROM links
WHERE signal IN ('k8s.quota.exceeded', 'k8s.workload.create_failed', 'k8s.workload.create_failed.config', 'k8s.workload.create_failed.denied',
                 'k8s.workload.create_failed.limit_range', 'k8s.workload.create_failed.invalid', 'k8s.workload.create_failed.control_plane')
  AND via = 'workload'
  AND mode = 'exited' AND exit_code BETWEEN 1 AND 125 AND desired > 1
  AND lag_s BETWEEN 0 AND 900 AND time <= created + 5000000000
GROUP BY death
UNION ALL
-- The exception in which PyTorch says so itself.
SELECT m.death, m.fact AS cause, t.fact AS effect, 'inferred' AS edge, 'fault' AS role
FROM links m
JOIN links t ON t.death = m.death AND t.record = m.record AND t.via = 'pod' AND (t.signal = 'log.traceback' OR t.signal LIKE 'log.exception.%')
WHERE m.signal = 'nccl.mismatch' AND m.via = 'pod'
