-- cause: code.config_or_input
-- title: Invalid command or configuration
-- title_of: k8s.workload.create_failed*: The pods could not be created
-- title_of: log.address_in_use: The port is already in use
-- title_of: log.no_gpu: No GPU is visible
-- title_of: kernel.fork_rejected: The limit on processes was reached
-- title_of: log.limits: A limit of the system was reached
-- title_of: kernel.files_exhausted: The node ran out of open files
-- rank: 14
-- level: established
-- needs: k8s.container.cannot_run*, k8s.container.hook_failed.post_start, k8s.workload.invalid, k8s.workload.create_failed*
-- needs: log.exception.config, log.command, slurm.exec_failed, slurm.request_refused, slurm.output_failed, log.usage, log.limits, log.address_in_use, log.permission.file
-- needs: log.no_gpu, nccl.no_interface, nccl.duplicate_gpu
-- needs: kueue.no_queue, log.device_ordinal, log.storage_missing, log.checkpoint_load_failed, kernel.fork_rejected, kernel.files_exhausted
-- summary: {pod} could not run as configured: {message}
-- summary_of: k8s.workload.create_failed: The pods of {workload} could not be created: {message}
-- advice_of: k8s.workload.create_failed: Correct what the message names, in the pod template or in the namespace.
-- summary_of: k8s.workload.create_failed.*: The API server rejected the pods of {workload}: {message}
-- advice_of: k8s.workload.create_failed.denied: Change what the policy or webhook objects to in the pod template, or ask the owner of the policy.
-- advice_of: k8s.workload.create_failed.limit_range: Set the requests and limits of the pod template within the limits of the namespace (kubectl describe limitrange).
-- advice_of: k8s.workload.create_failed.invalid, k8s.workload.invalid: Correct what the message names in the spec.
-- summary_of: log.address_in_use: {pod} could not use its port, which was already in use: {message}
-- advice_of: log.address_in_use: Find the process that holds the port (in the same pod, or on {node} if the pod uses hostNetwork), or choose another port (MASTER_PORT).
-- summary_of: kueue.no_queue: {workload} cannot be admitted: {message}
-- advice_of: kueue.no_queue: Compare the queue that the workload names (label kueue.x-k8s.io/queue-name) with kubectl get localqueues,clusterqueues.
-- summary_of: slurm.request_refused: Slurm refused what {pod} asked for: {message}
-- advice_of: slurm.request_refused: Compare what the script and its srun lines request (GPUs, tasks, CPUs, memory) with what the job was given (scontrol show job).
-- advice_of: slurm.output_failed: Check the paths of --output, --error and --input: their folders must exist and be writable on the nodes of the job.
-- advice_of: slurm.exec_failed: Check that the program exists and is executable on every node of the job, and that its file system is mounted there.
-- summary_of: log.no_gpu: {pod} saw no GPU: {message}
-- advice_of: log.no_gpu: Check that the container requests GPUs, what CUDA_VISIBLE_DEVICES is set to in it, and whether nvidia-smi shows the GPUs on {node}.
-- advice_of: log.device_ordinal: Compare the number of processes that the program starts with the GPUs that its container requests, CUDA_VISIBLE_DEVICES in it, and what nvidia-smi shows on {node}.
-- summary_of: nccl.duplicate_gpu: NCCL refused to start in {pod}: {detail}
-- advice_of: nccl.duplicate_gpu: Give each rank a GPU of its own: compare the number of processes that are started on {node} with the GPUs that they see (CUDA_VISIBLE_DEVICES, local rank).
-- summary_of: nccl.no_interface: NCCL found no network interface in {pod}: {message}
-- advice_of: nccl.no_interface: Compare NCCL_SOCKET_IFNAME with the interfaces that the container has (ip address).
-- summary_of: log.limits: {pod} reached a limit on processes, threads, open files or locked memory: {message}
-- advice_of: log.limits: Find the limit that the message is about (ulimit -a in the container, and the limit on processes of its pod), and raise it or use less.
-- summary_of: kernel.files_exhausted: {node} had no open file left for {pod}: {message}
-- advice_of: kernel.files_exhausted: Find the process that holds most files on {node} (lsof), and raise fs.file-max.
-- summary_of: kernel.fork_rejected: The kernel refused {pod} another process, at the limit of its pod: {message}
-- advice_of: kernel.fork_rejected: Raise the limit on processes of a pod (podPidsLimit of the kubelet on {node}, or --pids-limit), or start fewer processes and threads: data loader workers, OMP_NUM_THREADS.
-- advice: Check the command, arguments, environment, limits and input paths of {pod}.
--
-- What the container runtime says of the command, the image's processor, its mounts, user and security profile.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'claim' AS role
FROM links
WHERE signal IN ('k8s.container.cannot_run.command', 'k8s.container.cannot_run.platform', 'k8s.container.cannot_run.mount',
                 'k8s.container.cannot_run.user', 'k8s.container.cannot_run.security_profile')
  AND via = 'pod' AND state IN ('died', 'restarted', 'crash_loop', 'stuck_starting')
