-- cause: sched.kueue_evicted
-- title: Stopped by Kueue, but not preempted
-- rank: 61
-- level: established
-- needs: kueue.evicted.pods_ready_timeout, kueue.evicted.stopped, kueue.evicted.deactivated, kueue.evicted.admission_check
-- overturned_by: audit: who stopped the queue or deactivated the workload
-- summary: Kueue stopped {workload}: {message}
-- advice: If pods were not ready in time, find out why; a queue is stopped or a workload deactivated because someone decided so.
--
-- Past its time limit is code.deadline, a failed node node.not_ready, another workload sched.kueue_preempted.
WITH why AS (
  SELECT death, fact, time, lag_s, mode FROM links
  WHERE signal IN ('kueue.evicted.pods_ready_timeout', 'kueue.evicted.stopped', 'kueue.evicted.deactivated', 'kueue.evicted.admission_check')
    AND via = 'workload' AND mode = 'killed' AND lag_s BETWEEN -30 AND 600
    AND death NOT IN (SELECT death FROM links WHERE via = 'workload' AND signal = 'kueue.evicted.deadline')
)
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'act' AS role FROM why
UNION ALL
SELECT w.death, w.fact AS cause, p.fact AS effect, 'asserted' AS edge, 'act' AS role
FROM why w
JOIN links p ON p.death = w.death AND p.via = 'pod' AND p.signal = 'kueue.pod_terminated'
UNION ALL
SELECT p.death, p.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'asserted' AS edge, 'act' AS role
FROM links p
WHERE p.signal = 'kueue.pod_terminated' AND p.via = 'pod' AND p.mode = 'killed' AND p.death IN (SELECT death FROM why)
UNION ALL
-- Of one whose pods are not known it is why it waits again.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'asserted' AS edge, 'act' AS role
FROM links
WHERE signal IN ('kueue.evicted.pods_ready_timeout', 'kueue.evicted.stopped', 'kueue.evicted.deactivated', 'kueue.evicted.admission_check')
  AND via = 'workload' AND state IN ('never_created', 'never_scheduled')
