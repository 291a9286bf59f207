-- cause: ops.node_upgrade
-- title: The node was upgraded or repaired
-- rank: 95
-- level: supported
-- needs: upgrade.started, upgrade.announced, k8s.pod.evicted_by_upgrader
-- needs: k8s.pod.deleted_by_upgrader, k8s.node.cordoned_by_upgrader, k8s.node.tainted_by_upgrader, repair.started
-- needs: node.upgrading
-- summary_of: node.upgrading: {node} was upgrading its packages when the service of {pod} was stopped; package tools restart the services that use what they upgrade.
-- advice_of: node.upgrading: Exclude the service from needrestart, or upgrade the machine between runs.
-- summary: {node} was upgraded or repaired; {pod} {was} on it.
-- title_of: k8s.node.cordoned_by_upgrader, k8s.node.tainted_by_upgrader, k8s.pod.evicted_by_upgrader, k8s.pod.deleted_by_upgrader: The node was cleared for an upgrade, a repair or a reboot
-- summary_of: k8s.node.cordoned_by_upgrader, k8s.node.tainted_by_upgrader, k8s.pod.evicted_by_upgrader, k8s.pod.deleted_by_upgrader: {node} was cleared{by} for an upgrade, a repair or a reboot; {pod} {was} on it.
-- advice: Set a maintenance window or exclusion for the node pool while long jobs run.
-- What was over, or given up, before the end, so that the node took new pods again, did not bring it about; nor did what was
-- still waiting when somebody else ended the pod. The GPU operator closes a node long before it drains it, and reboots none.
WITH begun AS (
  SELECT u.death, u.fact, u.time,
    CASE WHEN a.death IS NOT NULL OR o.death IS NOT NULL
        OR u.signal LIKE '%_by_upgrader' AND regexp_like(COALESCE(u.actor, ''), ':(nvidia-)?gpu-operator$|:nvidia-')
      THEN 'guess' ELSE 'inferred' END AS edge
  FROM links u
  LEFT JOIN asked_for a ON a.death = u.death
  LEFT JOIN ended_by_others o ON o.death = u.death
  LEFT JOIN (SELECT death, MAX(time) AS time FROM links
             WHERE via = 'node' AND lag_s > 5 AND (signal LIKE 'k8s.node.uncordoned%' OR signal IN ('upgrade.done', 'upgrade.failed'))
             GROUP BY death) back
    ON back.death = u.death AND back.time > u.time
  WHERE u.signal IN ('upgrade.started', 'k8s.node.cordoned_by_upgrader', 'k8s.node.tainted_by_upgrader') AND u.mode IN ('killed', 'lost') AND u.via = 'node'
    AND u.lag_s BETWEEN -90 AND 3900
    -- What a cluster's own components announce they do afterwards.
    AND (u.source_kind <> 'kubernetes' OR u.lag_s >= -5)
    AND back.death IS NULL
)
SELECT u.death, u.fact AS cause, m.fact AS effect, u.edge, 'act' AS role
FROM begun u
JOIN mechanisms m ON m.death = u.death AND m.fact <> u.fact AND m.time >= u.time - 5000000000
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, edge, 'act' AS role
FROM begun
UNION ALL
-- Who is called after upgrades and deletes a pod of a machine that nothing was done to is not known to upgrade it.
SELECT u.death, u.fact AS cause, CAST(NULL AS BIGINT) AS effect,
  CASE WHEN u.signal = 'k8s.pod.deleted_by_upgrader' AND l.death IS NULL THEN 'guess' ELSE 'asserted' END AS edge, 'act' AS role
FROM links u
LEFT JOIN looked_after l ON l.death = u.death
WHERE u.signal IN ('k8s.pod.evicted_by_upgrader', 'k8s.pod.deleted_by_upgrader')
  AND u.via = 'pod' AND u.mode IN ('killed', 'lost')