UNION ALL
-- The code by which shells say so is passed on as well as any other; one that comes at once is their own.
SELECT c.death, c.fact AS cause, CAST(NULL AS BIGINT) AS effect,
  CASE WHEN c.time - c.created < 300000000000 THEN 'inferred' ELSE 'guess' END AS edge, 'claim' AS role
FROM links c
WHERE c.signal = 'k8s.container.cannot_run.code' AND c.via = 'pod' AND c.state IN ('died', 'restarted', 'crash_loop')
UNION ALL
-- That it could not be started says nothing of why.
SELECT o.death, o.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'guess' AS edge, 'claim' AS role
FROM links o
LEFT JOIN (SELECT DISTINCT death FROM links
           WHERE via = 'pod' AND (signal LIKE 'k8s.container.cannot_run.%' OR signal = 'k8s.pod.sandbox_failed.init_oom')) i
  ON i.death = o.death
WHERE o.signal = 'k8s.container.cannot_run' AND o.via = 'pod'
  AND o.state IN ('died', 'restarted', 'crash_loop', 'stuck_starting') AND i.death IS NULL
UNION ALL
-- The kubelet kills a container for its own hook.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'act' AS role
FROM links
WHERE signal = 'k8s.container.hook_failed.post_start' AND via = 'pod'
  AND state IN ('died', 'restarted', 'crash_loop', 'stuck_starting', 'not_ready')
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'fault' AS role
FROM links
WHERE signal IN ('log.exception.config', 'log.usage', 'log.address_in_use', 'log.permission.file',
                 'log.storage_missing', 'log.checkpoint_load_failed', 'log.limits')
  AND via = 'pod' AND same_container
  AND state IN ('died', 'restarted', 'crash_loop') AND mode = 'exited'
  AND COALESCE(exit_code, 1) NOT IN (137, 143) AND (COALESCE(exit_code, 1) <> 0 OR state = 'crash_loop')
  AND lag_s BETWEEN -5 AND 60
UNION ALL
-- A script goes on after a command that is not there, unless that was what it ends with.
SELECT c.death, c.fact AS cause, CAST(NULL AS BIGINT) AS effect,
  CASE WHEN c.exit_code IN (2, 126, 127) OR (t.death IS NULL AND c.lag_s <= 10) THEN 'inferred' ELSE 'guess' END AS edge,
  'fault' AS role
FROM links c
LEFT JOIN (SELECT DISTINCT death FROM links
           WHERE via = 'pod' AND signal IN ('log.traceback', 'log.exception.stack') AND lag_s BETWEEN -5 AND 60) t ON t.death = c.death
WHERE c.signal = 'log.command' AND c.via = 'pod' AND c.same_container
  AND c.state IN ('died', 'restarted', 'crash_loop') AND c.mode = 'exited'
  AND COALESCE(c.exit_code, 1) NOT IN (0, 137, 143) AND c.lag_s BETWEEN -5 AND 60
