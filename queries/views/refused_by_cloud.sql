-- Machines that a pod or a batch job waits for and that a cloud refused to create, with what waits for them. If the
-- refusal is recorded on the pod itself, it explains whatever keeps the pod from a node: an empty node group has no
-- node that could lack anything. If it is recorded on a node group, it explains only a lack of room.
SELECT u.death, u.fact, u.signal, m.fact AS effect,
  -- What a cloud refused someone in the same account it may have refused to others, unless the cluster's own autoscaler asked.
  CASE WHEN u.via = 'cluster' AND u.source_kind IN ('aws', 'azure', 'gcp') AND t.death IS NULL THEN 'guess' ELSE 'inferred' END AS edge
FROM links u
JOIN links m ON m.death = u.death AND m.via = 'pod' AND m.signal LIKE 'k8s.pod.unschedulable.%'
LEFT JOIN (SELECT DISTINCT death FROM links WHERE via = 'pod' AND signal = 'autoscaler.scale_up') t ON t.death = u.death
WHERE u.signal IN ('autoscaler.scale_up.stockout', 'autoscaler.scale_up.cloud_quota')
  AND u.state = 'never_scheduled' AND u.lag_s BETWEEN -86400 AND 900
  AND (u.via = 'pod'
    OR (u.via = 'cluster' AND m.signal IN ('k8s.pod.unschedulable.capacity', 'k8s.pod.unschedulable.gang')
      AND u.death NOT IN (SELECT death FROM not_asked_for)))
UNION ALL
SELECT death, fact, signal, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge
FROM links
WHERE signal IN ('autoscaler.scale_up.stockout', 'autoscaler.scale_up.cloud_quota')
  AND via = 'pod' AND state = 'never_scheduled' AND lag_s BETWEEN -86400 AND 900
UNION ALL
-- Asked for by Slurm's own program, for a job that it had already given to the machine.
SELECT DISTINCT death, fact, signal, effect, 'inferred' AS edge
FROM not_made
WHERE signal IN ('autoscaler.scale_up.stockout', 'autoscaler.scale_up.cloud_quota')
