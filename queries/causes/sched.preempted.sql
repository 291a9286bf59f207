-- cause: sched.preempted
-- title: Preempted by the scheduler
-- rank: 60
-- level: established
-- needs: k8s.pod.preempted, k8s.pod.evicted.kubelet_preempted, k8s.pod.deleted_by_scheduler
-- needs: slurm.preempted, k8s.pod.reclaimed, k8s.pod.shuffled
-- overturned_by: audit: who requested it
-- summary: {pod} {was} preempted on {node} to make room for {other}.
-- summary_of: slurm.preempted: {pod} {was} preempted to make room for {other}.
-- advice: Give the job a higher priority, or run it where no job of higher priority can claim its nodes; it can be resubmitted unchanged.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'asserted' AS edge, 'act' AS role
FROM links
WHERE signal IN ('k8s.pod.preempted', 'k8s.pod.evicted.kubelet_preempted')
  AND via = 'pod' AND mode IN ('killed', 'lost')
UNION ALL
-- Volcano gives a queue its share back, or moves pods closer together; not for a pod of higher priority.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'asserted' AS edge, 'act' AS role
FROM links
WHERE signal IN ('k8s.pod.reclaimed', 'k8s.pod.shuffled') AND via = 'pod' AND mode IN ('killed', 'lost')
UNION ALL
-- A scheduler deletes pods for nothing else; which pod it was for is not said.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'act' AS role
FROM links
WHERE signal = 'k8s.pod.deleted_by_scheduler' AND via = 'pod' AND mode IN ('killed', 'lost')
UNION ALL
-- Slurm says that it was preempted; its controller also for which job.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect,
  CASE WHEN detail LIKE 'slurm/%' THEN 'asserted' ELSE 'inferred' END AS edge, 'act' AS role
FROM links
WHERE signal = 'slurm.preempted' AND via = 'pod' AND mode = 'killed' AND lag_s BETWEEN -60 AND 60
