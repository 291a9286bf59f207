-- cause: hw.board
-- title: A CPU, board or fan failed
-- title_of: node.fan_failed: A fan failed
-- rank: 75
-- level: supported
-- needs: kernel.machine_check, node.hardware_alert, node.fan_failed
-- alone: kernel.machine_check
-- overturned_by: kernel: what the kernel and the machine's controller logged
-- summary: The hardware of {node} reported a fault while {pod} {was} on it: {message}
-- summary_of: node.fan_failed: A fan of {node} failed while {pod} {was} on it: {message}
-- advice_of: node.fan_failed: Drain the node and have the fan replaced; compare the temperatures that its controller measured since.
-- advice: Drain the node, and look in the BMC's event log for the part that failed.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'fault' AS role
FROM links
WHERE signal IN ('kernel.machine_check') AND via IN ('node', 'pod')
  AND (mode IN ('killed', 'lost') OR exit_code IN (137, 143) OR reason = 'ContainerStatusUnknown') AND state IN ('died', 'restarted', 'crash_loop')
  -- What somebody asked to end, for a reason of theirs, did not end of it.
  AND (mode <> 'killed' OR death NOT IN (SELECT death FROM reactions WHERE person))
  AND lag_s BETWEEN -120 AND 900
UNION ALL
SELECT u.death, u.fact AS cause, m.fact AS effect,
  CASE WHEN m.person THEN 'guess' ELSE 'inferred' END AS edge, 'fault' AS role
FROM links u
JOIN reactions m ON m.death = u.death AND m.fact <> u.fact AND m.time >= u.time - 5000000000
WHERE u.signal IN ('kernel.machine_check') AND u.via IN ('node', 'pod') AND u.lag_s BETWEEN -120 AND 900
UNION ALL
-- Elsewhere it belongs to the story.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'context' AS edge, 'state' AS role
FROM links
WHERE signal IN ('node.hardware_alert') AND via = 'node' AND lag_s BETWEEN -120 AND 3600
UNION ALL
-- The kernel panics of what its hardware reports.
SELECT u.death, u.fact AS cause, k.fact AS effect, 'inferred' AS edge, 'fault' AS role
FROM links u
JOIN links k ON k.death = u.death AND k.via = 'node' AND k.signal IN ('kernel.panic', 'kernel.oops') AND k.fact <> u.fact
  AND k.time BETWEEN u.time - 5000000000 AND u.time + 120000000000
WHERE u.signal IN ('kernel.machine_check') AND u.via = 'node' AND u.lag_s BETWEEN -120 AND 900
UNION ALL
-- A fan that stops lets the machine get too hot, minutes later. By itself it ends nothing: others turn faster.
SELECT f.death, f.fact AS cause, h.fact AS effect, 'inferred' AS edge, 'fault' AS role
FROM links f
JOIN links h ON h.death = f.death AND h.machine = f.machine AND h.signal IN ('node.overheated', 'gpu.thermal')
  AND h.time BETWEEN f.time - 5000000000 AND f.time + 3600000000000
WHERE f.signal = 'node.fan_failed' AND f.via = 'node'
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'guess' AS edge, 'fault' AS role
FROM links
WHERE signal = 'node.fan_failed' AND via IN ('node', 'pod')
  AND (mode = 'lost' OR mode = 'exited' AND exit_code = 137 OR reason = 'ContainerStatusUnknown') AND COALESCE(reason, '') <> 'OOMKilled'
  AND state IN ('died', 'restarted', 'crash_loop') AND lag_s BETWEEN -60 AND 900
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'context' AS edge, 'state' AS role
FROM links
WHERE signal IN ('node.fan_failed', 'node.cpu_throttled') AND via = 'node' AND lag_s BETWEEN -120 AND 3600
