-- cause: dep.storage
-- title: Storage failed
-- title_of: kernel.nfs_not_responding, kernel.nfs_waiting: A file server did not respond
-- title_of: log.no_space, k8s.pod.volume_failed.no_space, k8s.container.image_pull_failed.no_space, k8s.container.cannot_run.no_space, k8s.pod.sandbox_failed.no_space: Storage is full
-- title_of: log.storage_throttled: The object store throttled requests
-- rank: 17
-- level: established
-- needs: log.no_space, log.storage_error, log.storage_throttled, log.io_error, kernel.nfs_not_responding, kernel.nfs_waiting, kernel.storage_evicted
-- needs: kernel.task_hung, k8s.node.task_hung
-- needs: k8s.pod.volume_failed.server, k8s.pod.volume_failed.no_space, k8s.container.image_pull_failed.no_space
-- needs: k8s.container.cannot_run.no_space, k8s.container.cannot_run.storage, k8s.pod.sandbox_failed.no_space
-- overturned_by: kernel: whether the file server responded to the machine
-- summary: Storage used by {pod} failed: {message}
-- summary_of: kernel.nfs_waiting: A process on {node} waited in the kernel for a file server while {workload} made no progress: {message}
-- summary_of: kernel.task_hung, k8s.node.task_hung: A process on {node} waited in the kernel for minutes while {pod} {was} on it, as it does most often for storage: {message}
-- summary_of: kernel.nfs_not_responding: A file server that {node} uses did not respond while {pod} {was} on it: {message}
-- summary_of: log.no_space: {pod} ran out of disk space or disk quota: {message}
-- summary_of: k8s.pod.volume_failed.no_space, k8s.container.image_pull_failed.no_space, k8s.container.cannot_run.no_space, k8s.pod.sandbox_failed.no_space: {pod} could not start because a disk is full: {message}
-- summary_of: log.storage_throttled: {pod} {was} throttled by its object store: {message}
-- advice: Check the storage named above: its server, its mount and its health.
-- advice_of: kernel.nfs_not_responding: Check the file server named above and the network between it and {node}.
-- advice_of: log.no_space: Delete old checkpoints and caches where the program writes, or raise its quota or the size of the disk.
-- advice_of: k8s.pod.volume_failed.no_space, k8s.container.image_pull_failed.no_space, k8s.container.cannot_run.no_space, k8s.pod.sandbox_failed.no_space: Free space on {node} (images, logs, emptyDir volumes) or on the volume named above.
-- advice_of: log.storage_throttled: Send fewer requests at once (fewer ranks that upload, larger parts, more key prefixes), and retry with backoff.
-- A full disk or a silent server is what the kubelet's message says within its outer reason.
SELECT s.death, s.fact AS cause, o.fact AS effect,
  CASE WHEN s.signal LIKE 'k8s.pod.volume_failed.%' THEN 'guess' ELSE 'asserted' END AS edge, 'fault' AS role
FROM links s
JOIN links o ON o.death = s.death AND o.via = 'pod' AND o.fact <> s.fact
  AND ((s.signal LIKE 'k8s.pod.volume_failed.%' AND o.signal = 'k8s.pod.volume_failed')
    OR (s.signal = 'k8s.container.image_pull_failed.no_space' AND o.signal = 'k8s.container.image_pull_failed')
    OR (s.signal LIKE 'k8s.container.cannot_run.%' AND o.signal = 'k8s.container.cannot_run')
    OR (s.signal = 'k8s.pod.sandbox_failed.no_space' AND o.signal = 'k8s.pod.sandbox_failed'))
WHERE s.signal IN ('k8s.pod.volume_failed.server', 'k8s.pod.volume_failed.no_space', 'k8s.container.image_pull_failed.no_space',
                   'k8s.container.cannot_run.no_space', 'k8s.container.cannot_run.storage', 'k8s.pod.sandbox_failed.no_space')
  AND s.via = 'pod' AND s.state IN ('stuck_starting', 'died', 'restarted', 'crash_loop')
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect,
  CASE WHEN signal LIKE 'k8s.pod.volume_failed.%' THEN 'inferred' ELSE 'asserted' END AS edge, 'fault' AS role
