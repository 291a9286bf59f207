-- cause: dep.image_pull
-- title: Its image cannot be pulled
-- rank: 25
-- level: established
-- needs: k8s.container.image_pull_failed*
-- summary: {pod} could not start: its image cannot be pulled. {message}
-- advice: Check the image name and tag, the registry, and the pull secret.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'asserted' AS edge, 'fault' AS role
FROM ties
WHERE signal LIKE 'k8s.container.image_pull_failed%' AND via = 'pod' AND state = 'stuck_starting'
