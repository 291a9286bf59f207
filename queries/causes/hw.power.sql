-- cause: hw.power
-- title: The machine lacked power
-- rank: 85
-- level: supported
-- needs: node.power_fault, gpu.power_missing, gpu.power_brake
-- alone: node.power_fault, gpu.power_missing
-- overturned_by: kernel: what the kernel and the machine's controller wrote
-- summary: The power of {node} failed under {pod}: {message}
-- advice: Check power supplies, their feeds and cables, and the rack's power.
--
-- A supply that failed where another held the machine up ended nothing: a process that failed by itself is not
-- blamed on it. A brake slows GPUs down and ends nothing by itself.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'fault' AS role
FROM ties
WHERE signal IN ('node.power_fault') AND via IN ('node', 'pod')
  AND (mode IN ('killed', 'lost') OR exit_code IN (137, 143) OR reason = 'ContainerStatusUnknown') AND state IN ('died', 'restarted', 'crash_loop')
  AND lag_s BETWEEN -120 AND 900
UNION ALL
SELECT u.death, u.fact AS cause, m.fact AS effect,
  CASE WHEN m.person THEN 'guess' ELSE 'inferred' END AS edge, 'fault' AS role
FROM ties u
JOIN mechanisms m ON m.death = u.death AND m.fact <> u.fact AND m.time >= u.time - 5000000000
WHERE u.signal IN ('node.power_fault') AND u.via IN ('node', 'pod') AND u.lag_s BETWEEN -120 AND 900
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'fault' AS role
FROM ties
WHERE signal = 'gpu.power_missing' AND via IN ('node', 'pod') AND COALESCE(gpus, 1) > 0
  AND (mode = 'lost' OR exit_code <> 0 OR mode = 'killed') AND state IN ('died', 'restarted', 'crash_loop')
  AND lag_s BETWEEN -120 AND 900
  -- A traceback or a usage that speaks of no device explains its process by itself.
  AND death NOT IN (
    SELECT t.death FROM ties t
    LEFT JOIN ties d ON d.death = t.death AND d.via = 'pod'
      AND (d.signal LIKE 'log.cuda_error%' OR d.signal LIKE 'nccl.%' OR d.signal LIKE 'gpu.%')
    WHERE t.signal IN ('log.traceback', 'log.usage', 'log.exception.config', 'log.command') AND t.via = 'pod' AND t.mode = 'exited' AND t.lag_s BETWEEN -5 AND 60
      AND d.fact IS NULL)
UNION ALL
-- Elsewhere it belongs to the story.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'context' AS edge, 'state' AS role
FROM ties
WHERE signal IN ('gpu.power_brake') AND via = 'node' AND lag_s BETWEEN -120 AND 3600
