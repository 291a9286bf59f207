-- cause: hw.disk
-- title: A disk failed
-- rank: 77
-- level: supported
-- needs: k8s.node.disk, kernel.disk_error
-- alone: kernel.disk_error
-- overturned_by: metrics: what was measured on the machine
-- overturned_by: kernel: disk errors that the kernel logged
-- summary: A disk in {node} failed while {pod} {was} on it: {message}
-- advice: Drain the node and replace the disk.
--
-- A machine has several disks, most of them others' or nobody's: that a program ended by itself beside an error of one is a
-- coincidence until it says itself that it could not read or write, or ends by the signal for a page that is not there (SIGBUS).
WITH touched AS (
  SELECT DISTINCT death FROM links
  WHERE via = 'pod' AND same_container AND lag_s BETWEEN -5 AND 900
    AND (signal LIKE 'log.storage_%' OR signal LIKE 'log.checkpoint_%failed'
      OR signal IN ('log.io_error', 'log.bus_error', 'k8s.container.bus_error'))
)
-- It may need none of them, and be lost for another reason.
-- What a program cannot reach by its name is on no disk of its machine.
SELECT e.death, e.fact AS cause, CAST(NULL AS BIGINT) AS effect,
  CASE WHEN e.mode = 'lost' OR e.mode = 'exited' AND t.death IS NULL OR name.death IS NOT NULL THEN 'guess' ELSE 'inferred' END AS edge, 'fault' AS role
FROM links e
LEFT JOIN touched t ON t.death = e.death
LEFT JOIN (SELECT DISTINCT death FROM links WHERE signal = 'log.dns' AND via = 'pod' AND lag_s BETWEEN -5 AND 60) name ON name.death = e.death
WHERE e.signal IN ('k8s.node.disk', 'kernel.disk_error') AND e.via IN ('node', 'pod')
  AND (e.mode = 'lost' OR COALESCE(e.exit_code, 1) <> 0 OR e.mode = 'killed') AND COALESCE(e.reason, '') <> 'OOMKilled' AND e.state IN ('died', 'restarted', 'crash_loop')
  -- What somebody asked to end, for a reason of theirs, did not end of it.
  AND (e.mode <> 'killed' OR e.death NOT IN (SELECT death FROM reactions WHERE person))
  AND e.lag_s BETWEEN -120 AND 900
  AND e.death NOT IN (SELECT death FROM own_reason WHERE NOT files)
UNION ALL
SELECT u.death, u.fact AS cause, m.fact AS effect,
  CASE WHEN m.person OR u.mode = 'lost' THEN 'guess' ELSE 'inferred' END AS edge, 'fault' AS role
FROM links u
JOIN reactions m ON m.death = u.death AND m.fact <> u.fact AND m.time >= u.time - 5000000000
WHERE u.signal IN ('k8s.node.disk', 'kernel.disk_error') AND u.via IN ('node', 'pod') AND u.lag_s BETWEEN -120 AND 900