UNION ALL
-- The step daemon of one node could not execute the program. A task that is not the first one and fails alone so shows that it is
-- there on the node of the first: that node lacks it, not the job.
SELECT c.death, c.fact AS cause, CAST(NULL AS BIGINT) AS effect,
  CASE WHEN o.death IS NOT NULL AND f.death IS NULL THEN 'guess' ELSE 'inferred' END AS edge, 'fault' AS role
FROM links c
LEFT JOIN (SELECT DISTINCT death FROM links WHERE via = 'pod' AND signal = 'slurm.exec_failed.some_tasks') o ON o.death = c.death
LEFT JOIN (SELECT DISTINCT death FROM links WHERE via = 'pod' AND signal = 'slurm.exec_failed.first_task') f ON f.death = c.death
WHERE c.signal = 'slurm.exec_failed' AND c.via = 'pod'
  AND c.state IN ('died', 'restarted') AND c.mode IN ('exited', 'killed')
  AND COALESCE(c.exit_code, 1) NOT IN (0, 137, 143) AND c.lag_s BETWEEN -5 AND 60
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'claim' AS role
FROM links
WHERE signal = 'slurm.output_failed' AND via = 'pod' AND state = 'died' AND lag_s BETWEEN -60 AND 60
UNION ALL
-- Slurm's word on a step of the job, or on what the job submitted in turn.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'claim' AS role
FROM links
WHERE signal = 'slurm.request_refused' AND via = 'pod' AND state IN ('died', 'restarted') AND mode = 'exited'
  AND COALESCE(exit_code, 1) NOT IN (0, 137, 143) AND lag_s BETWEEN -5 AND 60
UNION ALL
-- Fewer GPUs than it counts on: wrongly asked for, or one of the machine's is gone (hw.gpu).
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'guess' AS edge, 'fault' AS role
FROM links
WHERE signal = 'log.device_ordinal' AND via = 'pod' AND same_container AND mode = 'exited'
  AND COALESCE(exit_code, 1) NOT IN (0, 137, 143) AND lag_s BETWEEN -5 AND 60
UNION ALL
-- None at all: not asked for, hidden from the container, or the machine's are gone (hw.gpu, node.driver).
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'guess' AS edge, 'fault' AS role
FROM links
WHERE signal = 'log.no_gpu' AND via = 'pod' AND same_container AND mode = 'exited'
  AND COALESCE(exit_code, 1) NOT IN (0, 137, 143) AND lag_s BETWEEN -5 AND 60
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'fault' AS role
FROM links
WHERE signal IN ('nccl.duplicate_gpu', 'nccl.no_interface') AND via = 'pod' AND same_container AND mode = 'exited'
  AND COALESCE(exit_code, 1) NOT IN (0, 137, 143) AND lag_s BETWEEN -5 AND 120
UNION ALL
-- The kernel names the pod that may have no more processes. It says so once for each group, maybe long before, so what the program
-- was refused later is of the same limit. Other calls fail in the same words (of sockets, of locks): those count only in the
-- same seconds. A fork that fails for want of memory fails with another word.
SELECT k.death, k.fact AS cause, r.effect,
  CASE WHEN r.any_time OR r.time - k.time BETWEEN -5000000000 AND 5000000000 THEN 'asserted' ELSE 'inferred' END AS edge, 'act' AS role
