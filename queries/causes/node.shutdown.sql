-- cause: node.shutdown
-- title: Its node shut down
-- rank: 74
-- level: supported
-- needs: k8s.pod.node_shutdown, k8s.node.shutdown, k8s.pod.admission_failed.shutdown
-- overturned_by: maintenance: who shut the node down
-- summary: {node} shut down under {pod}.
-- advice: Find out who shut the machine down: its journal, the cloud, or the data centre's maintenance log.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'asserted' AS edge, 'claim' AS role
FROM ties
WHERE signal = 'k8s.pod.node_shutdown' AND via = 'pod' AND state IN ('died', 'restarted', 'crash_loop')
UNION ALL
SELECT u.death, u.fact AS cause, m.fact AS effect, 'inferred' AS edge, 'fault' AS role
FROM ties u
JOIN mechanisms m ON m.death = u.death AND m.fact <> u.fact AND m.time >= u.time - 5000000000
WHERE u.signal = 'k8s.node.shutdown' AND u.mode IN ('killed', 'lost') AND u.via = 'node' AND u.lag_s BETWEEN -60 AND 600
UNION ALL
SELECT u.death, u.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'fault' AS role
FROM ties u
WHERE u.signal = 'k8s.node.shutdown' AND u.mode IN ('killed', 'lost') AND u.via = 'node' AND u.lag_s BETWEEN -60 AND 600
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'claim' AS role
FROM ties
WHERE signal = 'k8s.pod.admission_failed.shutdown' AND via = 'pod' AND state = 'died'
