-- cause: sched.unschedulable_constraint
-- title: No node meets its constraints
-- rank: 29
-- level: established
-- needs: k8s.pod.unschedulable.constraint, k8s.pod.unschedulable.gated, slurm.waiting.constraint, slurm.waiting.dependency, slurm.waiting.turn, slurm.dependency_failed
-- needs: slurm.waiting.partition, slurm.waiting.cleaning
-- needs: k8s.pod.admission_failed.constraint
-- summary: {pod} {was} never scheduled: {message}
-- summary_of: slurm.dependency_failed: {pod} never ran because a job that it depended on had failed.
-- summary_of: slurm.waiting.turn: {pod} is waiting to start; Slurm gives the reason {detail}.
-- summary_of: slurm.waiting.dependency: {pod} will never run because the job that it depends on did not end as required.
-- summary_of: slurm.waiting.partition: {pod} cannot start because its partition is not starting jobs; Slurm gives the reason {detail}.
-- summary_of: slurm.waiting.cleaning: {pod} {was} requeued, and Slurm is still cleaning up after its previous run.
-- title_of: slurm.waiting.turn: Waiting to start
-- title_of: slurm.waiting.partition: The partition is down
-- title_of: slurm.waiting.cleaning: Requeued
-- title_of: slurm.waiting.dependency: A dependency was never satisfied
-- title_of: k8s.pod.unschedulable.gated: Held back by a scheduling gate
-- title_of: slurm.dependency_failed: A dependency was never satisfied
-- advice: Check the node selector, affinity and tolerations against the labels and taints of the nodes it should run on.
-- advice_of: k8s.pod.unschedulable.gated: Find out what should remove the gate; Kueue removes kueue.x-k8s.io/admission once it admits the workload (check kubectl get workloads, its queue and its quota).
-- advice_of: slurm.waiting.turn: Wait, or change what the job is waiting for: its start time, its dependency, the limit of its array or its burst buffer (scontrol show job).
-- advice_of: slurm.waiting.partition: Ask the administrators when the partition will be up again (scontrol show partition), or submit the job to another one.
-- advice_of: slurm.waiting.cleaning: Wait; if it takes long, look for processes of the previous run that still run on its nodes.
-- advice_of: slurm.waiting.dependency: Find out how the job that it depends on ended; cancel this job, and submit it again once that one has succeeded.
-- advice_of: slurm.dependency_failed: Find out how the job that it depended on ended, and submit this job again once that one has succeeded.
-- advice_of: slurm.waiting.constraint: Compare the reason that Slurm gives with the limits of the partition, account and QOS that the job was submitted to.
-- Of a pod that would fit if there were room, the nodes that it may not use are not what is missing.
SELECT c.death, c.fact AS cause, CAST(NULL AS BIGINT) AS effect,
  CASE WHEN room.fact IS NULL THEN 'asserted' ELSE 'guess' END AS edge, 'state' AS role
FROM links c
LEFT JOIN links room ON room.death = c.death AND room.record = c.record AND room.signal = 'k8s.pod.unschedulable.capacity'
WHERE c.signal IN ('k8s.pod.unschedulable.constraint', 'k8s.pod.unschedulable.gated')
  AND c.via = 'pod' AND c.state = 'never_scheduled'
UNION ALL
-- The kubelet checks again what the scheduler had checked: the node's labels or devices had changed.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'state' AS role
FROM links
WHERE signal = 'k8s.pod.admission_failed.constraint' AND via = 'pod' AND state = 'died'
UNION ALL
-- A deadline only ends the wait of a pod that never started.
SELECT d.death, u.fact AS cause, d.fact AS effect, 'inferred' AS edge, 'state' AS role
FROM waited_out d
JOIN links u ON u.death = d.death AND u.via = 'pod' AND u.signal = 'k8s.pod.unschedulable.constraint'
UNION ALL
-- Slurm says so itself, of a job that waits.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'asserted' AS edge, 'state' AS role
FROM links
WHERE signal IN ('slurm.waiting.constraint', 'slurm.waiting.dependency', 'slurm.waiting.turn', 'slurm.waiting.partition',
                 'slurm.waiting.cleaning') AND via = 'pod' AND state = 'never_scheduled'
UNION ALL
-- It takes away what waits for a job that failed.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'asserted' AS edge, 'act' AS role
FROM links
WHERE signal = 'slurm.dependency_failed' AND via = 'pod' AND lag_s BETWEEN -60 AND 60
