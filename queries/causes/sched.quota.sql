-- cause: sched.quota
-- title: Not enough quota for the pods
-- title_of: slurm.waiting.quota: Not enough quota
-- rank: 35
-- level: established
-- needs: k8s.quota.exceeded, kueue.pending, slurm.waiting.quota
-- summary: There is not enough quota to start {workload}: {message}
-- advice: Free up quota in the namespace or queue, or request less.
-- advice_of: slurm.waiting.quota: Wait until other jobs of the same user, account or quality of service end, request less, or have the limit raised.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'asserted' AS edge, 'state' AS role
FROM links
WHERE signal = 'k8s.quota.exceeded' AND via = 'workload'
  AND state IN ('never_created', 'never_scheduled')
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'asserted' AS edge, 'state' AS role
FROM links
WHERE signal = 'kueue.pending' AND via = 'workload'
  AND state IN ('never_created', 'never_scheduled')
UNION ALL
-- Slurm says so itself, of a job that waits.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'asserted' AS edge, 'state' AS role
FROM links
WHERE signal = 'slurm.waiting.quota' AND via = 'pod' AND state = 'never_scheduled'
