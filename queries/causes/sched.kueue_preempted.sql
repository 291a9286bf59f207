-- cause: sched.kueue_preempted
-- title: Preempted by Kueue
-- rank: 62
-- level: established
-- needs: kueue.preempted, kueue.evicted, kueue.pod_terminated
-- overturned_by: audit: who requested it
-- summary: Kueue reclaimed the quota of {workload} and stopped its pods.
-- advice: Kueue requeues the workload automatically; use a queue with guaranteed quota if it must not be interrupted.
--
-- A workload is evicted for other reasons as well: past its time limit (code.deadline), for pods that did not
-- become ready, a stopped queue, a check withdrawn (sched.kueue_evicted), a node that failed (node.not_ready).
SELECT e.death, e.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'act' AS role
FROM links e
LEFT JOIN links late ON late.death = e.death AND late.via = 'workload' AND late.signal IN ('kueue.evicted.deadline', 'kueue.evicted.pods_ready_timeout', 'kueue.evicted.node_failures',
                                                              'kueue.evicted.stopped', 'kueue.evicted.deactivated', 'kueue.evicted.admission_check')
WHERE e.signal IN ('kueue.preempted', 'kueue.evicted')
  AND e.via = 'workload' AND e.mode = 'killed' AND e.lag_s BETWEEN -30 AND 600 AND late.fact IS NULL
UNION ALL
SELECT p.death, p.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'asserted' AS edge, 'act' AS role
FROM links p
LEFT JOIN links late ON late.death = p.death AND late.via = 'workload' AND late.signal IN ('kueue.evicted.deadline', 'kueue.evicted.pods_ready_timeout', 'kueue.evicted.node_failures',
                                                              'kueue.evicted.stopped', 'kueue.evicted.deactivated', 'kueue.evicted.admission_check')
WHERE p.signal = 'kueue.pod_terminated' AND p.via = 'pod' AND p.mode = 'killed' AND late.fact IS NULL
UNION ALL
-- What was preempted waits for quota again, and its Workload says both: the wait follows from it.
SELECT e.death, e.fact AS cause, w.fact AS effect, 'asserted' AS edge, 'act' AS role
FROM links e
JOIN links w ON w.death = e.death AND w.via = 'workload' AND w.signal = 'kueue.pending' AND w.time >= e.time - 5000000000
WHERE e.signal = 'kueue.preempted' AND e.via = 'workload' AND e.state IN ('never_created', 'never_scheduled')
