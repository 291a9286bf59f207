-- cause: cloud.quota
-- title: The cloud account has reached its quota
-- rank: 33
-- level: supported
-- needs: autoscaler.scale_up.cloud_quota
-- summary: {pod} needs machines that the cloud account's quota does not allow: {message}
-- advice: Request more quota from the cloud, or release machines that are not needed.
--
-- Told of the pod itself, it explains whatever keeps the pod from a node: a group that is empty
-- shows no node to lack anything. Told of a group, it explains only that there is no room.
SELECT u.death, u.fact AS cause, m.fact AS effect,
  -- What a cloud refused somebody in the same account it may have refused to others, unless the cluster's own autoscaler asked.
  CASE WHEN u.via = 'cluster' AND u.source_kind IN ('aws', 'azure', 'gcp') AND t.death IS NULL THEN 'guess' ELSE 'inferred' END AS edge,
  'fault' AS role
FROM links u
JOIN links m ON m.death = u.death AND m.via = 'pod' AND m.signal LIKE 'k8s.pod.unschedulable.%'
LEFT JOIN (SELECT DISTINCT death FROM links WHERE via = 'pod' AND signal = 'autoscaler.scale_up') t ON t.death = u.death
WHERE u.signal = 'autoscaler.scale_up.cloud_quota' AND u.state = 'never_scheduled' AND u.lag_s BETWEEN -86400 AND 900
  AND (u.via = 'pod'
    OR (u.via = 'cluster' AND m.signal IN ('k8s.pod.unschedulable.capacity', 'k8s.pod.unschedulable.gang')
      AND u.death NOT IN (SELECT death FROM not_asked_for)))
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'fault' AS role
FROM links
WHERE signal = 'autoscaler.scale_up.cloud_quota' AND via = 'pod' AND state = 'never_scheduled' AND lag_s BETWEEN -86400 AND 900
UNION ALL
-- Asked for by Slurm's own program, for a job that it had already given to the machine.
SELECT DISTINCT death, fact AS cause, effect, 'inferred' AS edge, 'fault' AS role
FROM not_made
WHERE signal = 'autoscaler.scale_up.cloud_quota'