FROM links
WHERE signal IN ('k8s.pod.volume_failed.server', 'k8s.pod.volume_failed.no_space', 'k8s.container.image_pull_failed.no_space',
                 'k8s.container.cannot_run.no_space', 'k8s.container.cannot_run.storage', 'k8s.pod.sandbox_failed.no_space')
  AND via = 'pod' AND state IN ('stuck_starting', 'died', 'restarted', 'crash_loop')
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'fault' AS role
FROM links
WHERE signal = 'log.no_space' AND via = 'pod' AND same_container AND mode = 'exited'
  AND COALESCE(exit_code, 1) NOT IN (0, 137, 143) AND lag_s BETWEEN -5 AND 120
UNION ALL
-- What the program says of its storage is believed where others saw it, too: its machine's
-- kernel, or pods of other runs on other nodes.
SELECT e.death, e.fact AS cause, CAST(NULL AS BIGINT) AS effect,
  CASE WHEN e.shared AND t.death IS NULL THEN 'asserted' ELSE 'inferred' END AS edge, 'fault' AS role
FROM links e
LEFT JOIN (SELECT DISTINCT death FROM links
           WHERE via = 'node' AND signal IN ('kernel.nfs_not_responding', 'kernel.storage_evicted')
             AND lag_s BETWEEN -120 AND 3600) k ON k.death = e.death
LEFT JOIN troubled t ON t.death = e.death
WHERE e.signal = 'log.storage_error' AND e.via = 'pod' AND e.same_container AND (e.mode = 'exited' OR e.state = 'failing')
  AND COALESCE(e.exit_code, 1) NOT IN (0, 137, 143) AND e.lag_s BETWEEN -5 AND 120
  AND (k.death IS NOT NULL OR e.shared)
UNION ALL
SELECT k.death, k.fact AS cause, e.fact AS effect, 'inferred' AS edge, 'fault' AS role
FROM links k
JOIN links e ON e.death = k.death AND e.via = 'pod' AND e.signal = 'log.storage_error'
  AND e.same_container AND e.lag_s BETWEEN -5 AND 120 AND e.time >= k.time - 5000000000
WHERE k.signal IN ('kernel.nfs_not_responding', 'kernel.storage_evicted') AND k.via = 'node'
  AND k.mode = 'exited' AND k.lag_s BETWEEN -120 AND 3600
UNION ALL
-- Who waits for a file server makes others wait: the collective times out, unless the server
-- answered again long before. The kernel complains some minutes into the wait, the collective
-- only at the end of its timeout: what came shortly before that came too late.
SELECT k.death, k.fact AS cause, CAST(NULL AS BIGINT) AS effect,
  CASE WHEN k.shared AND t.death IS NULL THEN 'asserted' ELSE 'inferred' END AS edge, 'fault' AS role
FROM links k
JOIN (SELECT death, MIN(time) AS time FROM links
      WHERE via = 'pod' AND signal = 'nccl.timeout' AND lag_s BETWEEN -60 AND 900
      GROUP BY death) n ON n.death = k.death
LEFT JOIN links ok ON ok.death = k.death AND ok.via = 'node' AND ok.signal = 'kernel.nfs_ok'
  AND ok.time > k.time AND ok.time < n.time - 900000000000
LEFT JOIN troubled t ON t.death = k.death
WHERE k.signal = 'kernel.nfs_not_responding' AND k.via = 'node' AND k.time <= n.time - 300000000000
  AND k.state IN ('died', 'restarted', 'crash_loop') AND k.lag_s BETWEEN 0 AND 3600 AND ok.fact IS NULL
UNION ALL
-- Nor does a program that gives itself a time for its files: it ends in an exception of its own, that its time is up, and that record tells
-- of nothing else that it waited for. That a process hung in the kernel by then, or that the steps stopped as the server fell silent, says
-- that it was ours.
SELECT DISTINCT k.death, k.fact AS cause, CAST(NULL AS BIGINT) AS effect,
  CASE WHEN h.death IS NOT NULL OR COALESCE(k.at_last_step, FALSE) THEN 'inferred' ELSE 'guess' END AS edge, 'fault' AS role
FROM links k
JOIN links t ON t.death = k.death AND t.via = 'pod' AND t.same_container AND t.signal = 'log.traceback' AND t.lag_s BETWEEN -5 AND 60
  AND regexp_like(t.detail, '(^|\.)\w*Time(d)?[oO]ut\w*$') AND t.time - k.time BETWEEN 60000000000 AND 7200000000000
