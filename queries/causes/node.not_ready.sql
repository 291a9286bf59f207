-- cause: node.not_ready
-- title: Its node stopped answering
-- rank: 58
-- level: established
-- needs: k8s.node.not_ready, k8s.node.silent, k8s.pod.evicted.taint, k8s.pod.node_lost
-- needs: slurm.node_fail, slurm.node.down, slurm.node.not_responding
-- overturned_by: kubernetes_audit: whether somebody stopped the node
-- overturned_by: kernel: why the machine fell silent
-- summary: {node} stopped answering; {pod} was on it.
-- advice: Look at the machine: its console, BMC and kernel log tell why it fell silent; keep it out of the pool until then.
SELECT u.death, u.fact AS cause, m.fact AS effect, 'asserted' AS edge, 'fault' AS role
FROM ties u
JOIN ties m ON m.death = u.death AND m.via = 'pod' AND m.signal = 'k8s.pod.evicted.taint'
  AND m.time >= u.time - 5000000000
WHERE u.signal IN ('k8s.node.not_ready', 'k8s.node.silent') AND u.via = 'node'
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'asserted' AS edge, 'act' AS role
FROM ties
WHERE signal = 'k8s.pod.evicted.taint' AND via = 'pod' AND mode IN ('killed', 'lost')
UNION ALL
-- A node that somebody took out of service had not fallen silent.
SELECT u.death, u.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'fault' AS role
FROM ties u
LEFT JOIN ties hand ON hand.death = u.death AND hand.fact = u.fact AND hand.signal = 'slurm.node.set_down'
WHERE u.signal IN ('k8s.node.not_ready', 'k8s.node.silent', 'slurm.node.down', 'slurm.node.not_responding')
  AND u.via = 'node' AND u.mode = 'lost' AND u.lag_s BETWEEN -60 AND 3600 AND hand.fact IS NULL
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'asserted' AS edge, 'fault' AS role
FROM ties
WHERE signal = 'k8s.pod.node_lost' AND via = 'pod' AND mode IN ('killed', 'lost')
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'context' AS edge, 'state' AS role
FROM ties
WHERE signal = 'k8s.node.unreachable' AND via = 'node' AND mode IN ('killed', 'lost')
  AND lag_s BETWEEN -600 AND 900
UNION ALL
-- Slurm says that a node of the job failed; on several nodes it does not say which.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'claim' AS role
FROM ties
WHERE signal = 'slurm.node_fail' AND via = 'pod' AND mode = 'lost' AND lag_s BETWEEN -60 AND 60
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'context' AS edge, 'claim' AS role
FROM ties
WHERE signal IN ('alert.node_not_ready', 'metric.target_down') AND via = 'node' AND mode IN ('killed', 'lost') AND lag_s BETWEEN -600 AND 900
