-- cause: code.host_oom
-- title: Out of host memory
-- rank: 18
-- level: established
-- needs: k8s.container.oom_killed, k8s.pod.sandbox_failed.init_oom, slurm.oom, memory.near_limit, memory.oom_event
-- needs: k8s.node.oom_kill, k8s.workload.failed.oom, ray.pod_oom_killed, log.host_oom, kernel.oom_kill.limit, kernel.oom_kill.outside, kernel.oom_kill.limit.process, unit.oom_killed, slurm.over_memory_limit
-- alone: kernel.oom_kill.outside
-- title_of: k8s.container.oom_killed, ray.pod_oom_killed, kernel.oom_kill.limit, kernel.oom_kill.limit.process, memory.near_limit, memory.oom_event: Exceeded its memory limit
-- title_of: k8s.pod.sandbox_failed.init_oom: The memory limit is too low to start
-- overturned_by: metrics: memory near the limit
-- overturned_by: kernel: which process the kernel killed
-- summary: {pod} {was} killed for using more memory than its limit.
-- summary_of: k8s.workload.failed.oom: {workload} ran out of host memory: {message}
-- summary_of: k8s.node.oom_kill: The kernel of {node} killed {detail} for its memory, just before {pod}, which {was} there, failed.
-- summary_of: ray.pod_oom_killed: {detail} of {workload} was killed for using more memory than its limit; KubeRay then removed it.
-- summary_of: log.host_oom: {pod} ran out of host memory: {message}
-- summary_of: k8s.pod.sandbox_failed.init_oom: {pod} could not start, because its memory limit is too low even to start a container: {message}
-- advice: Raise the memory limit or use less host memory (data loader workers, pinned buffers, checkpoint staging).
-- advice_of: k8s.pod.sandbox_failed.init_oom: Check the unit of the memory limit (400m is 0.4 bytes; 400Mi is 400 MiB), and raise the limit.
--
-- OOMKilled is the claim of one component, so it is supported at most, unless the memory was measured near
-- its limit. Where it was measured far below, that speaks against it.
WITH seen AS (
  SELECT death, signal, fact, exit_code, mode FROM links
  WHERE signal IN ('memory.near_limit', 'memory.far_below_limit', 'memory.oom_event') AND via = 'pod' AND same_container
    AND state IN ('died', 'restarted', 'crash_loop') AND lag_s BETWEEN -60 AND 120
),
-- Where the kernel killed within the pod once, and the kubelet saw one end of that kind, it is that one, whatever the
-- clock of the machine says.
once AS (
  SELECT death FROM links
  WHERE signal IN ('kernel.oom_kill.limit', 'k8s.container.oom_killed') AND via = 'pod' AND state = 'died'
  GROUP BY death
  HAVING COUNT(DISTINCT CASE WHEN signal = 'k8s.container.oom_killed' THEN time END) = 1
     AND MAX(CASE WHEN signal = 'kernel.oom_kill.limit' THEN time END)
       - MIN(CASE WHEN signal = 'kernel.oom_kill.limit' THEN time END) < 5000000000
),
-- The kernel's own line, of the pod's cgroup, is a second witness of what the kubelet claims.
kernel AS (
  SELECT death, fact FROM links
  WHERE signal = 'kernel.oom_kill.limit' AND via = 'pod' AND state IN ('died', 'restarted', 'crash_loop')
    AND (lag_s BETWEEN -5 AND 60
      OR COALESCE(exit_code, 137) = 137 AND lag_s BETWEEN -86400 AND 86400 AND death IN (SELECT death FROM once))
),
witnessed AS (
  SELECT death FROM seen WHERE signal IN ('memory.near_limit', 'memory.oom_event')
  UNION
  SELECT death FROM kernel
)
-- Who had waited in vain for another rank until its time was up was stopped by that; what it wrote out then takes memory.
-- containerd keeps the word for as long as the container lives once any process of it was killed so: beside another code than
-- that of SIGKILL it claims nothing of the end; and whoever asked for the end before the container's ended it, whatever it claims.
SELECT t.death, t.fact AS cause, CAST(NULL AS BIGINT) AS effect,
  CASE WHEN n.death IS NOT NULL OR w.death IS NULL AND (COALESCE(t.exit_code, 137) <> 137 OR t.mode = 'killed') THEN 'guess' WHEN w.death IS NULL THEN 'inferred' ELSE 'asserted' END AS edge, 'claim' AS role
