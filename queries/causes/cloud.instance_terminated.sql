-- cause: cloud.instance_terminated
-- title: The machine was terminated
-- rank: 85
-- level: supported
-- needs: cloud.instance_terminating, k8s.node.gone_in_cloud, k8s.node.vm_stopped
-- needs: k8s.node.deleted_by_cloud, k8s.pod.evicted.podgc
-- needs: cloud.reservation_ended, cloud.instance_deleted, cloud.instance_stopped, cloud.instance_reset, cloud.instance_recreated
-- overturned_by: activity: who terminated the instance
-- summary: The machine behind {node} was terminated or stopped; {pod} {was} on it.
-- title_of: cloud.reservation_ended: Its capacity reservation ended
-- summary_of: cloud.reservation_ended: The capacity reservation of {node} ended, and the machine with it; {pod} {was} on it.
-- summary_of: cloud.instance_recreated: The instance group of {node} replaced the machine, which it had found missing or unhealthy; {pod} {was} on it.
-- summary_of: cloud.instance_deleted_by_cloud: The cloud or an instance group deleted or recreated the machine behind {node}; {pod} {was} on it.
-- advice: Check the cloud's activity log to see who terminated it.
-- advice_of: cloud.reservation_ended: Extend the reservation, or have runs save a checkpoint before it ends.
-- advice_of: cloud.instance_recreated: Read the activity of the instance group, which says why it replaced the machine, and the machine's status checks and console output.
-- advice_of: cloud.instance_deleted_by_cloud: Read the activity of the instance group (aws autoscaling describe-scaling-activities), which says why it removed the machine.
-- Of a node that is shown with the taint of a machine that is switched off, nobody knows since when it is.
WITH by_request AS (
  -- What a person asked for by name is that person's act, and no repair.
  SELECT DISTINCT death, record FROM links WHERE signal = 'cloud.instance_recreation_requested_by_user'
),
ended AS (
  SELECT u.death, u.fact, u.time,
    CASE WHEN u.signal = 'k8s.node.vm_stopped' AND u.time_hi - u.time > 3600000000000 THEN 'guess' ELSE 'inferred' END AS edge
  FROM links u
  WHERE (u.signal IN ('cloud.instance_terminating', 'k8s.node.gone_in_cloud', 'k8s.node.vm_stopped',
                      'k8s.node.deleted_by_cloud', 'cloud.instance_recreated', 'cloud.reservation_ended')
      OR (u.signal IN ('cloud.instance_deleted', 'cloud.instance_stopped', 'cloud.instance_reset') AND u.actor IS NULL)
      OR u.signal IN ('cloud.instance_deleted_by_cloud', 'cloud.instance_deleted_by_controller', 'cloud.instance_deleted_by_other',
                      'cloud.instance_stopped_by_cloud', 'cloud.instance_stopped_by_controller', 'cloud.instance_stopped_by_other'))
    AND u.mode IN ('killed', 'lost') AND u.via = 'node' AND u.lag_s BETWEEN -90 AND 3900
    AND NOT (u.signal = 'cloud.instance_recreated' AND EXISTS (SELECT 1 FROM by_request q WHERE q.death = u.death AND q.record = u.record))
    -- A machine that the cloud ended after a kubelet had stopped the pod in good order was ended without it; that it is gone is
    -- noticed later.
    AND (u.signal LIKE 'k8s.%' OR NOT EXISTS (SELECT 1 FROM stopped_in_order k WHERE k.death = u.death AND u.time_hi > k.time + 30000000000))
)
SELECT u.death, u.fact AS cause, m.fact AS effect, u.edge, 'act' AS role
FROM ended u
JOIN mechanisms m ON m.death = u.death AND m.fact <> u.fact AND m.time >= u.time - 5000000000
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, edge, 'act' AS role
FROM ended
UNION ALL
-- The instance itself, which its cloud or its group ended: why, only the group's activities say.
SELECT u.death, u.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'act' AS role
FROM links u
WHERE u.signal IN ('cloud.instance_deleted_by_cloud', 'cloud.instance_stopped_by_cloud', 'cloud.instance_recreated',
                   'cloud.instance_terminating')
  AND u.mode IN ('killed', 'lost') AND u.via = 'pod' AND u.lag_s BETWEEN -90 AND 900
  AND NOT (u.signal = 'cloud.instance_recreated' AND EXISTS (SELECT 1 FROM by_request q WHERE q.death = u.death AND q.record = u.record))
UNION ALL
-- A reservation ends when it was announced to, with its machines.
SELECT r.death, r.fact AS cause, t.fact AS effect, 'asserted' AS edge, 'act' AS role
FROM links r
JOIN links t ON t.death = r.death AND t.via = r.via AND t.signal = 'cloud.instance_terminating' AND t.time >= r.time
WHERE r.signal = 'cloud.reservation_ended' AND r.via IN ('node', 'pod') AND t.mode IN ('killed', 'lost')
  AND (r.due_s - t.lag_s BETWEEN -120 AND 1800 OR r.due_s IS NULL AND t.time - r.time <= 3600000000000)
UNION ALL
-- The cloud is asked for a machine within seconds of its silence: one that it does not know any more was gone by then.
SELECT u.death, u.fact AS cause, m.fact AS effect, 'inferred' AS edge, 'act' AS role
FROM links u
JOIN links m ON m.death = u.death AND m.mode IN ('killed', 'lost') AND u.time - m.time_hi BETWEEN 0 AND 60000000000
  AND m.signal IN ('k8s.node.not_ready', 'k8s.node.silent', 'k8s.node.unreachable', 'k8s.pod.node_lost')
WHERE u.signal IN ('k8s.node.gone_in_cloud', 'k8s.node.vm_stopped', 'k8s.node.deleted_by_cloud') AND u.via = 'node'
UNION ALL
-- Clouds take away nodes that had fallen silent; one that was deleted while it answered was somebody's deed.
SELECT p.death, p.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'guess' AS edge, 'state' AS role
FROM links p
LEFT JOIN answering n ON n.death = p.death
WHERE p.signal = 'k8s.pod.evicted.podgc' AND p.via = 'pod' AND p.mode IN ('killed', 'lost') AND n.death IS NULL
