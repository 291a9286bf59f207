-- cause: sched.kueue_evicted
-- title: Stopped by Kueue
-- rank: 61
-- level: established
-- needs: k8s.workload.suspension_requested_by_kueue, k8s.workload.updated_by_kueue, kueue.deactivation_requested_by_*
-- needs: kueue.pod_terminated, kueue.evicted.node_failures, kueue.evicted.pods_ready_timeout, kueue.evicted.stopped, kueue.evicted.deactivated, kueue.evicted.admission_check
-- overturned_by: audit: who stopped the queue or deactivated the workload
-- summary: Kueue stopped {workload}: {message}
-- summary_of: kueue.pod_terminated: Kueue stopped {workload}; none of its records says why.
-- summary_of: k8s.workload.suspension_requested_by_kueue, k8s.workload.updated_by_kueue: Kueue suspended {workload}; none of its records says why.
-- summary_of: kueue.deactivation_requested_by_*: {workload} was deactivated in Kueue{by}, which stopped it.
-- summary_of: kueue.queue_stop_requested_by_*: The queue of {workload} was stopped{by}, and Kueue stopped the workload.
-- advice: Read why Kueue stopped it (kubectl describe workloads, the log of its controller).
-- advice_of: kueue.evicted.pods_ready_timeout: Find out why its pods were not ready in time, or raise the timeout (waitForPodsReady in Kueue's configuration).
-- advice_of: kueue.evicted.stopped, kueue.queue_stop_requested_by_*: Find out why its queue was stopped (stopPolicy of the LocalQueue or ClusterQueue).
-- advice_of: kueue.evicted.deactivated: Find out why it was deactivated (spec.active of the workload): by a person, or by Kueue after too many attempts.
-- advice_of: kueue.deactivation_requested_by_*: Find out why it was deactivated; there is no sign of a fault.
-- advice_of: kueue.evicted.admission_check: Find out why the admission check was withdrawn (kubectl describe workloads).
--
-- Past its time limit is code.deadline, a failed node node.not_ready, another workload sched.kueue_preempted.
WITH why AS (
  SELECT death, fact, time, lag_s, mode FROM links
  WHERE signal IN ('kueue.evicted.pods_ready_timeout', 'kueue.evicted.stopped', 'kueue.evicted.deactivated', 'kueue.evicted.admission_check')
    AND via = 'workload' AND mode = 'killed' AND lag_s BETWEEN -30 AND 600
    AND death NOT IN (SELECT death FROM links WHERE via = 'workload' AND signal = 'kueue.evicted.deadline')
),
-- An audit log of metadata says that Kueue wrote the job, and not what: where the job is suspended at once, that. Not where a person
-- had just written it, whom Kueue follows.
wrote AS (
  SELECT u.death, MAX(u.fact) AS fact, s.fact AS suspended
  FROM links u
  JOIN links s ON s.death = u.death AND s.via = 'workload' AND s.signal = 'k8s.workload.suspended'
    AND u.time BETWEEN s.time - 5000000000 AND s.time_hi
  LEFT JOIN links other ON other.death = u.death AND other.via IN ('pod', 'workload')
    AND (other.signal LIKE 'kueue.%' OR other.signal LIKE 'k8s.workload.suspension_requested_by_%'
      OR other.signal IN ('k8s.workload.created_suspended', 'k8s.workload.deadline')
      OR other.signal IN ('k8s.workload.failed', 'k8s.workload.backoff_limit') AND other.lag_s BETWEEN -5 AND 5
      OR other.signal IN ('k8s.workload.updated_by_user', 'k8s.workload.deleted_by_user') AND s.time_hi - other.time BETWEEN 0 AND 60000000000)
  WHERE u.signal = 'k8s.workload.updated_by_kueue' AND u.via = 'workload' AND other.fact IS NULL
    AND (u.mode = 'killed' AND u.lag_s BETWEEN -2 AND 120 OR u.state = 'never_created')
  GROUP BY u.death, s.fact
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
-- That it ended the pod it says itself, and not why.
SELECT p.death, p.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'act' AS role
FROM links p
LEFT JOIN links reason ON reason.death = p.death AND reason.via = 'workload' AND reason.signal LIKE 'kueue.%' AND reason.signal <> 'kueue.evicted'
  AND reason.lag_s BETWEEN -30 AND 600
LEFT JOIN links other ON other.death = p.death AND other.record = p.record AND other.signal = 'kueue.pod_terminated.preempted'
WHERE p.signal = 'kueue.pod_terminated' AND p.via = 'pod' AND p.mode = 'killed' AND reason.fact IS NULL AND other.fact IS NULL
UNION ALL
-- Kueue suspends what it stops; why, its own records say, where there are any.
SELECT s.death, s.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'act' AS role
FROM links s
LEFT JOIN links reason ON reason.death = s.death AND reason.via IN ('pod', 'workload') AND reason.signal LIKE 'kueue.%'
LEFT JOIN links failed ON failed.death = s.death AND failed.via = 'workload'
  AND failed.signal IN ('k8s.workload.failed', 'k8s.workload.backoff_limit') AND failed.lag_s BETWEEN -5 AND 5
WHERE s.signal = 'k8s.workload.suspension_requested_by_kueue' AND s.via = 'workload' AND s.mode = 'killed'
  AND s.lag_s BETWEEN -2 AND 120 AND reason.fact IS NULL AND failed.fact IS NULL
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'act' AS role FROM wrote
UNION ALL
SELECT death, fact AS cause, suspended AS effect, 'asserted' AS edge, 'act' AS role FROM wrote
UNION ALL
-- Who deactivated the Workload had it stopped: the request names them.
SELECT who.death, who.fact AS cause, e.fact AS effect, 'asserted' AS edge, 'act' AS role
FROM links who
JOIN links e ON e.death = who.death AND e.via = 'workload' AND e.signal = 'kueue.evicted.deactivated'
  AND e.time - who.time BETWEEN -2000000000 AND 60000000000
WHERE who.signal LIKE 'kueue.deactivation_requested_by_%' AND who.via = 'workload' AND who.mode = 'killed'
  AND COALESCE(who.actor, '') NOT LIKE '%:kueue-controller-manager'
UNION ALL
-- Who stopped the queue had Kueue stop what it had let in: the request names them and the queue.
SELECT q.death, q.fact AS cause, e.fact AS effect, 'asserted' AS edge, 'act' AS role
FROM links q
JOIN links e ON e.death = q.death AND e.via = 'workload' AND e.signal = 'kueue.evicted.stopped'
  AND e.time_hi - q.time BETWEEN 0 AND 60000000000
WHERE q.signal LIKE 'kueue.queue_stop_requested_by_%' AND q.via = 'queue'
UNION ALL
-- Of one whose pods are not known it is why it waits again.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'asserted' AS edge, 'act' AS role
FROM links
WHERE signal IN ('kueue.evicted.pods_ready_timeout', 'kueue.evicted.stopped', 'kueue.evicted.deactivated', 'kueue.evicted.admission_check',
                 'kueue.evicted.node_failures')
  AND via = 'workload' AND state IN ('never_created', 'never_scheduled')
  -- A Workload is deactivated for its time limit, too.
  AND death NOT IN (SELECT death FROM links WHERE via = 'workload' AND signal = 'kueue.evicted.deadline')