FROM links k
JOIN (
  -- The end itself, and each way in which the same record is read.
  SELECT l.death, e.fact AS effect, l.time, l.signal = 'log.limits.processes' AS any_time
  FROM links l
  JOIN (SELECT death, record, fact FROM links WHERE via = 'pod' AND (signal IN ('log.limits', 'log.traceback') OR signal LIKE 'log.exception.%')
        UNION
        SELECT death, record, CAST(NULL AS BIGINT) FROM links WHERE via = 'pod' AND signal IN ('log.limits.processes', 'log.would_block')) e
    ON e.death = l.death AND e.record = l.record
  WHERE l.signal IN ('log.limits.processes', 'log.would_block') AND l.via = 'pod' AND l.same_container AND l.mode = 'exited'
    AND COALESCE(l.exit_code, 1) NOT IN (0, 137, 143) AND l.steps_after IS NOT TRUE AND l.lag_s BETWEEN -5 AND 60
) r ON r.death = k.death AND r.time - k.time >= -15000000000 AND (r.any_time OR r.time - k.time <= 15000000000)
WHERE k.signal = 'kernel.fork_rejected' AND k.via IN ('pod', 'named')
UNION ALL
-- Without a word of the program's own, the refusal just before its end.
SELECT k.death, k.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'act' AS role
FROM links k
LEFT JOIN (SELECT DISTINCT death FROM links
           WHERE via = 'pod' AND lag_s BETWEEN -5 AND 60
             AND (signal IN ('log.host_oom', 'log.fatal', 'log.sigterm', 'log.segfault', 'nccl.timeout', 'nccl.peer_lost', 'gloo.error', 'rendezvous.error')
               OR signal LIKE 'log.storage_%' OR signal LIKE 'log.exception%' OR signal LIKE 'log.cuda_%')) own ON own.death = k.death
WHERE k.signal = 'kernel.fork_rejected' AND k.via IN ('pod', 'named') AND k.mode = 'exited'
  AND COALESCE(k.exit_code, 1) NOT IN (0, 137, 139, 143) AND k.state IN ('died', 'restarted', 'crash_loop')
  -- A group that is gone is refused nothing: of a pod that has ended a line that seems to come after it is by a clock that is ahead.
  AND k.steps_after IS NOT TRUE AND k.lag_s BETWEEN CASE WHEN k.state = 'died' THEN -15 ELSE -5 END AND 60 AND own.death IS NULL
  AND k.death NOT IN (SELECT death FROM own_reason)
UNION ALL
-- The machine's own limit: a container's is another error. The kernel does not repeat the line within some seconds.
SELECT DISTINCT k.death, k.fact AS cause, e.fact AS effect, 'inferred' AS edge, 'fault' AS role
FROM links k
JOIN links l ON l.death = k.death AND l.via = 'pod' AND l.signal = 'log.limits.system_files' AND l.time BETWEEN k.time - 5000000000 AND k.time + 300000000000
JOIN links e ON e.death = l.death AND e.record = l.record AND e.via = 'pod' AND (e.signal IN ('log.limits', 'log.traceback') OR e.signal LIKE 'log.exception.%')
WHERE k.signal = 'kernel.files_exhausted' AND k.via = 'node'
UNION ALL
-- What the API server or the workload's controller does not take.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'asserted' AS edge, 'claim' AS role
FROM links
WHERE signal IN ('k8s.workload.create_failed.denied', 'k8s.workload.create_failed.limit_range', 'k8s.workload.create_failed.invalid')
  AND via = 'workload' AND state = 'never_created'
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'claim' AS role
FROM links
WHERE signal = 'k8s.workload.invalid' AND via = 'workload' AND state = 'never_created'
UNION ALL
SELECT o.death, o.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'guess' AS edge, 'claim' AS role
FROM links o
LEFT JOIN (SELECT DISTINCT death FROM links
           WHERE via = 'workload' AND (signal LIKE 'k8s.workload.create_failed.%' OR signal = 'k8s.quota.exceeded')) i ON i.death = o.death
WHERE o.signal = 'k8s.workload.create_failed' AND o.via = 'workload' AND o.state = 'never_created' AND i.death IS NULL
UNION ALL
-- Kueue says so itself, of what waits for it.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'state' AS role
FROM links
WHERE signal = 'kueue.no_queue' AND via = 'workload' AND state IN ('never_created', 'never_scheduled')
