-- cause: code.data_loader
-- title: The data loader failed
-- rank: 15
-- level: supported
-- needs: log.data_loader_failed, log.data_loader_late, log.shm_exhausted
-- title_of: log.data_loader_late: The data loader was too slow
-- summary_of: log.data_loader_late: The data loader of {pod} delivered nothing for as long as the program waits: {message}
-- advice_of: log.data_loader_late: Look at what the loader's processes do and wait for: slow storage, a transform that takes long, a lock; raise the timeout of the DataLoader only if a batch may take as long.
-- summary: A data loader process of {pod} died, or shared memory was too small: {message}
-- advice: Increase the size of /dev/shm (an emptyDir of medium Memory), or use fewer loader processes; check what the loader process itself logged.
--
-- A loader that was killed for memory ran out of that (code.host_oom); one that raised an exception shows its own
-- (code.exception). A bus error alone may as well be a file that was cut off under the program (code.segfault).
WITH killed AS (SELECT DISTINCT death FROM links WHERE via = 'pod' AND signal IN ('log.host_oom', 'k8s.container.oom_killed')),
-- Somebody sent a signal to processes of the machine just then: a loader ends with its program, and may be heard of first.
signalled AS (SELECT DISTINCT death FROM links WHERE via = 'node' AND signal = 'node.kill_requested' AND lag_s BETWEEN -1 AND 10),
raised AS (SELECT DISTINCT death, time FROM links WHERE via = 'pod' AND signal = 'log.traceback' AND COALESCE(detail, '') NOT LIKE '%RuntimeError')
SELECT l.death, COALESCE(late.fact, l.fact) AS cause, CAST(NULL AS BIGINT) AS effect,
  CASE WHEN r.death IS NULL AND k.death IS NULL AND s.death IS NULL AND g.death IS NULL THEN 'inferred' ELSE 'guess' END AS edge, 'fault' AS role
FROM links l
LEFT JOIN killed k ON k.death = l.death
LEFT JOIN signalled g ON g.death = l.death
-- Who asked it to stop is another matter.
LEFT JOIN links s ON s.death = l.death AND s.record = l.record AND s.signal = 'log.sigterm'
LEFT JOIN raised r ON r.death = l.death AND r.time = l.time
LEFT JOIN (SELECT DISTINCT death, record, fact FROM links WHERE via = 'pod' AND signal = 'log.data_loader_late') late
  ON late.death = l.death AND late.record = l.record
WHERE l.signal = 'log.data_loader_failed' AND l.via = 'pod' AND l.same_container AND l.mode = 'exited'
  AND COALESCE(l.exit_code, 1) NOT IN (0, 137, 143) AND l.lag_s BETWEEN -5 AND 120
  -- One that was caught in a loader is the program's own, and its traceback tells of it.
  AND NOT EXISTS (SELECT 1 FROM links c WHERE c.death = l.death AND c.record = l.record AND c.signal = 'log.data_loader_raised')
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'fault' AS role
FROM links
WHERE signal = 'log.shm_exhausted' AND via = 'pod' AND same_container AND mode = 'exited'
  AND COALESCE(exit_code, 1) NOT IN (0, 137, 143) AND lag_s BETWEEN -5 AND 120
