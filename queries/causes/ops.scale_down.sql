-- cause: ops.scale_down
-- title: The autoscaler removed the node
-- rank: 90
-- level: established
-- needs: autoscaler.scale_down, autoscaler.scale_down.pod, autoscaler.disrupted, autoscaler.marked
-- needs: k8s.pod.evicted_by_autoscaler, k8s.pod.deleted_by_autoscaler
-- needs: k8s.node.deleted_by_autoscaler, k8s.node.cordoned_by_autoscaler, k8s.node.tainted_by_autoscaler
-- needs: cloud.instance_deleted_by_autoscaler, cloud.instance_stopped_by_autoscaler, cloud.instance_scaled_in
-- needs: cloud.group_resized_by_autoscaler
-- overturned_by: audit: who requested it
-- summary: An autoscaler removed {node} while {pod} {was} on it.
-- summary_of: cloud.instance_scaled_in: The instance group of {node} was made smaller, and {node} was terminated; {pod} {was} on it.
-- title_of: cloud.instance_scaled_in, cloud.group_resized_by_autoscaler: Its instance group was made smaller
-- summary_of: cloud.group_resized_by_autoscaler: An autoscaling rule made the instance group of {node} smaller, and {node} was removed; {pod} {was} on it.
-- summary_of: autoscaler.marked: Karpenter removed {node} while {pod} {was} on it; why, no record says.
-- advice_of: autoscaler.marked: Read the Events of the node and of its NodeClaim, or Karpenter's log: it also empties what the cloud takes away and what somebody deletes.
-- advice_of: cloud.group_resized_by_autoscaler: Check the rules in the group's autoscale settings, and keep training machines out of groups that a rule makes smaller.
-- advice_of: cloud.instance_scaled_in: Find out who or which scaling policy lowered the size of the group (CloudTrail: UpdateAutoScalingGroup, SetDesiredCapacity); protect training instances from scale-in.
-- advice: Annotate training pods so that they are not evicted (cluster-autoscaler.kubernetes.io/safe-to-evict: "false", karpenter.sh/do-not-disrupt: "true").
-- What it gave up again it did not do; and a person who drains the node later does so for reasons of their own.
WITH decided AS (
  -- Karpenter empties what others take or delete as well: that it decided so itself it says by a reason.
  SELECT DISTINCT death FROM links
  WHERE signal IN ('autoscaler.scale_down', 'autoscaler.scale_down.pod', 'autoscaler.disrupted') AND via IN ('node', 'pod')
), refused AS (
  -- Who was refused the eviction of a pod that its own Job took away later did not end it, whatever it had marked before.
  SELECT DISTINCT b.death FROM links b
  JOIN links j ON j.death = b.death AND j.time >= b.time
    AND (j.signal = 'k8s.workload.pod_deleted' AND j.via = 'named'
      OR j.signal = 'k8s.pod.deleted_by_controller' AND j.via = 'pod' AND regexp_like(COALESCE(j.actor, ''), ':(job|jobset)-controller'))
  LEFT JOIN links e ON e.death = b.death AND e.time >= b.time
    AND (e.via = 'pod' AND e.signal IN ('autoscaler.scale_down.pod', 'k8s.pod.evicted_by_autoscaler', 'k8s.pod.deleted_by_autoscaler')
      OR e.via = 'node' AND (e.signal LIKE 'k8s.node.deleted%' OR e.signal LIKE 'cloud.instance_%'))
  WHERE b.signal = 'k8s.pod.eviction_blocked' AND b.via = 'pod' AND regexp_like(COALESCE(b.actor, ''), 'autoscaler|karpenter')
    AND e.fact IS NULL
), removed AS (
  -- The Cluster Autoscaler gives pods ten minutes; what it marked long before, and left there, it may have let go.
  SELECT u.death, u.fact, u.time,
    -- Karpenter evicts at once, and waits for what must not be evicted.
    u.signal = 'autoscaler.scale_down' AND u.lag_s > 1500
      OR (u.signal IN ('autoscaler.disrupted', 'autoscaler.marked') OR u.signal IN ('k8s.node.cordoned_by_autoscaler', 'k8s.node.tainted_by_autoscaler') AND u.actor LIKE '%karpenter%') AND u.lag_s > 600
      OR o.death IS NOT NULL AS is_late,
    own.death IS NULL AND (u.signal = 'autoscaler.marked' OR u.signal LIKE 'k8s.node.%' AND COALESCE(u.actor, '') LIKE '%karpenter%') AS is_silent
  FROM links u
  LEFT JOIN decided own ON own.death = u.death
  LEFT JOIN ended_by_others o ON o.death = u.death
  LEFT JOIN refused r ON r.death = u.death
  LEFT JOIN links f ON f.death = u.death AND f.via = 'node' AND f.signal = 'autoscaler.scale_down_failed'
    AND f.time >= u.time AND f.lag_s >= 0 AND u.signal NOT IN ('k8s.node.deleted_by_autoscaler', 'cloud.instance_deleted_by_autoscaler')
  -- What was decided after the pod had been stopped in good order was decided of a machine without it.
  LEFT JOIN stopped_in_order k ON k.death = u.death AND u.time_hi > k.time + 5000000000
    AND u.signal IN ('autoscaler.disrupted', 'cloud.instance_scaled_in')
  WHERE u.signal IN ('autoscaler.scale_down', 'autoscaler.disrupted', 'autoscaler.marked', 'k8s.node.deleted_by_autoscaler',
                     'k8s.node.cordoned_by_autoscaler', 'k8s.node.tainted_by_autoscaler',
                     'cloud.instance_deleted_by_autoscaler', 'cloud.instance_stopped_by_autoscaler', 'cloud.instance_scaled_in')
    AND u.mode IN ('killed', 'lost') AND u.via = 'node' AND u.lag_s BETWEEN -90 AND 3900 AND f.fact IS NULL AND k.death IS NULL AND r.death IS NULL
)
SELECT u.death, u.fact AS cause, m.fact AS effect, CASE WHEN a.death IS NULL AND NOT u.is_late AND NOT u.is_silent THEN 'inferred' ELSE 'guess' END AS edge, 'act' AS role
FROM removed u
LEFT JOIN asked_for a ON a.death = u.death
JOIN mechanisms m ON m.death = u.death AND m.fact <> u.fact AND m.time >= u.time - 5000000000
UNION ALL
SELECT u.death, u.fact AS cause, CAST(NULL AS BIGINT) AS effect,
  CASE WHEN a.death IS NULL AND NOT u.is_late AND NOT u.is_silent THEN 'inferred' ELSE 'guess' END AS edge, 'act' AS role
