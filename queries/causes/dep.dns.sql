-- cause: dep.dns
-- title: A name could not be resolved
-- rank: 12
-- level: supported
-- needs: log.dns, k8s.node.dns_problem
-- summary: {pod} could not resolve a name: {message}
-- advice: Check the name, the cluster DNS, and per-host DNS limits of the cloud.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'fault' AS role
FROM ties
WHERE signal = 'log.dns' AND via = 'pod' AND same_container AND mode = 'exited'
  AND COALESCE(exit_code, 1) NOT IN (0, 137, 143) AND lag_s BETWEEN -5 AND 120
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'context' AS edge, 'fault' AS role
FROM ties
WHERE signal = 'k8s.node.dns_problem' AND via = 'node' AND state IN ('died', 'restarted', 'crash_loop') AND lag_s BETWEEN -120 AND 900