FROM links t
LEFT JOIN witnessed w ON w.death = t.death
LEFT JOIN (SELECT DISTINCT death FROM links
           WHERE via = 'pod' AND (signal = 'nccl.timeout' AND lag_s BETWEEN 0 AND 300
             -- Its kubelet killed it, and says so.
             OR signal = 'k8s.container.liveness_killed' AND same_container AND lag_s BETWEEN -5 AND 60)) n ON n.death = t.death
WHERE t.signal = 'k8s.container.oom_killed' AND t.via = 'pod' AND t.same_container
  AND t.state IN ('died', 'restarted', 'crash_loop') AND t.lag_s BETWEEN -60 AND 60
UNION ALL
-- The very process of which a launcher on that machine tells that it was killed.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'fault' AS role
FROM links
WHERE signal = 'kernel.oom_kill.limit.process' AND via = 'pod' AND mode IN ('exited', 'killed') AND lag_s BETWEEN -5 AND 120
UNION ALL
-- The service that the program runs as was over its limit, as systemd says of it; not where the whole machine was by then.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'claim' AS role
FROM service_oom
WHERE NOT of_machine
UNION ALL
-- Of pods that are gone the controller's own word is left.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'claim' AS role
FROM links
WHERE signal = 'k8s.workload.failed.oom' AND via = 'workload' AND state = 'failed'
UNION ALL
-- The job ends minutes after its head, or a worker that it cannot do without, once its submitter has given up.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'claim' AS role
FROM links
WHERE signal = 'ray.pod_oom_killed' AND via = 'workload' AND state = 'failed' AND lag_s BETWEEN -5 AND 300
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'context' AS edge, 'claim' AS role
FROM links
WHERE signal = 'k8s.node.oom_kill' AND via = 'node' AND exit_code = 137 AND lag_s BETWEEN -60 AND 60
UNION ALL
-- What watches a node's kernel names the process that was killed, and no pod. A program of which a worker that loads data is
-- killed raises an exception, and ends with a code of its own; that one was, the program may say itself.
SELECT DISTINCT k.death, k.fact AS cause, CAST(NULL AS BIGINT) AS effect,
  CASE WHEN o.death IS NULL THEN 'guess' ELSE 'inferred' END AS edge, 'claim' AS role
FROM links k
LEFT JOIN (SELECT DISTINCT death, time FROM links
           WHERE via = 'pod' AND same_container AND signal IN ('log.host_oom', 'log.killed')) o
  ON o.death = k.death AND o.time - k.time BETWEEN -5000000000 AND 60000000000
WHERE k.signal = 'k8s.node.oom_kill' AND k.via = 'node' AND k.mode = 'exited' AND COALESCE(k.exit_code, 137) NOT IN (0, 137, 143)
  AND NOT COALESCE(k.steps_after, FALSE)
  AND (o.death IS NOT NULL AND regexp_like(k.detail, '^(pt_|python|ray)') AND k.lag_s BETWEEN -5 AND 120
    OR regexp_like(k.detail, '^pt_data') AND k.lag_s BETWEEN -1 AND 10)
UNION ALL
-- The kernel names the pod by its cgroup; how the container ended, nobody saw, and what came after may be
-- done to its leftover.
-- A container that its kubelet stops more than a minute later was there until then: a process of it was killed, and unless
-- the steps stopped with that one, nothing says that it did not work on.
SELECT k.death, k.fact AS cause, CAST(NULL AS BIGINT) AS effect,
  CASE WHEN alive.death IS NULL OR COALESCE(k.at_last_step, FALSE) THEN 'inferred' ELSE 'guess' END AS edge, 'fault' AS role
FROM links k
LEFT JOIN (SELECT death, MAX(time) AS time FROM links
           WHERE signal = 'k8s.container.killing' AND via = 'pod' AND same_container GROUP BY death) alive
  ON alive.death = k.death AND alive.time - k.time > 60000000000
WHERE k.signal = 'kernel.oom_kill.limit' AND k.via = 'pod' AND k.state IN ('died', 'crash_loop') AND k.mode IN ('killed', 'exited') AND k.exit_code IS NULL
  AND k.lag_s BETWEEN -5 AND 600
  -- A worker was killed, and the program worked on.
  AND NOT COALESCE(k.steps_after, FALSE)
