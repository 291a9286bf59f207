-- cause: dep.control_plane
-- title: The control plane refused or delayed a request
-- rank: 28
-- level: supported
-- needs: k8s.workload.create_failed.control_plane, log.control_plane, k8s.pod.unscheduled, k8s.workload.untouched, k8s.lease.past.scheduler, k8s.lease.past.controller_manager
-- summary: {workload} did not get what it needed from the control plane: {message}
-- summary_of: k8s.pod.unscheduled: No scheduler has acted on {pod}: {message}
-- summary_of: k8s.workload.untouched: No controller has acted on {workload}: {message}
-- summary_of: k8s.lease.past.scheduler: No scheduler has acted on {pod}, and kube-scheduler has been silent since its {message}
-- summary_of: k8s.lease.past.controller_manager: No controller has acted on {workload}, and kube-controller-manager has been silent since its {message}
-- advice: Check the API server, and the webhook if the message names one.
-- advice_of: k8s.pod.unscheduled, k8s.lease.past.scheduler: Check that the scheduler of the pod (spec.schedulerName) is running and renews its lease.
-- advice_of: k8s.workload.untouched, k8s.lease.past.controller_manager: Check that kube-controller-manager is running and renews its lease.
-- Who should have acted by now, and the lease that tells of them.
WITH not_acted_on AS (
  SELECT death, fact, via, 'k8s.lease.past.scheduler' AS lease FROM links
  WHERE signal = 'k8s.pod.unscheduled' AND via = 'pod' AND state = 'never_scheduled'
  UNION ALL
  SELECT death, fact, via, 'k8s.lease.past.controller_manager' AS lease FROM links
  WHERE signal = 'k8s.workload.untouched' AND via = 'workload' AND state = 'never_created'
)
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'asserted' AS edge, 'fault' AS role
FROM links
WHERE signal = 'k8s.workload.create_failed.control_plane' AND via = 'workload' AND state = 'never_created'
  -- What was suspended since has no pods for that.
  AND NOT EXISTS (SELECT 1 FROM links s WHERE s.death = links.death AND s.signal = 'k8s.workload.suspended' AND s.via = 'workload'
                  AND s.time > links.time_hi)
UNION ALL
-- What a program was refused is blamed where programs of other runs were refused at the same time. Of one alone it may be that it
-- asked too often; the exception that it ends in says no more than that it was refused.
SELECT e.death, e.fact AS cause, CAST(NULL AS BIGINT) AS effect,
  CASE WHEN e.shared AND t.death IS NULL THEN 'inferred' ELSE 'guess' END AS edge, 'fault' AS role
FROM links e
LEFT JOIN troubled t ON t.death = e.death
LEFT JOIN links w ON w.death = e.death AND w.record = e.record AND w.via = 'pod' AND w.signal = 'log.traceback'
WHERE e.signal = 'log.control_plane' AND e.via = 'pod' AND e.same_container AND (e.mode = 'exited' OR e.state = 'failing')
  AND COALESCE(e.exit_code, 1) NOT IN (0, 137, 143) AND e.lag_s BETWEEN -5 AND 120
  AND (e.shared AND t.death IS NULL OR w.fact IS NOT NULL AND e.mode = 'exited' AND e.steps_after IS NOT TRUE)
UNION ALL
-- Nobody has said yet whether a node takes it: the scheduler that it asks for does not run. Or a Job that no controller has begun
-- with: the controller manager does not run, or is far behind. That its lease was not renewed, while others were, says so as well.
SELECT u.death, u.fact AS cause, CAST(NULL AS BIGINT) AS effect,
  CASE WHEN l.death IS NULL THEN 'guess' ELSE 'inferred' END AS edge, 'state' AS role
FROM not_acted_on u
LEFT JOIN (SELECT DISTINCT death, signal, via FROM links) l ON l.death = u.death AND l.signal = u.lease AND l.via = u.via
UNION ALL
SELECT l.death, l.fact AS cause, u.fact AS effect, 'inferred' AS edge, 'fault' AS role
FROM links l
JOIN not_acted_on u ON u.death = l.death AND u.lease = l.signal AND u.via = l.via
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, edge, 'fault' AS role
FROM refused_members
WHERE signal = 'k8s.workload.create_failed.control_plane'
