-- cause: hw.nvlink_fabric
-- title: NVLink failed
-- rank: 84
-- level: supported
-- needs: gpu.nvlink_error
-- overturned_by: prometheus: what DCGM measured
-- overturned_by: kernel: the Xid line
-- summary: NVLink on {node} failed under {pod}: {message}
-- advice: Drain the node and check NVLink and the fabric manager.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'fault' AS role
FROM ties
WHERE signal IN ('gpu.nvlink_error') AND via IN ('node', 'pod')
  AND (mode = 'lost' OR exit_code <> 0 OR mode = 'killed') AND state IN ('died', 'restarted', 'crash_loop')
  AND lag_s BETWEEN -120 AND 900
UNION ALL
SELECT u.death, u.fact AS cause, m.fact AS effect, 'inferred' AS edge, 'fault' AS role
FROM ties u
JOIN mechanisms m ON m.death = u.death AND m.fact <> u.fact AND m.time >= u.time - 5000000000
WHERE u.signal IN ('gpu.nvlink_error') AND u.via IN ('node', 'pod') AND u.lag_s BETWEEN -120 AND 900