FROM removed u
LEFT JOIN asked_for a ON a.death = u.death
UNION ALL
SELECT p.death, p.fact AS cause, CAST(NULL AS BIGINT) AS effect,
  CASE WHEN own.death IS NULL AND COALESCE(p.actor, '') LIKE '%karpenter%' THEN 'guess' ELSE 'asserted' END AS edge, 'act' AS role
FROM links p
LEFT JOIN decided own ON own.death = p.death
WHERE p.signal IN ('autoscaler.scale_down.pod', 'k8s.pod.evicted_by_autoscaler', 'k8s.pod.deleted_by_autoscaler')
  AND p.via = 'pod' AND p.mode IN ('killed', 'lost')
UNION ALL
-- A rule that makes a group smaller does not say which of its machines go: one that falls silent then, and that the cloud does
-- not know any more.
SELECT u.death, u.fact AS cause, m.fact AS effect, 'inferred' AS edge, 'act' AS role
FROM links u
JOIN (SELECT death, MIN(time) AS time FROM links WHERE via = 'node' AND signal IN ('k8s.node.gone_in_cloud', 'k8s.node.deleted_by_cloud')
      GROUP BY death) g ON g.death = u.death AND g.time - u.time BETWEEN 0 AND 900000000000
JOIN mechanisms m ON m.death = u.death AND m.time BETWEEN u.time - 5000000000 AND u.time + 900000000000
  AND m.signal IN ('k8s.node.not_ready', 'k8s.node.silent', 'k8s.pod.node_lost', 'k8s.node.gone_in_cloud', 'k8s.node.shutdown')
LEFT JOIN asked_for a ON a.death = u.death
WHERE u.signal = 'cloud.group_resized_by_autoscaler' AND u.via = 'pool' AND u.mode IN ('killed', 'lost') AND a.death IS NULL
UNION ALL
-- The instance itself: the record names it.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'asserted' AS edge, 'act' AS role
FROM links
WHERE signal IN ('cloud.instance_deleted_by_autoscaler', 'cloud.instance_stopped_by_autoscaler', 'cloud.instance_scaled_in')
  AND via = 'pod' AND mode IN ('killed', 'lost') AND lag_s BETWEEN -5 AND 900
