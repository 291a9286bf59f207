-- cause: node.reboot
-- title: The node rebooted
-- rank: 75
-- level: supported
-- needs: k8s.node.rebooted, node.rebooting, node.crashed, node.reboot_requested, node.shutdown_scheduled, node.power_cycled, k8s.container.status_unknown
-- alone: node.crashed
-- overturned_by: kernel: who rebooted the node
-- summary: {node} rebooted while {pod} {was} on it.
-- summary_of: node.reboot_requested, node.shutdown_scheduled: {node} was rebooted{by} while {pod} {was} on it.
-- summary_of: cloud.instance_reset_by_*: {node} was reset{by} while {pod} {was} on it.
-- summary_of: node.power_cycled: The power of {node} was switched off and on again while {pod} {was} on it.
-- advice_of: node.power_cycled: Find out who or what had its BMC do so: a person, a tool that repairs machines, or a watchdog.
-- advice: Read the journal before the boot, which shows whether the reboot was requested or followed a crash.
-- advice_of: node.reboot_requested, node.shutdown_scheduled: Find out why it was rebooted; there is no sign of a fault.
-- advice_of: cloud.instance_reset_by_*: Find out why it was reset; there is no sign of a fault.
-- advice_of: node.rebooting: Find out who or what asked for the reboot; the machine went down in good order.
-- advice_of: node.crashed: Check its kernel log, crash dumps and BMC to see why it crashed.
WITH reset_for_silence AS (
  -- Boots that somebody asked for because nothing was heard of the machine any more.
  SELECT death, effect FROM reset_at_cloud WHERE effect IS NOT NULL GROUP BY death, effect HAVING bool_and(hung)
)
SELECT u.death, u.fact AS cause, m.fact AS effect, 'inferred' AS edge,
  CASE WHEN u.signal = 'node.reboot_requested' AND u.actor IS NOT NULL THEN 'act' ELSE 'fault' END AS role
FROM links u
JOIN mechanisms m ON m.death = u.death AND m.fact <> u.fact
  -- A boot of which only another boot id tells was at some time between two versions of
  -- the node: it brought about what came after both. Who drains a node does so before it.
  AND m.time >= u.time_hi - 5000000000
WHERE u.signal IN ('k8s.node.rebooted', 'node.rebooting', 'node.crashed', 'node.reboot_requested') AND u.via = 'node' AND (u.mode IN ('killed', 'lost') OR u.exit_code IN (137, 143) AND COALESCE(u.reason, '') <> 'OOMKilled' OR u.reason IN ('ContainerStatusUnknown', 'Unknown'))
  AND u.lag_s BETWEEN -900 AND CASE WHEN u.mode = 'lost' THEN 900 ELSE 600 END AND COALESCE(u.due_s, 0) BETWEEN -300 AND 900
UNION ALL
-- The kubelet tells of a boot once it is up again: a node that fell silent minutes before it did so
-- for the boot. One that was silent for longer hung, and was reset for that.
SELECT u.death, u.fact AS cause, m.fact AS effect,
  -- One that was switched off and started later did not end for its start.
  CASE WHEN off.death IS NULL AND reset.death IS NULL THEN 'inferred' ELSE 'guess' END AS edge, 'fault' AS role
FROM links u
LEFT JOIN (SELECT death, MAX(time) AS time FROM links WHERE signal = 'node.powering_off' AND via = 'node' GROUP BY death) off
  ON off.death = u.death AND off.time <= u.time_hi
LEFT JOIN reset_for_silence reset
  ON reset.death = u.death AND reset.effect = u.fact
JOIN links m ON m.death = u.death
  AND m.signal IN ('k8s.node.not_ready', 'k8s.node.silent', 'k8s.node.unreachable', 'k8s.pod.node_lost', 'k8s.node.shutdown', 'k8s.pod.node_shutdown')
  AND u.time - m.time BETWEEN 0 AND 300000000000
WHERE u.signal = 'k8s.node.rebooted' AND u.via = 'node' AND u.time_hi - u.time < 300000000000
  AND (u.mode IN ('killed', 'lost') OR u.exit_code IN (137, 143) AND COALESCE(u.reason, '') <> 'OOMKilled' OR u.reason IN ('ContainerStatusUnknown', 'Unknown'))