LEFT JOIN links x ON x.death = t.death AND x.record = t.record AND x.via = 'pod' AND x.signal NOT LIKE 'log.traceback%'
  AND x.signal NOT LIKE 'log.exception.%' AND x.signal NOT LIKE 'log.checkpoint_%' AND x.signal NOT LIKE 'log.storage_%'
LEFT JOIN (SELECT death, machine, time FROM links WHERE signal IN ('kernel.task_hung', 'k8s.node.task_hung') AND via = 'node') h
  ON h.death = k.death AND h.machine = k.machine AND h.time BETWEEN k.time AND t.time
LEFT JOIN links ok ON ok.death = k.death AND ok.via = 'node' AND ok.signal = 'kernel.nfs_ok'
  AND ok.time > k.time AND ok.time < t.time - 60000000000
WHERE k.signal IN ('kernel.nfs_not_responding', 'kernel.storage_evicted') AND k.via = 'node' AND k.mode = 'exited'
  AND COALESCE(k.exit_code, 1) NOT IN (0, 137, 143) AND k.steps_after IS FALSE AND x.fact IS NULL AND ok.fact IS NULL
UNION ALL
-- A file server that does not answer lets whoever reads a file that is mapped end on a bus error, and lets those who
-- load the data wait until the program gives up on them.
SELECT k.death, k.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'fault' AS role
FROM links k
JOIN links e ON e.death = k.death AND e.via = 'pod' AND e.same_container AND e.lag_s BETWEEN -5 AND 120
  AND e.signal IN ('k8s.container.bus_error', 'log.bus_error', 'log.data_loader_failed') AND e.time >= k.time
LEFT JOIN links ok ON ok.death = k.death AND ok.via = 'node' AND ok.signal = 'kernel.nfs_ok'
  AND ok.time > k.time AND ok.time < e.time - 60000000000
WHERE k.signal IN ('kernel.nfs_not_responding', 'kernel.storage_evicted') AND k.via = 'node' AND k.mode = 'exited'
  AND k.lag_s BETWEEN 0 AND 3600 AND ok.fact IS NULL
UNION ALL
-- Who waits for a file server in the kernel writes nothing, cannot be ended but by force, and is who the others wait for.
SELECT DISTINCT k.death, k.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'state' AS role
FROM links k
JOIN missed g ON g.death = k.death AND g.time - k.time BETWEEN 60000000000 AND 7200000000000
LEFT JOIN links ok ON ok.death = k.death AND ok.via = 'node' AND ok.signal = 'kernel.nfs_ok'
  AND ok.time > k.time AND ok.time < g.time - 60000000000
WHERE k.signal IN ('kernel.nfs_not_responding', 'kernel.storage_evicted') AND k.via = 'node'
  AND (k.state = 'lingering' OR k.mode IN ('exited', 'killed') AND COALESCE(k.exit_code, 137) IN (137, 143))
  AND ok.fact IS NULL
UNION ALL
-- A thread that writes a checkpoint ends on a full disk, its process does not: the others wait for it in vain.
SELECT DISTINCT t.death, t.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'fault' AS role
FROM links t
JOIN missed g ON g.death = t.death AND g.time - t.time BETWEEN 60000000000 AND 7200000000000
WHERE t.signal = 'log.no_space' AND t.via = 'pod' AND t.same_container AND t.lag_s BETWEEN 60 AND 7200
  AND (t.state = 'lingering' OR t.mode IN ('exited', 'killed') AND COALESCE(t.exit_code, 1) <> 0)
UNION ALL
-- What a store of objects refused for asking too often, and went on refusing until the program gave up.
-- A client warns of each refusal that it gets over; the last one ends the program, with no other exception.
SELECT e.death, e.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'claim' AS role
FROM links e
LEFT JOIN links w ON w.death = e.death AND w.via = 'pod' AND w.signal = 'log.traceback' AND w.lag_s BETWEEN -5 AND 120 AND w.record <> e.record
  -- Azure's clients write the store's code on a line of its own, below the exception's.
  AND NOT (w.detail LIKE 'azure.%' AND e.time - w.time BETWEEN 0 AND 1000000000)
