-- cause: sched.kueue_preempted
-- title: Preempted by Kueue
-- rank: 62
-- level: established
-- needs: kueue.preempted, kueue.pod_terminated.preempted, k8s.workload.suspended
-- overturned_by: audit: who requested it
-- summary: Kueue preempted {workload} to make room for another workload.
-- advice: Wait for Kueue to requeue the workload, which it does automatically; use a queue with guaranteed quota if it must not be interrupted.
--
-- A workload is evicted for other reasons as well: past its time limit (code.deadline), for pods that did not
-- become ready, a stopped queue, a check withdrawn (sched.kueue_evicted), a node that failed (node.not_ready). Only the word
-- "Preempted" says that another workload took its place.
WITH late AS (
  SELECT DISTINCT death FROM links
  WHERE via = 'workload' AND signal IN ('kueue.evicted.deadline', 'kueue.evicted.pods_ready_timeout', 'kueue.evicted.node_failures',
                                        'kueue.evicted.stopped', 'kueue.evicted.deactivated', 'kueue.evicted.admission_check')
)
SELECT e.death, e.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'act' AS role
FROM links e
WHERE e.signal = 'kueue.preempted'
  AND e.via = 'workload' AND e.mode = 'killed' AND e.lag_s BETWEEN -30 AND 600 AND e.death NOT IN (SELECT death FROM late)
UNION ALL
SELECT p.death, p.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'asserted' AS edge, 'act' AS role
FROM links p
WHERE p.signal = 'kueue.pod_terminated.preempted' AND p.via = 'pod' AND p.mode = 'killed' AND p.death NOT IN (SELECT death FROM late)
UNION ALL
-- The queue's own word says which workload; the pod, that it ended for that.
SELECT e.death, e.fact AS cause, p.fact AS effect, 'asserted' AS edge, 'act' AS role
FROM links e
JOIN links p ON p.death = e.death AND p.via = 'pod' AND p.signal IN ('kueue.pod_terminated', 'kueue.pod_terminated.preempted')
WHERE e.signal = 'kueue.preempted' AND e.via = 'workload' AND e.mode = 'killed' AND e.lag_s BETWEEN -30 AND 600
  AND e.death NOT IN (SELECT death FROM late)
UNION ALL
SELECT p.death, p.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'asserted' AS edge, 'act' AS role
FROM links p
JOIN links e ON e.death = p.death AND e.via = 'workload' AND e.signal = 'kueue.preempted' AND e.lag_s BETWEEN -30 AND 600
WHERE p.signal = 'kueue.pod_terminated' AND p.via = 'pod' AND p.mode = 'killed' AND p.death NOT IN (SELECT death FROM late)
UNION ALL
-- What was preempted waits for quota again, and its Workload says both: the wait follows from it.
SELECT e.death, e.fact AS cause, w.fact AS effect, 'asserted' AS edge, 'act' AS role
FROM links e
JOIN links w ON w.death = e.death AND w.via = 'workload' AND w.signal = 'kueue.pending' AND w.time >= e.time - 5000000000
WHERE e.signal = 'kueue.preempted' AND e.via = 'workload' AND e.state IN ('never_created', 'never_scheduled')
UNION ALL
-- Kueue suspends what it preempts: where no pod is left to tell of it, both words are of one moment. That it was suspended alone
-- says not who wanted it; this word does.
SELECT e.death, e.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'act' AS role
FROM links e
JOIN links s ON s.death = e.death AND s.via = 'workload' AND s.signal = 'k8s.workload.suspended'
  AND s.time - e.time BETWEEN -5000000000 AND 60000000000
WHERE e.signal = 'kueue.preempted' AND e.via = 'workload' AND e.state = 'never_created' AND e.death NOT IN (SELECT death FROM late)
UNION ALL
SELECT e.death, e.fact AS cause, s.fact AS effect, 'asserted' AS edge, 'act' AS role
FROM links e
JOIN links s ON s.death = e.death AND s.via = 'workload' AND s.signal = 'k8s.workload.suspended'
  AND s.time - e.time BETWEEN -5000000000 AND 60000000000
WHERE e.signal = 'kueue.preempted' AND e.via = 'workload' AND e.state = 'never_created' AND e.death NOT IN (SELECT death FROM late)