UNION ALL
-- The kernel names the pod, and a moment later its main process ended on SIGKILL, whatever the runtime heard of it.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'fault' AS role
FROM links
WHERE signal = 'kernel.oom_kill.limit' AND via = 'pod' AND mode = 'exited'
  -- A launcher that returns -9 for its child ends with 247.
  AND exit_code IN (137, 247)
  AND state IN ('died', 'restarted', 'crash_loop') AND COALESCE(reason, '') <> 'OOMKilled' AND lag_s BETWEEN -5 AND 30
UNION ALL
-- The kernel killed in the pod, another rank lost touch with it just after, and it was taken away with what was left.
SELECT k.death, k.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'fault' AS role
FROM links k
JOIN cut_off c ON c.death = k.death AND c.time - k.time BETWEEN -5000000000 AND 60000000000
WHERE k.signal = 'kernel.oom_kill.limit' AND k.via = 'pod' AND k.mode = 'killed' AND k.exit_code IS NOT NULL
UNION ALL
-- The kernel killed a rank in a pod that goes on, as the launcher in another one noticed.
SELECT k.death, k.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'fault' AS role
FROM links k
JOIN links g ON g.death = k.death AND g.via = 'gang' AND g.signal = 'mpi.process_died'
  AND g.time - k.time BETWEEN -5000000000 AND 60000000000
WHERE k.signal = 'kernel.oom_kill.limit' AND k.via = 'pod' AND k.state = 'lingering' AND k.lag_s BETWEEN -5 AND 120
UNION ALL
-- A process of it that the kernel killed at its limit, where the program says that one was killed.
SELECT k.death, k.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'fault' AS role
FROM links k
JOIN links o ON o.death = k.death AND o.via = 'pod' AND o.same_container
  AND (o.signal IN ('log.host_oom', 'log.data_loader_failed') OR o.signal = 'log.killed' AND COALESCE(k.exit_code, 1) <> 137)
  AND o.time - k.time BETWEEN -5000000000 AND 60000000000
WHERE k.signal = 'kernel.oom_kill.limit' AND k.via = 'pod' AND k.mode = 'exited' AND COALESCE(k.exit_code, 1) NOT IN (0, 143)
  AND k.lag_s BETWEEN -5 AND 120
UNION ALL
-- A batch job over the memory that Slurm gave it; of a step's claim only where the job ended with it. Slurm counts kills of the
-- whole step once that is over: they may have been survived for hours, and no mistake of the program's comes of one.
SELECT o.death, o.fact AS cause, CAST(NULL AS BIGINT) AS effect,
  CASE WHEN mistake.death IS NULL AND survived.death IS NULL AND done.death IS NULL THEN 'inferred' ELSE 'guess' END AS edge, 'claim' AS role
FROM links o
-- Nor does who had said that all is done.
LEFT JOIN (SELECT DISTINCT death FROM links WHERE signal = 'log.training_done' AND via = 'pod' AND same_container AND lag_s BETWEEN -5 AND 600) done
  ON done.death = o.death
LEFT JOIN (SELECT DISTINCT death FROM links
           WHERE signal = 'log.traceback' AND via = 'pod' AND same_container AND lag_s BETWEEN -5 AND 60 AND steps_after IS NOT TRUE
             AND regexp_like(detail, '(^|\.)(Type|Value|Key|Attribute|Name|UnboundLocal|Index|Assertion|Import|ModuleNotFound|FileNotFound|ZeroDivision|Syntax|NotImplemented)Error$')) mistake
  ON mistake.death = o.death
LEFT JOIN (SELECT death FROM links
           WHERE signal = 'kernel.oom_kill.limit' AND via = 'pod'
           GROUP BY death HAVING bool_and(COALESCE(steps_after, FALSE))) survived
  ON survived.death = o.death
WHERE o.signal = 'slurm.oom' AND o.via = 'pod' AND o.mode = 'exited' AND o.lag_s BETWEEN -60 AND 60
UNION ALL
-- Older versions of srun call a task that ran out of memory "Killed", and cancel the rest of its step: of what was cancelled
-- is told, of the task is not. Somebody who cancels a step of which a mere child process was killed before leaves no such task.
SELECT o.death, o.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'claim' AS role
FROM links o
JOIN (SELECT DISTINCT death FROM links
      WHERE signal = 'launcher.task_killed' AND via = 'pod' AND detail = 'Killed' AND lag_s BETWEEN -60 AND 60) k
  ON k.death = o.death
