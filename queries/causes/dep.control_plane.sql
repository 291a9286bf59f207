-- cause: dep.control_plane
-- title: The control plane could not make its pods
-- rank: 28
-- level: supported
-- needs: k8s.workload.create_failed.control_plane
-- summary: {workload} could not get its pods: {message}
-- advice: Look at the API server and the webhook named.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'asserted' AS edge, 'fault' AS role
FROM ties
WHERE signal = 'k8s.workload.create_failed.control_plane' AND via = 'workload' AND state = 'never_created'
