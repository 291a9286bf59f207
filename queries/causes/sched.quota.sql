-- cause: sched.quota
-- title: Not enough quota for the pods
-- title_of: slurm.waiting.quota: Not enough quota
-- rank: 35
-- level: established
-- needs: k8s.quota.exceeded, kueue.pending, slurm.waiting.quota
-- summary: There is not enough quota to start {workload}: {message}
-- advice: Free up quota in the namespace or queue, or request less.
-- advice_of: slurm.waiting.quota: Wait until other jobs of the same user, account or QOS end, request less, or have the limit raised.
-- What ran later had got its pods, though none of them is in the input.
SELECT q.death, q.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'asserted' AS edge, 'state' AS role
FROM links q
LEFT JOIN links r ON r.death = q.death AND r.via = 'workload' AND r.signal = 'k8s.workload.running' AND r.time > q.time
WHERE q.signal = 'k8s.quota.exceeded' AND q.via = 'workload'
  AND q.state IN ('never_created', 'never_scheduled') AND (r.fact IS NULL OR q.state = 'never_scheduled')
UNION ALL
-- Of a Workload that was evicted Kueue repeats why, under the same reason: only a message about quota speaks of quota.
SELECT q.death, q.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'asserted' AS edge, 'state' AS role
FROM links q
LEFT JOIN links e ON e.death = q.death AND e.via = 'workload' AND e.signal = 'kueue.evicted' AND ABS(e.time - q.time) < 10000000000
WHERE q.signal = 'kueue.pending' AND q.via = 'workload'
  AND q.state IN ('never_created', 'never_scheduled') AND (q.detail IS NOT NULL OR e.fact IS NULL)
UNION ALL
-- Slurm says so itself, of a job that waits.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'asserted' AS edge, 'state' AS role
FROM links
WHERE signal = 'slurm.waiting.quota' AND via = 'pod' AND state = 'never_scheduled'
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, edge, 'state' AS role
FROM refused_members
WHERE signal = 'k8s.quota.exceeded'
