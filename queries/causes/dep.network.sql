-- cause: dep.network
-- title: The pod network failed
-- rank: 24
-- level: established
-- needs: k8s.pod.sandbox_failed*, k8s.node.network_unavailable
-- summary: {pod} could not start: its network could not be set up. {message}
-- advice: Look at the CNI plugin on that node and at free addresses.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'asserted' AS edge, 'fault' AS role
FROM ties
WHERE signal LIKE 'k8s.pod.sandbox_failed%' AND via = 'pod' AND state = 'stuck_starting'
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'context' AS edge, 'state' AS role
FROM ties
WHERE signal = 'k8s.node.network_unavailable' AND via = 'node' AND state = 'stuck_starting'
