-- cause: sched.unschedulable_capacity
-- title: No node has room for it
-- rank: 30
-- level: established
-- needs: k8s.pod.unschedulable.capacity, k8s.pod.unschedulable.gang
-- needs: k8s.pod.unschedulable.node_state, k8s.pod.admission_failed
-- summary: {pod} {was} never scheduled: {message}
-- advice: Compare what the pod asks for with what the largest node offers; wait for capacity or ask for less.
--
-- A request larger than any node has is a constraint as much as a lack of capacity;
-- capacity leads because the scheduler says so.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'asserted' AS edge, 'state' AS role
FROM ties
WHERE signal = 'k8s.pod.unschedulable.capacity' AND via = 'pod' AND state = 'never_scheduled'
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'state' AS role
FROM ties
WHERE signal IN ('k8s.pod.unschedulable.gang', 'k8s.pod.unschedulable.node_state')
  AND via = 'pod' AND state = 'never_scheduled'
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'state' AS role
FROM ties
WHERE signal = 'k8s.pod.admission_failed' AND via = 'pod' AND state = 'died'