UNION ALL
SELECT u.death, u.fact AS cause, CAST(NULL AS BIGINT) AS effect, 
  -- Of a node that was closed before, somebody took the pods away to reboot it. One that was not seen to fall
  -- silent, and told of a boot minutes later, may have gone on until then.
  -- One that had been silent for minutes before it booted hung, or booted for a repair of that.
  CASE WHEN closed.death IS NULL AND reset.death IS NULL AND (hung.death IS NULL OR u.signal <> 'k8s.node.rebooted') AND (off.death IS NULL OR u.signal <> 'k8s.node.rebooted') AND (u.mode = 'lost' OR u.lag_s >= -120 OR u.reason IN ('ContainerStatusUnknown', 'Unknown'))
    THEN 'inferred' ELSE 'guess' END AS edge,
  CASE WHEN u.signal = 'node.reboot_requested' AND u.actor IS NOT NULL THEN 'act' ELSE 'fault' END AS role
FROM links u
LEFT JOIN (SELECT c.death, MIN(c.time) AS time FROM links c
           WHERE c.via = 'node' AND c.mode = 'killed' AND (c.signal LIKE 'k8s.node.cordoned%' OR c.signal = 'k8s.node.drained')
           GROUP BY c.death) closed
  ON closed.death = u.death AND closed.time < u.time_hi
LEFT JOIN (SELECT death, MAX(time) AS time FROM links WHERE signal = 'node.powering_off' AND via = 'node' GROUP BY death) off
  ON off.death = u.death AND off.time <= u.time_hi
-- One that somebody reset because nothing was heard of it any more.
LEFT JOIN reset_for_silence reset
  ON reset.death = u.death AND reset.effect = u.fact
LEFT JOIN (SELECT s.death, MIN(s.time) AS time FROM links s
           WHERE s.via = 'node' AND s.signal IN ('k8s.node.not_ready', 'k8s.node.silent', 'k8s.node.unreachable') AND s.lag_s > -300
           GROUP BY s.death) hung
  ON hung.death = u.death AND u.time - hung.time BETWEEN 300000000001 AND 3600000000000
LEFT JOIN (SELECT DISTINCT k.death FROM links k
           LEFT JOIN links s ON s.death = k.death
             AND s.signal IN ('k8s.pod.node_shutdown', 'k8s.node.shutdown', 'node.rebooting', 'node.powering_off')
             -- Its kubelet says that a machine shuts down before it stops the first pod for that; others say so later.
             AND s.time <= k.time_hi + CASE WHEN s.source_kind = 'kubernetes' THEN 5000000000 ELSE 90000000000 END
           -- Of a pod that somebody deleted a kubelet says with what its container ended once it has.
           WHERE (k.signal = 'k8s.container.killing' OR k.signal = 'k8s.pod.deletion_requested' AND k.exit_code IS NOT NULL AND k.lag_s BETWEEN -1 AND 60)
             AND k.via = 'pod' AND k.mode = 'killed' AND s.fact IS NULL) asked
  ON asked.death = u.death
WHERE u.signal IN ('k8s.node.rebooted', 'node.rebooting', 'node.crashed', 'node.reboot_requested') AND u.via = 'node' AND (u.mode IN ('killed', 'lost') OR u.exit_code IN (137, 143) AND COALESCE(u.reason, '') <> 'OOMKilled' OR u.reason IN ('ContainerStatusUnknown', 'Unknown'))
  AND u.lag_s BETWEEN -900 AND CASE WHEN u.mode = 'lost' THEN 900 ELSE 600 END AND COALESCE(u.due_s, 0) BETWEEN -300 AND 900
  -- What its kubelet had stopped before, and not because the machine shut down, had ended when it booted.
  AND (asked.death IS NULL OR u.signal <> 'k8s.node.rebooted' OR u.lag_s >= -5)
UNION ALL
-- It has fallen silent to boot, and nobody has counted its pods as lost yet.
SELECT u.death, u.fact AS cause, m.fact AS effect, 'inferred' AS edge,
  CASE WHEN u.signal = 'node.reboot_requested' AND u.actor IS NOT NULL THEN 'act' ELSE 'fault' END AS role
FROM links u
JOIN links m ON m.death = u.death AND m.via = 'node' AND m.signal IN ('k8s.node.not_ready', 'k8s.node.silent')
  AND m.time - u.time BETWEEN 0 AND 300000000000