UNION ALL
-- What is done to a whole pool befalls its nodes one after the other, some not at all: it counts
-- for a node that was then closed, emptied or replaced, and by nobody who does that on their own.
-- A repair follows a fault: where the node had fallen silent, or reported one, that is what needs explaining.
SELECT u.death, u.fact AS cause, m.fact AS effect, 'inferred' AS edge, 'act' AS role
FROM links u
JOIN mechanisms m ON m.death = u.death AND m.time >= u.time
LEFT JOIN (
  SELECT DISTINCT death FROM links
  WHERE signal IN ('k8s.node.cordoned_by_user', 'k8s.node.cordoned_by_autoscaler', 'k8s.node.cordoned_by_remediator',
                   'k8s.pod.evicted_by_user', 'k8s.pod.evicted_by_autoscaler', 'k8s.pod.evicted_by_remediator',
                   'node.poweroff_requested', 'node.reboot_requested',
                   'k8s.pod.evicted_by_kueue', 'k8s.pod.deleted_by_user', 'k8s.pod.deleted_by_autoscaler',
                   'k8s.node.deleted_by_user', 'k8s.node.deleted_by_autoscaler', 'autoscaler.scale_down',
                   'autoscaler.disrupted', 'autoscaler.marked', 'cloud.instance_deleted_by_user', 'cloud.instance_stopped_by_user',
                   'cloud.instance_reset_by_user')
      AND via IN ('node', 'pod')
    -- A controller of one's own does as well; what the platform runs in the cluster carries the upgrade out.
    OR signal IN ('k8s.node.cordoned_by_controller', 'k8s.pod.evicted_by_controller') AND via IN ('node', 'pod')
      AND actor LIKE 'system:serviceaccount:%' AND actor NOT LIKE 'system:serviceaccount:kube-system:%') own ON own.death = u.death
LEFT JOIN (
  SELECT DISTINCT death FROM links
  WHERE signal IN ('k8s.node.not_ready', 'k8s.node.silent', 'k8s.node.unreachable', 'cloud.host_error')
     OR via IN ('node', 'pod') AND lag_s BETWEEN 0 AND 3900
        AND signal IN ('gpu.unhealthy', 'gpu.missing', 'gpu.hardware_error', 'gpu.firmware_error', 'gpu.memory_error', 'gpu.nvlink_error',
                       'gpu.allocatable_dropped', 'kernel.panic', 'kernel.machine_check', 'kernel.disk_error',
                       'kernel.pcie_error.fatal', 'nic.error', 'node.hardware_alert')) fault
  ON fault.death = u.death AND u.signal = 'repair.started'
WHERE u.signal IN ('upgrade.started', 'repair.started') AND u.via = 'pool' AND u.mode IN ('killed', 'lost')
  AND own.death IS NULL AND fault.death IS NULL
  AND (m.signal LIKE 'k8s.node.cordoned%' OR m.signal LIKE 'k8s.node.deleted%' OR m.signal LIKE 'k8s.pod.evicted_by_%'
    OR m.signal IN ('k8s.pod.evicted.api', 'k8s.pod.evicted.podgc', 'k8s.node.drained', 'k8s.node.shutdown',
                    'k8s.pod.node_shutdown', 'k8s.node.gone_in_cloud', 'cloud.instance_recreated',
                    'cloud.instance_deleted_by_cloud', 'cloud.instance_deleted_by_controller'))
UNION ALL
-- What is upgraded is restarted for that; a person may stop a service at that time as well.
SELECT u.death, u.fact AS cause, s.fact AS effect, 'guess' AS edge, 'act' AS role
FROM links u
JOIN links s ON s.death = u.death AND s.via = 'pod' AND s.signal = 'unit.stopping' AND s.mode = 'killed'
  AND s.time - u.time BETWEEN 0 AND 1800000000000
LEFT JOIN links r ON r.death = u.death AND r.via = 'pod' AND r.signal = 'unit.stop_requested'
WHERE u.signal = 'node.upgrading' AND u.via = 'node' AND r.fact IS NULL
UNION ALL
-- Alerts are silenced before maintenance; a silence alone proves none.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'context' AS edge, 'act' AS role
FROM links
WHERE via IN ('node', 'pod') AND mode IN ('killed', 'lost')
  AND ((signal = 'alert.silenced' AND due_s BETWEEN -600 AND 0) OR (signal = 'note.maintenance' AND lag_s BETWEEN -600 AND 3900))