WHERE o.signal = 'slurm.oom' AND o.via = 'pod' AND o.mode = 'killed' AND o.reason = 'STEP_CANCELLED' AND o.lag_s BETWEEN -60 AND 60
UNION ALL
-- Of a job that accounting calls cancelled it may say as well that a step of it ran out of memory: which was first, no record
-- tells, nor whether the one brought about the other.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'guess' AS edge, 'claim' AS role
FROM links
WHERE signal = 'slurm.oom' AND via = 'pod' AND mode = 'killed' AND reason = 'CANCELLED' AND lag_s BETWEEN -60 AND 60
UNION ALL
-- Older ones cancel a job that its own daemon found over its limit.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'claim' AS role
FROM links
WHERE signal = 'slurm.over_memory_limit' AND via = 'pod' AND mode = 'killed' AND reason = 'CANCELLED' AND lag_s BETWEEN -60 AND 60
UNION ALL
-- The kernel says that the machine's memory was full, not the container's: the runtime's word does not tell them apart.
SELECT n.death, n.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'against' AS edge, 'fault' AS role
FROM links n
JOIN links t ON t.death = n.death AND t.signal = 'k8s.container.oom_killed' AND t.via = 'pod'
WHERE n.signal = 'kernel.oom_kill.node' AND n.via = 'pod' AND n.lag_s BETWEEN -5 AND 60
UNION ALL
SELECT k.death, k.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'context' AS edge, 'fault' AS role
FROM kernel k
JOIN links t ON t.death = k.death AND t.signal = 'k8s.container.oom_killed' AND t.via = 'pod'
UNION ALL
-- What was measured belongs to the claim that it bears out.
SELECT s.death, s.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'context' AS edge, 'state' AS role
FROM seen s
JOIN links t ON t.death = s.death AND t.signal = 'k8s.container.oom_killed' AND t.via = 'pod'
WHERE s.signal IN ('memory.near_limit', 'memory.oom_event')
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'against' AS edge, 'state' AS role
FROM seen
WHERE signal = 'memory.far_below_limit' AND death NOT IN (SELECT death FROM seen WHERE signal = 'memory.oom_event')
UNION ALL
-- Killed, by whom nobody says: its cgroup counted an out-of-memory kill, or its memory was at the limit.
SELECT s.death, s.fact AS cause, CAST(NULL AS BIGINT) AS effect,
  CASE WHEN s.signal = 'memory.oom_event' THEN 'inferred' ELSE 'guess' END AS edge, 'state' AS role
FROM seen s
LEFT JOIN links t ON t.death = s.death AND t.signal = 'k8s.container.oom_killed' AND t.via = 'pod'
WHERE s.signal IN ('memory.near_limit', 'memory.oom_event') AND s.mode = 'exited' AND s.exit_code = 137 AND t.fact IS NULL
UNION ALL
-- The program says itself that it got no more memory. A loader that was killed, nobody says by whom, is
-- most often the kernel's choice; that the kernel killed a process of the container so, its kubelet may have seen.
SELECT o.death, o.fact AS cause, CAST(NULL AS BIGINT) AS effect,
  CASE WHEN l.death IS NULL OR k.death IS NOT NULL THEN 'inferred' ELSE 'guess' END AS edge, 'fault' AS role
FROM links o
LEFT JOIN (SELECT DISTINCT death FROM links
           WHERE signal = 'k8s.container.oom_killed' AND via = 'pod' AND same_container AND lag_s BETWEEN -60 AND 60) k
  ON k.death = o.death
LEFT JOIN (SELECT DISTINCT death, time FROM links WHERE via = 'pod' AND signal = 'log.data_loader_failed') l
  ON l.death = o.death AND l.time = o.time
WHERE o.signal = 'log.host_oom' AND o.via = 'pod' AND o.same_container AND o.mode = 'exited'
  AND COALESCE(o.exit_code, 1) NOT IN (0, 143) AND o.lag_s BETWEEN -5 AND 120
  -- What Slurm writes into a job's output is no word of the program's.
  AND o.record NOT IN (SELECT record FROM links WHERE signal = 'slurm.oom')
UNION ALL
-- Killed before its own program ran: the limit is too low for the container itself.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'claim' AS role
FROM links
WHERE signal = 'k8s.pod.sandbox_failed.init_oom' AND via = 'pod'
  AND state IN ('stuck_starting', 'crash_loop', 'died', 'restarted')