LEFT JOIN links again ON again.death = u.death AND again.via = 'node' AND again.signal = 'k8s.node.ready' AND again.time > m.time
WHERE u.signal IN ('node.rebooting', 'node.crashed', 'node.reboot_requested') AND u.via = 'node'
  AND u.state = 'not_ready' AND again.fact IS NULL
UNION ALL
-- A machine that goes down and boots after somebody's program, or the cloud's own, had it reset there does so for that; what a
-- person asked for is that person's act (ops.manual_delete).
SELECT death, fact AS cause, effect, 'inferred' AS edge, 'act' AS role
FROM reset_at_cloud
WHERE signal LIKE 'cloud.instance_reset_by_%' AND signal <> 'cloud.instance_reset_by_user' AND effect IS NOT NULL
UNION ALL
-- A runtime that was stopped, or upgraded, finds its containers as little as one on a machine that booted. Of a pod that is
-- taken away its kubelet says so of each container that it had not started yet.
SELECT c.death, c.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'guess' AS edge, 'claim' AS role
FROM links c
LEFT JOIN (SELECT DISTINCT death FROM links
           WHERE via = 'node' AND lag_s BETWEEN -60 AND 300
             AND (signal IN ('node.runtime_killed', 'node.runtime_stopping')
               OR signal = 'node.packages_upgraded' AND regexp_like(COALESCE(detail, ''), '(^|[ ,])(containerd|docker|cri-o|moby|runc)'))) r
  ON r.death = c.death
WHERE c.signal = 'k8s.container.status_unknown' AND c.via = 'pod' AND c.state IN ('died', 'restarted', 'crash_loop')
  AND c.mode = 'exited' AND r.death IS NULL
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'context' AS edge, 'claim' AS role
FROM links
WHERE signal IN ('metric.target_down', 'alert.node_not_ready') AND via = 'node' AND lag_s BETWEEN -900 AND 600
UNION ALL
-- Alerts are silenced before maintenance; a silence alone proves none.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'context' AS edge, 'act' AS role
FROM links
WHERE via IN ('node', 'pod') AND mode IN ('killed', 'lost')
  AND ((signal = 'alert.silenced' AND due_s BETWEEN -600 AND 0) OR (signal = 'note.maintenance' AND lag_s BETWEEN -600 AND 3900))
UNION ALL
-- Somebody asked for it some minutes before.
SELECT o.death, o.fact AS cause, d.fact AS effect, 'inferred' AS edge,
  CASE WHEN o.actor IS NOT NULL THEN 'act' ELSE 'fault' END AS role
FROM links o
JOIN links d ON d.death = o.death AND d.via = 'node' AND d.signal = 'node.rebooting'
  AND d.time - o.time - COALESCE(TRY_CAST(o.detail AS BIGINT), 0) * 60000000000 BETWEEN -5000000000 AND 120000000000
WHERE o.signal = 'node.shutdown_scheduled' AND o.via = 'node'
UNION ALL
-- Or just then, however late anybody found that the machine was gone; or for the very time at which it went down.
SELECT o.death, o.fact AS cause, d.fact AS effect, 'inferred' AS edge,
  CASE WHEN o.actor IS NOT NULL THEN 'act' ELSE 'fault' END AS role
FROM links o
JOIN links d ON d.death = o.death AND d.via = 'node' AND d.machine = o.machine AND d.signal = 'node.rebooting'
  AND (o.due_s IS NULL AND d.time - o.time BETWEEN -1000000000 AND 120000000000 OR o.due_s - d.lag_s BETWEEN -5 AND 120)
WHERE o.signal = 'node.reboot_requested' AND o.via = 'node' AND o.fact <> d.fact
UNION ALL
-- A machine whose BMC says that its power was cycled boots some minutes later for that.
SELECT p.death, p.fact AS cause, b.fact AS effect, 'inferred' AS edge, 'fault' AS role
FROM links p
JOIN links b ON b.death = p.death AND b.via = 'node' AND b.machine = p.machine AND b.signal IN ('k8s.node.rebooted', 'node.crashed', 'node.rebooting')
  AND b.time - p.time BETWEEN -5000000000 AND 900000000000
WHERE p.signal = 'node.power_cycled' AND p.via = 'node'
