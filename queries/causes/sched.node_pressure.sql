-- cause: sched.node_pressure
-- title: Evicted by the kubelet: the node ran low on resources
-- rank: 50
-- level: established
-- needs: k8s.pod.evicted.pressure, k8s.pod.evicted.other
-- summary: The kubelet evicted {pod} from {node}: {message}
-- summary_of: k8s.pod.evicted.other: {pod} {was} evicted from {node} by its kubelet, which most often does so when the node runs low on resources.
-- advice: Set requests close to what the pod really uses, and find out what else filled the node.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'asserted' AS edge, 'act' AS role
FROM links
WHERE signal = 'k8s.pod.evicted.pressure' AND via = 'pod' AND mode IN ('killed', 'lost')
UNION ALL
-- Its status says no more than that; only kubelets write so, for memory, disk or processes of the node, or the pod's own disk.
SELECT o.death, o.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'guess' AS edge, 'claim' AS role
FROM links o
LEFT JOIN (SELECT DISTINCT death FROM links
           WHERE via = 'pod' AND (signal LIKE 'k8s.pod.evicted.%' AND signal <> 'k8s.pod.evicted.other' OR signal LIKE 'k8s.pod.evicted_by_%')) why
  ON why.death = o.death
WHERE o.signal = 'k8s.pod.evicted.other' AND o.via = 'pod' AND o.mode IN ('killed', 'lost') AND why.death IS NULL
  -- An Event of that reason is its writer's.
  AND COALESCE(o.actor, 'kubelet') = 'kubelet'
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'context' AS edge, 'state' AS role
FROM links
WHERE signal LIKE 'k8s.node.pressure.%' AND via = 'node' AND mode = 'killed' AND lag_s BETWEEN -30 AND 900
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'context' AS edge, 'state' AS role
FROM links
WHERE signal IN ('metric.filesystem_full', 'memory.node_exhausted', 'alert.node_disk', 'alert.node_memory') AND via = 'node' AND mode = 'killed' AND lag_s BETWEEN -30 AND 900