WHERE e.signal = 'log.storage_throttled' AND e.via = 'pod' AND e.same_container AND (e.mode = 'exited' OR e.state = 'failing')
  AND COALESCE(e.exit_code, 1) NOT IN (0, 137, 143) AND e.lag_s BETWEEN -5 AND 120 AND w.fact IS NULL
UNION ALL
-- Nobody else saw it, but the kernel told the program so: whether the disk or a server failed is not known.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'guess' AS edge, 'claim' AS role
FROM links
WHERE signal IN ('log.io_error', 'log.storage_error') AND via = 'pod' AND same_container AND (mode = 'exited' OR state = 'failing')
  AND COALESCE(exit_code, 1) NOT IN (0, 137, 143) AND lag_s BETWEEN -5 AND 120
UNION ALL
-- Its process took its time to end after that: the others lost touch with it at once.
SELECT e.death, e.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'claim' AS role
FROM links e
JOIN cut_off c ON c.death = e.death AND c.time - e.time BETWEEN -5000000000 AND 60000000000
WHERE e.signal IN ('log.io_error', 'log.no_space', 'log.storage_error') AND e.via = 'pod' AND e.same_container AND e.state = 'died'
  AND e.mode = 'exited' AND e.exit_code BETWEEN 1 AND 125 AND e.lag_s BETWEEN 60 AND 900 AND e.steps_after IS FALSE
UNION ALL
-- The kernel gave up on the file server and lets programs fail; of what this one said last nothing is there.
SELECT k.death, k.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'guess' AS edge, 'fault' AS role
FROM links k
LEFT JOIN links said ON said.death = k.death AND said.via = 'pod' AND said.signal LIKE 'log.%'
  AND said.signal <> 'log.checkpoint_saved' AND said.lag_s BETWEEN -5 AND 120
WHERE k.signal = 'kernel.nfs_not_responding' AND k.via = 'node' AND k.detail = 'timed out'
  AND k.mode = 'exited' AND COALESCE(k.exit_code, 1) NOT IN (0, 137, 139, 143) AND k.lag_s BETWEEN -5 AND 120 AND said.fact IS NULL
UNION ALL
-- A member whose file server had not answered for a while, and that its job took away as another one had ended: of what either said
-- nothing need be there.
SELECT DISTINCT k.death, k.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'guess' AS edge, 'state' AS role
FROM links k
JOIN torn_down t ON t.death = k.death
LEFT JOIN links ok ON ok.death = k.death AND ok.via = 'node' AND ok.signal = 'kernel.nfs_ok' AND ok.time > k.time
WHERE k.signal = 'kernel.nfs_not_responding' AND k.via = 'node' AND k.lag_s BETWEEN 60 AND 7200
  AND k.steps_after IS NOT TRUE AND ok.fact IS NULL
UNION ALL
-- Or under which a process had hung in the kernel for two minutes: what it waited for is not told, and is most often storage.
SELECT DISTINCT k.death, k.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'guess' AS edge, 'state' AS role
FROM links k
JOIN torn_down t ON t.death = k.death
WHERE k.signal IN ('kernel.task_hung', 'k8s.node.task_hung') AND k.via = 'node' AND k.lag_s BETWEEN 60 AND 7200
  AND k.steps_after IS NOT TRUE
UNION ALL
-- A program that waits for its files since they went away is ended by its time limit, or by whoever notices, unless they
-- came back in time.
SELECT DISTINCT o.death, o.fact AS cause, o.effect,
  CASE WHEN ok.death IS NOT NULL THEN 'guess' ELSE o.edge END AS edge, 'fault' AS role
FROM outwaited o
LEFT JOIN (SELECT DISTINCT death, time FROM links WHERE via = 'node' AND signal = 'kernel.nfs_ok') ok
  ON ok.death = o.stood AND ok.time BETWEEN o.time AND o.time + 900000000000
WHERE o.signal IN ('kernel.nfs_not_responding', 'kernel.storage_evicted')
UNION ALL
-- Whose process waits for the server, and for which one, such a stack does not say.
SELECT death, MIN(fact) AS cause, CAST(NULL AS BIGINT) AS effect, 'guess' AS edge, 'state' AS role
FROM links
WHERE signal = 'kernel.nfs_waiting' AND via = 'node' AND state = 'stalled' AND lag_s BETWEEN -900 AND 300
GROUP BY death
