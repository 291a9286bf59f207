-- cause: sched.node_pressure
-- title: Evicted by the kubelet: the node ran low on resources
-- rank: 50
-- level: established
-- needs: k8s.pod.evicted.pressure
-- summary: The kubelet evicted {pod} from {node}: {message}
-- advice: Set requests close to what the pod really uses; find out what else filled the node.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'asserted' AS edge, 'act' AS role
FROM links
WHERE signal = 'k8s.pod.evicted.pressure' AND via = 'pod' AND mode IN ('killed', 'lost')
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'context' AS edge, 'state' AS role
FROM links
WHERE signal LIKE 'k8s.node.pressure.%' AND via = 'node' AND mode = 'killed' AND lag_s BETWEEN -30 AND 900
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'context' AS edge, 'state' AS role
FROM links
WHERE signal IN ('metric.filesystem_full', 'memory.node_exhausted', 'alert.node_disk', 'alert.node_memory') AND via = 'node' AND mode = 'killed' AND lag_s BETWEEN -30 AND 900
