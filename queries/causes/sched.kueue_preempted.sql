-- cause: sched.kueue_preempted
-- title: Preempted by Kueue
-- rank: 62
-- level: established
-- needs: kueue.preempted, kueue.evicted, kueue.pod_terminated
-- overturned_by: kubernetes_audit: who asked for it
-- summary: Kueue took the quota of {workload} away and stopped its pods.
-- advice: Kueue requeues the workload by itself; ask for a queue with guaranteed quota if it must not be interrupted.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'act' AS role
FROM ties
WHERE signal IN ('kueue.preempted', 'kueue.evicted')
  AND via = 'workload' AND mode = 'killed' AND lag_s BETWEEN -30 AND 600
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'asserted' AS edge, 'act' AS role
FROM ties
WHERE signal = 'kueue.pod_terminated' AND via = 'pod' AND mode = 'killed'
