-- cause: hw.thermal
-- title: Overheating
-- rank: 86
-- level: supported
-- needs: gpu.thermal, node.overheated
-- alone: node.overheated
-- overturned_by: metrics: the temperatures that DCGM measured
-- overturned_by: kernel: what the kernel and the machine's controller logged
-- summary_of: node.overheated: {node} reported that it was too hot while {pod} {was} on it: {message}
-- summary: GPUs in {node} were throttled or stopped by heat while {pod} {was} on it: {message}
-- advice: Check the machine's cooling: its fans, its air flow and the temperature of the room.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'fault' AS role
FROM links
WHERE signal IN ('gpu.thermal', 'node.overheated') AND via IN ('node', 'pod')
  AND (mode = 'lost' OR COALESCE(exit_code, 1) <> 0 OR mode = 'killed') AND COALESCE(reason, '') <> 'OOMKilled' AND state IN ('died', 'restarted', 'crash_loop')
  -- What somebody asked to end, for a reason of theirs, did not end of it.
  AND (mode <> 'killed' OR death NOT IN (SELECT death FROM reactions WHERE person))
  AND lag_s BETWEEN -120 AND 900
  AND death NOT IN (SELECT death FROM own_reason)
  -- Heat slows machines and stops them; no program reaches for bad memory because of it.
  AND (mode <> 'exited' OR COALESCE(exit_code, 1) NOT IN (132, 133, 136, 139))
UNION ALL
SELECT u.death, u.fact AS cause, m.fact AS effect,
  CASE WHEN m.person THEN 'guess' ELSE 'inferred' END AS edge, 'fault' AS role
FROM links u
JOIN reactions m ON m.death = u.death AND m.fact <> u.fact AND m.time >= u.time - 5000000000
WHERE u.signal IN ('gpu.thermal', 'node.overheated') AND u.via IN ('node', 'pod') AND u.lag_s BETWEEN -120 AND 900
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'context' AS edge, 'state' AS role
FROM links
WHERE signal IN ('metric.gpu_hot', 'metric.gpu_throttled', 'metric.gpu_slowed_down', 'gpu.throttled') AND via = 'node' AND lag_s BETWEEN -120 AND 900
