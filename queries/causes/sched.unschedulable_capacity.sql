-- cause: sched.unschedulable_capacity
-- title: No node has enough room
-- rank: 30
-- level: established
-- needs: k8s.pod.unschedulable.capacity, k8s.pod.unschedulable.gang
-- needs: k8s.pod.unschedulable.node_state, k8s.pod.admission_failed, slurm.waiting.capacity, kueue.no_topology
-- summary: No node had room for {pod}: {message}
-- summary_of: kueue.no_topology: Kueue found no place for {workload}: {message}
-- advice: Compare what the pod requests with what the largest node offers; wait for capacity or request less.
-- advice_of: slurm.waiting.capacity: Wait until nodes are free, or request fewer; sinfo shows which nodes are down or drained.
--
-- A request larger than any node has is a constraint as much as a lack of capacity;
-- capacity leads because the scheduler says so.
-- A node that has what is lacking and does not offer it makes its lack a symptom.
SELECT u.death, u.fact AS cause, CAST(NULL AS BIGINT) AS effect,
  CASE WHEN s.death IS NULL THEN 'asserted' ELSE 'inferred' END AS edge, 'state' AS role
FROM links u
LEFT JOIN (SELECT DISTINCT death FROM links WHERE signal = 'gpu.allocatable_short' AND via = 'pod') s ON s.death = u.death
WHERE u.signal = 'k8s.pod.unschedulable.capacity' AND u.via = 'pod' AND u.state = 'never_scheduled'
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'state' AS role
FROM links
WHERE signal IN ('k8s.pod.unschedulable.gang', 'k8s.pod.unschedulable.node_state')
  AND via = 'pod' AND state = 'never_scheduled'
UNION ALL
-- Refused by the kubelet: for room, unless it says for what else.
SELECT a.death, a.fact AS cause, CAST(NULL AS BIGINT) AS effect,
  CASE WHEN o.death IS NULL THEN 'inferred' ELSE 'guess' END AS edge, 'state' AS role
FROM links a
LEFT JOIN (SELECT DISTINCT death FROM links WHERE via = 'pod'
             AND signal IN ('k8s.pod.admission_failed.constraint', 'k8s.pod.admission_failed.shutdown', 'k8s.container.cannot_run.security_profile')) o
  ON o.death = a.death
WHERE a.signal = 'k8s.pod.admission_failed' AND a.via = 'pod' AND a.state = 'died'
  -- What does not fit by its labels, its ports or its system fits on no room.
  AND NOT EXISTS (SELECT 1 FROM links c WHERE c.death = a.death AND c.record = a.record AND c.signal = 'k8s.pod.admission_failed.constraint')
UNION ALL
-- A deadline only ends the wait of a pod that never started.
SELECT d.death, u.fact AS cause, d.fact AS effect, 'inferred' AS edge, 'state' AS role
FROM waited_out d
JOIN links u ON u.death = d.death AND u.via = 'pod' AND u.signal = 'k8s.pod.unschedulable.capacity'
UNION ALL
-- Slurm says so itself, of a job that waits.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'asserted' AS edge, 'state' AS role
FROM links
WHERE signal = 'slurm.waiting.capacity' AND via = 'pod' AND state = 'never_scheduled'
UNION ALL
-- Kueue places before it lets in, where flavors have a topology.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'asserted' AS edge, 'state' AS role
FROM links
WHERE signal = 'kueue.no_topology' AND via = 'workload' AND state IN ('never_created', 'never_scheduled')
