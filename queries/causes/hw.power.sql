-- cause: hw.power
-- title: Power failed
-- title_of: gpu.power_missing: A GPU had no power
-- rank: 85
-- level: established
-- needs: node.power_fault, gpu.power_missing, gpu.power_brake
-- alone: node.power_fault, gpu.power_missing
-- overturned_by: kernel: what the kernel and the machine's controller logged
-- summary: The power supply of {node} failed while {pod} {was} on it: {message}
-- summary_of: gpu.power_missing: A GPU in {node} had no power from its cable while {pod} {was} on it: {message}
-- advice: Check the power supplies, their feeds and cables, and the power of the rack.
-- advice_of: gpu.power_missing: Drain the node, and check the power cable of the GPU named above.
--
-- A supply that failed where another held the machine up ended nothing: a process that failed by itself is not
-- blamed on it, and one supply of a machine that has two is a guess. Where the machine's controller logged in one minute that its
-- supplies had no power and that it was off, and the pod was lost with it, both ends are on record. A brake slows GPUs down and ends nothing by itself.
WITH powerless AS (
  SELECT death FROM links
  WHERE signal = 'node.power_fault' AND via IN ('node', 'pod') AND lag_s BETWEEN -120 AND 900
  GROUP BY death HAVING COUNT(DISTINCT fact) > 1
),
-- The same controller, or the kernel that starts anew without having been stopped, says that the machine was off.
went_off AS (
  SELECT DISTINCT u.death, u.fact
  FROM links u
  JOIN powerless p ON p.death = u.death
  JOIN links o ON o.death = u.death AND o.machine = u.machine
    AND (o.signal = 'node.powered_off' AND o.time BETWEEN u.time - 5000000000 AND u.time + 60000000000
      OR o.signal = 'node.crashed' AND o.time BETWEEN u.time AND u.time + 900000000000)
  -- Whoever switched it off did that, and a supply without a load reports so as well.
  LEFT JOIN links asked ON asked.death = u.death AND asked.via = 'node' AND asked.time BETWEEN u.time - 600000000000 AND u.time + 60000000000
    AND asked.signal IN ('node.poweroff_requested', 'node.powering_off', 'node.rebooting', 'node.reboot_requested', 'node.shutdown_scheduled',
                         'k8s.node.shutdown', 'node.overheated', 'kernel.panic')
  WHERE u.signal = 'node.power_fault' AND u.via = 'node' AND asked.fact IS NULL
),
-- A machine without power is missed some forty seconds after its last word.
missed_since AS (
  SELECT w.death, w.fact, s.fact AS effect
  FROM went_off w
  JOIN links u ON u.death = w.death AND u.fact = w.fact
  JOIN links s ON s.death = w.death AND s.machine = u.machine AND s.mode = 'lost'
    AND s.signal IN ('k8s.node.not_ready', 'k8s.node.silent', 'k8s.node.unreachable')
    AND s.time BETWEEN u.time AND u.time + 300000000000
)
SELECT death, fact AS cause, effect, 'asserted' AS edge, 'fault' AS role
FROM missed_since
UNION ALL
SELECT u.death, u.fact AS cause, CAST(NULL AS BIGINT) AS effect,
  CASE WHEN p.death IS NULL THEN 'guess' WHEN w.fact IS NOT NULL AND u.mode = 'lost' AND s.death IS NULL THEN 'asserted' ELSE 'inferred' END AS edge,
  'fault' AS role
FROM links u
LEFT JOIN powerless p ON p.death = u.death
LEFT JOIN went_off w ON w.death = u.death AND w.fact = u.fact
LEFT JOIN (SELECT DISTINCT death FROM missed_since) s ON s.death = u.death
WHERE u.signal = 'node.power_fault' AND u.via IN ('node', 'pod')
  AND (u.mode IN ('killed', 'lost') OR u.exit_code IN (137, 143) OR u.reason = 'ContainerStatusUnknown')
  AND (u.state IN ('died', 'restarted', 'crash_loop') OR w.fact IS NOT NULL AND u.state = 'not_ready') AND u.lag_s BETWEEN -120 AND 900
UNION ALL
SELECT u.death, u.fact AS cause, m.fact AS effect,
  CASE WHEN m.person OR p.death IS NULL THEN 'guess' ELSE 'inferred' END AS edge, 'fault' AS role
FROM links u
JOIN reactions m ON m.death = u.death AND m.fact <> u.fact AND m.time >= u.time - 5000000000
LEFT JOIN powerless p ON p.death = u.death
WHERE u.signal IN ('node.power_fault') AND u.via IN ('node', 'pod') AND u.lag_s BETWEEN -120 AND 900
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'fault' AS role
FROM links
WHERE signal = 'gpu.power_missing' AND via IN ('node', 'pod') AND COALESCE(gpus, 1) > 0
  AND (mode = 'lost' OR exit_code <> 0 OR mode = 'killed') AND state IN ('died', 'restarted', 'crash_loop')
  AND lag_s BETWEEN -120 AND 900
  AND death NOT IN (SELECT death FROM own_reason)
UNION ALL
-- Elsewhere it belongs to the story.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'context' AS edge, 'state' AS role
FROM links
WHERE signal IN ('gpu.power_brake') AND via = 'node' AND lag_s BETWEEN -120 AND 3600
