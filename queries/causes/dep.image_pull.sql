-- cause: dep.image_pull
-- title: The image could not be pulled
-- rank: 25
-- level: established
-- needs: k8s.container.image_pull_failed*, k8s.pod.sandbox_failed.image
-- summary: {pod} could not start because its image could not be pulled: {message}
-- advice: Check the image name and tag, the registry, and the pull secret.
-- A full disk or a dead runtime of the node is told as a failed pull, too (dep.storage, node.runtime).
WITH elsewhere AS (
  SELECT DISTINCT death FROM links
  WHERE via = 'pod' AND signal IN ('k8s.container.image_pull_failed.no_space', 'k8s.container.image_pull_failed.runtime')
)
SELECT i.death, i.fact AS cause, CAST(NULL AS BIGINT) AS effect,
  CASE WHEN e.death IS NULL THEN 'asserted' ELSE 'guess' END AS edge, 'fault' AS role
FROM links i
LEFT JOIN elsewhere e ON e.death = i.death
WHERE i.signal LIKE 'k8s.container.image_pull_failed%' AND i.via = 'pod' AND i.state = 'stuck_starting'
  AND i.signal NOT IN ('k8s.container.image_pull_failed.no_space', 'k8s.container.image_pull_failed.runtime')
UNION ALL
-- The image of the sandbox is the cluster's, not the pod's; without it nothing starts on the node.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'asserted' AS edge, 'fault' AS role
FROM links
WHERE signal = 'k8s.pod.sandbox_failed.image' AND via = 'pod' AND state = 'stuck_starting'
UNION ALL
-- A deadline only ends the wait of a pod that never started.
SELECT d.death, u.fact AS cause, d.fact AS effect, 'inferred' AS edge, 'fault' AS role
FROM links d
JOIN links u ON u.death = d.death AND u.via = 'pod' AND u.signal LIKE 'k8s.container.image_pull_failed%'
LEFT JOIN links s ON s.death = d.death AND s.via = 'pod' AND s.signal = 'k8s.container.started'
WHERE d.signal IN ('k8s.workload.deadline', 'k8s.pod.deadline') AND d.mode = 'killed'
  AND d.exit_code IS NULL AND s.fact IS NULL
