-- cause: dep.control_plane
-- title: The control plane refused or delayed a request
-- rank: 28
-- level: supported
-- needs: k8s.workload.create_failed.control_plane, log.control_plane, k8s.pod.unscheduled
-- summary: {workload} did not get what it needed from the control plane: {message}
-- summary_of: k8s.pod.unscheduled: No scheduler has looked at {pod}: {message}
-- advice: Check the API server and the webhook named above.
-- advice_of: k8s.pod.unscheduled: Check that the scheduler that the pod names (spec.schedulerName) runs and holds its lease.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'asserted' AS edge, 'fault' AS role
FROM links
WHERE signal = 'k8s.workload.create_failed.control_plane' AND via = 'workload' AND state = 'never_created'
UNION ALL
-- What a program was refused is blamed where programs of other runs were refused at the same time.
SELECT e.death, e.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'fault' AS role
FROM links e
LEFT JOIN troubled t ON t.death = e.death
WHERE e.signal = 'log.control_plane' AND e.via = 'pod' AND e.same_container AND (e.mode = 'exited' OR e.state = 'failing')
  AND COALESCE(e.exit_code, 1) NOT IN (0, 137, 143) AND e.lag_s BETWEEN -5 AND 120
  AND e.shared AND t.death IS NULL
UNION ALL
-- Nobody has said yet whether a node takes it: the scheduler that it asks for does not run.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'guess' AS edge, 'state' AS role
FROM links
WHERE signal = 'k8s.pod.unscheduled' AND via = 'pod' AND state = 'never_scheduled'
