-- cause: sched.suspended
-- title: Created suspended, and not resumed since
-- rank: 20
-- level: supported
-- needs: k8s.workload.suspended
-- overturned_by: audit: who was to resume it
-- summary: {workload} was created suspended and nobody has resumed it, so it has no pods.
-- advice: If a queue such as Kueue is to admit it, look at its Workload object and at the quota of its queue; otherwise resume it by setting suspend to false.
--
-- Queues have their jobs made suspended and resume them when there is room. What the queue itself says
-- (sched.quota, sched.kueue_preempted) is further upstream.
SELECT s.death, s.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'state' AS role
FROM links s
LEFT JOIN links resumed ON resumed.death = s.death AND resumed.via = 'workload' AND resumed.signal = 'k8s.workload.resumed'
WHERE s.signal = 'k8s.workload.suspended' AND s.via = 'workload' AND s.state = 'never_created' AND s.lag_s >= -5
  AND resumed.fact IS NULL
  -- Who deletes what never ran ended it.
  AND s.death NOT IN (SELECT death FROM links WHERE via = 'workload' AND signal IN ('k8s.workload.deleted_by_user', 'k8s.namespace.deleted_by_user'))
