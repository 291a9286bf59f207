-- cause: hw.disk
-- title: A disk failed
-- rank: 77
-- level: supported
-- needs: k8s.node.disk, kernel.disk_error
-- alone: kernel.disk_error
-- overturned_by: metrics: what DCGM measured
-- overturned_by: kernel: the Xid line
-- summary: A disk in {node} failed while {pod} {was} on it: {message}
-- advice: Drain the node and replace the disk.
--
-- A machine may have other disks than the one that it needs, and be lost for another reason.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, CASE WHEN mode = 'lost' THEN 'guess' ELSE 'inferred' END AS edge, 'fault' AS role
FROM links
WHERE signal IN ('k8s.node.disk', 'kernel.disk_error') AND via IN ('node', 'pod')
  AND (mode = 'lost' OR COALESCE(exit_code, 1) <> 0 OR mode = 'killed') AND COALESCE(reason, '') <> 'OOMKilled' AND state IN ('died', 'restarted', 'crash_loop')
  AND lag_s BETWEEN -120 AND 900
  AND death NOT IN (SELECT death FROM own_reason WHERE NOT files)
UNION ALL
SELECT u.death, u.fact AS cause, m.fact AS effect,
  CASE WHEN m.person OR u.mode = 'lost' THEN 'guess' ELSE 'inferred' END AS edge, 'fault' AS role
FROM links u
JOIN mechanisms m ON m.death = u.death AND m.fact <> u.fact AND m.time >= u.time - 5000000000
WHERE u.signal IN ('k8s.node.disk', 'kernel.disk_error') AND u.via IN ('node', 'pod') AND u.lag_s BETWEEN -120 AND 900
