-- cause: code.segfault
-- title: The process crashed
-- rank: 9
-- level: supported
-- needs: k8s.container.segfault, k8s.container.crashed, k8s.container.bus_error, k8s.container.aborted, log.segfault, log.aborted
-- needs: log.cuda_error.address.aborted
-- needs: log.heap_corrupted, log.bus_error, slurm.crashed, launcher.worker_crashed, unit.crashed, kernel.segfault
-- summary_of: launcher.worker_crashed: A process of {pod} crashed: {message}
-- summary: {pod} crashed: {message}
-- summary_of: unit.crashed: The program of {pod} crashed ({detail}).
-- summary_of: kernel.segfault: A process of {pod} crashed, as the kernel of {node} logged: {message}
-- summary_of: slurm.crashed: {pod} ended on a signal that indicates a crash.
-- advice: Look for a core dump and read the last log lines of the process; native extensions and shared memory (/dev/shm) are the usual suspects.
-- A bare bus error is no bad address: a page of a file, of shared memory or of the machine's memory could not be had.
-- A bare code may be passed on, as launchers do, and a fault of the machine ends a process in the same way.
-- What a program does that was asked to stop is the way in which it stops.
WITH stopping AS (
  SELECT DISTINCT death, time FROM links
  WHERE signal IN ('unit.stopping', 'unit.stop_requested', 'node.rebooting', 'node.powering_off', 'node.reboot_requested', 'node.poweroff_requested')
)
SELECT c.death, c.fact AS cause, CAST(NULL AS BIGINT) AS effect,
  CASE WHEN c.signal = 'k8s.container.bus_error' OR l.death IS NULL THEN 'guess' ELSE 'inferred' END AS edge, 'claim' AS role
FROM links c
LEFT JOIN (SELECT DISTINCT death FROM links
           WHERE signal IN ('kernel.segfault', 'log.segfault', 'log.heap_corrupted') AND via IN ('pod', 'node') AND lag_s BETWEEN -5 AND 60) l
  ON l.death = c.death
WHERE c.signal IN ('k8s.container.segfault', 'k8s.container.crashed', 'k8s.container.bus_error')
  AND c.via = 'pod' AND c.same_container AND c.mode = 'exited' AND c.lag_s BETWEEN -1 AND 1
UNION ALL
-- Slurm reports what its first process ended on; the launcher may have passed on what a rank did.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'claim' AS role
FROM links
WHERE signal = 'slurm.crashed' AND via = 'pod' AND mode = 'exited' AND lag_s BETWEEN -60 AND 60
UNION ALL
-- systemd reports the signal on which the main process of the service ended. Of a bare bus error nobody knows what could not be had.
SELECT c.death, c.fact AS cause, CAST(NULL AS BIGINT) AS effect, CASE WHEN c.detail = 'BUS' THEN 'guess' ELSE 'inferred' END AS edge, 'claim' AS role
FROM links c
WHERE c.signal = 'unit.crashed' AND c.via = 'pod' AND c.mode = 'exited' AND c.lag_s BETWEEN -1 AND 1
  AND NOT EXISTS (SELECT 1 FROM stopping s WHERE s.death = c.death AND c.time - s.time BETWEEN 0 AND 120000000000)
UNION ALL
-- The kernel saw a process crash just before the one that started it passed its code on; which process of the machine it
-- was, the line does not say.
SELECT k.death, k.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'fault' AS role
FROM links k
JOIN links e ON e.death = k.death AND e.via = 'pod' AND e.signal = 'unit.main_exited' AND e.time - k.time BETWEEN -1000000000 AND 5000000000
WHERE k.signal = 'kernel.segfault' AND k.via = 'node' AND k.mode = 'exited' AND k.exit_code IN (132, 136, 139)
  AND NOT EXISTS (SELECT 1 FROM stopping s WHERE s.death = k.death AND k.time - s.time BETWEEN 0 AND 120000000000)
UNION ALL
-- The launcher lived on and ended with a code of its own: a process of it crashed. The same
-- holds for its bus error.
SELECT l.death, l.fact AS cause, CAST(NULL AS BIGINT) AS effect,
  CASE WHEN l.signal = 'log.bus_error' THEN 'guess' ELSE 'inferred' END AS edge, 'fault' AS role
FROM links l
LEFT JOIN (SELECT DISTINCT death FROM links WHERE via = 'pod' AND signal = 'nccl.timeout') w ON w.death = l.death
WHERE l.signal IN ('log.segfault', 'log.heap_corrupted', 'log.bus_error') AND l.via = 'pod' AND l.same_container AND l.mode = 'exited'
  AND COALESCE(l.exit_code, 1) NOT IN (0, 137, 143) AND l.lag_s BETWEEN -5 AND 60 AND w.death IS NULL
UNION ALL
-- A kernel on a GPU used an address that is not there, and the GPU's runtime aborted: the program's mistake as a rule, a faulty GPU's
-- at times.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'guess' AS edge, 'fault' AS role
FROM links
WHERE signal = 'log.cuda_error.address.aborted' AND via = 'pod' AND same_container AND mode = 'exited'
  AND COALESCE(exit_code, 1) NOT IN (0, 137, 143) AND lag_s BETWEEN -5 AND 60
UNION ALL
-- A launcher's word for the end of one process, of which nothing else is known: what it did last may be to clean up after
-- another's end.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'guess' AS edge, 'claim' AS role
FROM links
WHERE signal = 'launcher.worker_crashed' AND via = 'pod' AND same_container AND mode = 'exited'
  AND COALESCE(exit_code, 1) NOT IN (0, 137, 143) AND lag_s BETWEEN -5 AND 60
UNION ALL
-- The watchdog of a collective aborts its process too, and so does one that ran out of memory: neither is a crash. An
-- abort of which the log says nothing is nothing more than that.
SELECT a.death, a.fact AS cause, CAST(NULL AS BIGINT) AS effect,
  CASE WHEN l.death IS NULL THEN 'context' ELSE 'inferred' END AS edge, 'claim' AS role
FROM links a
LEFT JOIN (SELECT DISTINCT death FROM links WHERE via = 'pod' AND signal IN ('nccl.timeout', 'nccl.aborted', 'nccl.heartbeat_lost', 'nccl.mismatch')) w
  ON w.death = a.death
LEFT JOIN (SELECT DISTINCT death FROM links WHERE via = 'pod' AND signal = 'log.aborted' AND lag_s BETWEEN -5 AND 30
             AND COALESCE(detail, '') NOT LIKE '%bad_alloc' AND COALESCE(detail, '') NOT LIKE '%DistBackendError') l
  ON l.death = a.death
WHERE a.signal = 'k8s.container.aborted' AND a.via = 'pod' AND a.same_container AND a.mode = 'exited'
  AND a.lag_s BETWEEN -1 AND 1 AND w.death IS NULL
