-- cause: sched.unschedulable_constraint
-- title: No node is allowed for it
-- rank: 29
-- level: established
-- needs: k8s.pod.unschedulable.constraint, k8s.pod.unschedulable.gated
-- summary: {pod} {was} never scheduled: {message}
-- advice: Check node selector, affinity and tolerations against the labels and taints of the nodes it should run on.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'asserted' AS edge, 'state' AS role
FROM ties
WHERE signal IN ('k8s.pod.unschedulable.constraint', 'k8s.pod.unschedulable.gated')
  AND via = 'pod' AND state = 'never_scheduled'
