-- cause: hw.nvlink_fabric
-- title: NVLink failed
-- rank: 84
-- level: supported
-- needs: gpu.nvlink_error
-- alone: gpu.nvlink_error
-- overturned_by: metrics: what DCGM measured
-- overturned_by: kernel: the Xid line
-- summary: NVLink on {node} failed under {pod}: {message}
-- advice: Drain the node and check NVLink and the fabric manager.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'fault' AS role
FROM ties
WHERE signal IN ('gpu.nvlink_error') AND via IN ('node', 'pod')
  AND (mode = 'lost' OR COALESCE(exit_code, 1) <> 0 OR mode = 'killed')
  -- Whoever had no GPU lost none, and whoever was over its memory limit was killed for that.
  AND COALESCE(gpus, 1) > 0 AND COALESCE(reason, '') <> 'OOMKilled'
  AND (state IN ('died', 'restarted', 'crash_loop') AND lag_s BETWEEN -120 AND 900
       OR state = 'lingering' AND lag_s BETWEEN 0 AND 7200)
  -- A traceback or a usage that speaks of no device explains its process by itself.
  AND death NOT IN (
    SELECT t.death FROM ties t
    LEFT JOIN ties d ON d.death = t.death AND d.via = 'pod'
      AND (d.signal LIKE 'log.cuda_error%' OR d.signal LIKE 'nccl.%' OR d.signal LIKE 'gpu.%')
    WHERE t.signal IN ('log.traceback', 'log.usage', 'log.exception.config', 'log.command') AND t.via = 'pod' AND t.mode = 'exited' AND t.lag_s BETWEEN -5 AND 60
      AND d.fact IS NULL)
UNION ALL
SELECT u.death, u.fact AS cause, m.fact AS effect,
  CASE WHEN m.person THEN 'guess' ELSE 'inferred' END AS edge, 'fault' AS role
FROM ties u
JOIN mechanisms m ON m.death = u.death AND m.fact <> u.fact AND m.time >= u.time - 5000000000
WHERE u.signal IN ('gpu.nvlink_error') AND u.via IN ('node', 'pod') AND u.lag_s BETWEEN -120 AND 900
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'context' AS edge, 'state' AS role
FROM ties
WHERE signal IN ('metric.gpu_link_errors') AND via = 'node' AND lag_s BETWEEN -120 AND 900
