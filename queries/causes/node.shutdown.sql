-- cause: node.shutdown
-- title: The node shut down
-- rank: 74
-- level: supported
-- needs: k8s.pod.node_shutdown, k8s.node.shutdown, k8s.pod.admission_failed.shutdown
-- needs: cloud.instance_shut_down, node.powered_off, node.poweroff_requested, node.powering_off, node.shutdown_scheduled
-- overturned_by: kernel: who shut the node down
-- summary: {node} shut down while {pod} {was} on it.
-- summary_of: k8s.pod.admission_failed.shutdown: The kubelet of {node} refused {pod}, because the node was shutting down.
-- summary_of: node.poweroff_requested, node.shutdown_scheduled: {node} was switched off{by} while {pod} {was} on it.
-- advice_of: node.poweroff_requested, node.shutdown_scheduled: Find out why it was switched off; there is no sign of a fault.
-- advice: Find out who shut the machine down: check its journal, the cloud, or the maintenance log of the data center.
WITH off AS (
  SELECT u.death, u.fact, u.time, u.time_hi, u.signal,
    CASE WHEN r.death IS NULL THEN 'inferred' ELSE 'guess' END AS edge,
    CASE WHEN u.signal = 'node.poweroff_requested' AND u.actor IS NOT NULL THEN 'act' ELSE 'fault' END AS role
  FROM links u
  LEFT JOIN (SELECT death, MAX(time) AS time FROM links WHERE signal = 'node.rebooting' AND via = 'node' GROUP BY death) r
    ON r.death = u.death AND r.time >= u.time - 5000000000
  -- The same line may tell of the node's shutdown, see below.
  LEFT JOIN links d ON d.death = u.death AND d.record = u.record AND d.signal = 'k8s.node.shutdown'
  WHERE u.signal IN ('node.poweroff_requested', 'node.powering_off') AND u.via = 'node'
    AND (u.mode IN ('killed', 'lost') OR u.exit_code IN (137, 143) AND COALESCE(u.reason, '') <> 'OOMKilled' OR u.reason IN ('ContainerStatusUnknown', 'Unknown'))
    AND u.lag_s BETWEEN -90 AND CASE WHEN u.mode = 'lost' THEN 900 ELSE 600 END AND d.fact IS NULL
)
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'asserted' AS edge, 'claim' AS role
FROM links
WHERE signal = 'k8s.pod.node_shutdown' AND via = 'pod' AND state IN ('died', 'restarted', 'crash_loop')
UNION ALL
SELECT u.death, u.fact AS cause, m.fact AS effect, 'inferred' AS edge, 'fault' AS role
FROM links u
JOIN mechanisms m ON m.death = u.death AND m.fact <> u.fact AND m.time >= u.time - 5000000000
-- One that says that it starts again reboots.
LEFT JOIN links r ON r.death = u.death AND r.record = u.record AND r.signal = 'node.rebooting'
WHERE r.fact IS NULL AND u.signal IN ('k8s.node.shutdown', 'cloud.instance_shut_down', 'node.powered_off')
  AND u.mode IN ('killed', 'lost') AND u.via = 'node' AND u.lag_s BETWEEN -60 AND CASE WHEN u.mode = 'lost' THEN 900 ELSE 600 END
UNION ALL
SELECT u.death, u.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'fault' AS role
FROM links u
LEFT JOIN links r ON r.death = u.death AND r.record = u.record AND r.signal = 'node.rebooting'
WHERE r.fact IS NULL AND u.signal IN ('k8s.node.shutdown', 'cloud.instance_shut_down', 'node.powered_off')
  AND u.mode IN ('killed', 'lost') AND u.via = 'node' AND u.lag_s BETWEEN -60 AND CASE WHEN u.mode = 'lost' THEN 900 ELSE 600 END
UNION ALL
-- Somebody switches it off, or it says that it goes down for good; one that then says that it starts again reboots.
SELECT death, fact AS cause, effect, edge, role FROM (
  SELECT o.*, m.fact AS effect FROM off o
  JOIN mechanisms m ON m.death = o.death AND m.fact <> o.fact AND m.time >= o.time_hi - 5000000000
  UNION ALL
  SELECT o.*, CAST(NULL AS BIGINT) AS effect FROM off o)
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'claim' AS role
FROM links
WHERE signal = 'k8s.pod.admission_failed.shutdown' AND via = 'pod' AND state = 'died'
UNION ALL
-- An instance that shut itself down; nobody asked the cloud for it. Whose program had ended by then bears no word of that.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'asserted' AS edge, 'claim' AS role
FROM links
WHERE signal = 'cloud.instance_shut_down' AND via = 'pod' AND mode = 'exited' AND lag_s BETWEEN -5 AND 60
  AND reason IS NOT NULL
UNION ALL
-- Alerts are silenced before maintenance; a silence alone proves none.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'context' AS edge, 'act' AS role
FROM links
WHERE via IN ('node', 'pod') AND mode IN ('killed', 'lost')
  AND ((signal = 'alert.silenced' AND due_s BETWEEN -600 AND 0) OR (signal = 'note.maintenance' AND lag_s BETWEEN -600 AND 3900))
UNION ALL
-- What somebody asked the machine for, now or in some minutes, is what it then does, and what its cloud tells of.
SELECT o.death, o.fact AS cause, d.fact AS effect, 'inferred' AS edge,
  CASE WHEN o.actor IS NOT NULL THEN 'act' ELSE 'fault' END AS role
FROM links o
JOIN links d ON d.death = o.death AND d.signal IN ('cloud.instance_shut_down', 'node.powering_off', 'k8s.node.shutdown')
  AND (o.signal = 'node.poweroff_requested' AND d.time - o.time BETWEEN -1000000000 AND 300000000000
    OR o.signal = 'node.shutdown_scheduled'
      AND d.time - o.time - COALESCE(TRY_CAST(o.detail AS BIGINT), 0) * 60000000000 BETWEEN -5000000000 AND 120000000000)
LEFT JOIN links r ON r.death = d.death AND r.via = 'node' AND r.signal = 'node.rebooting' AND r.time BETWEEN d.time - 5000000000 AND d.time + 60000000000
WHERE o.signal IN ('node.poweroff_requested', 'node.shutdown_scheduled') AND o.via = 'node' AND r.fact IS NULL
  AND (d.via = 'node' OR d.via = 'pod')
