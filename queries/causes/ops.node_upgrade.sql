-- cause: ops.node_upgrade
-- title: Upgrade of the node
-- rank: 95
-- level: supported
-- needs: upgrade.started, upgrade.announced, k8s.pod.evicted_by_upgrader
-- needs: k8s.pod.deleted_by_upgrader, k8s.node.cordoned_by_upgrader
-- summary: {node} was upgraded; {pod} was on it.
-- advice: Set a maintenance window or exclusion for the pool while long jobs run.
SELECT u.death, u.fact AS cause, m.fact AS effect, 'inferred' AS edge, 'act' AS role
FROM ties u
JOIN mechanisms m ON m.death = u.death AND m.fact <> u.fact AND m.time >= u.time - 5000000000
WHERE u.signal IN ('upgrade.started', 'k8s.node.cordoned_by_upgrader') AND u.mode IN ('killed', 'lost') AND u.via = 'node' AND u.lag_s BETWEEN -90 AND 3900
UNION ALL
SELECT u.death, u.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'act' AS role
FROM ties u
WHERE u.signal IN ('upgrade.started', 'k8s.node.cordoned_by_upgrader') AND u.mode IN ('killed', 'lost') AND u.via = 'node' AND u.lag_s BETWEEN -90 AND 3900
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'asserted' AS edge, 'act' AS role
FROM ties
WHERE signal IN ('k8s.pod.evicted_by_upgrader', 'k8s.pod.deleted_by_upgrader')
  AND via = 'pod' AND mode IN ('killed', 'lost')
