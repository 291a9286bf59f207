-- cause: hw.nvlink_fabric
-- title: NVLink failed
-- rank: 84
-- level: supported
-- needs: gpu.nvlink_error
-- alone: gpu.nvlink_error
-- overturned_by: metrics: what DCGM measured
-- overturned_by: kernel: the Xid line
-- summary: NVLink on {node} failed while {pod} {was} on it: {message}
-- advice: Drain the node and check NVLink and the fabric manager.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'fault' AS role
FROM links
WHERE signal IN ('gpu.nvlink_error') AND via IN ('node', 'pod')
  AND (mode = 'lost' OR COALESCE(exit_code, 1) <> 0 OR mode = 'killed')
  -- What somebody asked to end, for a reason of theirs, did not end of it.
  AND (mode <> 'killed' OR death NOT IN (SELECT death FROM reactions WHERE person))
  -- Whoever had no GPU lost none, and whoever was over its memory limit was killed for that.
  AND COALESCE(gpus, 1) > 0 AND COALESCE(reason, '') <> 'OOMKilled'
  AND (state IN ('died', 'restarted', 'crash_loop') AND lag_s BETWEEN -120 AND 900
       OR state = 'lingering' AND lag_s BETWEEN 0 AND 7200)
  AND death NOT IN (SELECT death FROM own_reason)
UNION ALL
SELECT u.death, u.fact AS cause, m.fact AS effect,
  CASE WHEN m.person THEN 'guess' ELSE 'inferred' END AS edge, 'fault' AS role
FROM links u
JOIN reactions m ON m.death = u.death AND m.fact <> u.fact AND m.time >= u.time - 5000000000
WHERE u.signal IN ('gpu.nvlink_error') AND u.via IN ('node', 'pod') AND u.lag_s BETWEEN -120 AND 900
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'context' AS edge, 'state' AS role
FROM links
WHERE signal IN ('metric.gpu_link_errors') AND via = 'node' AND lag_s BETWEEN -120 AND 900
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'state' AS role
FROM stuck_in_driver
WHERE signal = 'gpu.nvlink_error'
UNION ALL
-- A program that hangs since its links failed is ended by its time limit, or by whoever notices.
SELECT DISTINCT death, fact AS cause, effect, edge, 'fault' AS role
FROM outwaited
WHERE signal = 'gpu.nvlink_error'
