-- cause: dep.dns
-- title: DNS resolution failed
-- rank: 12
-- level: established
-- needs: log.dns, k8s.node.dns_problem
-- summary: {pod} could not resolve a host name: {message}
-- advice: Check the host name, then DNS on {node} (resolver, connection tracking, the cloud's limit per host), then the cluster DNS.
--
-- Alone it may be the program's own mistake. Seen at once by several runs on several nodes
-- it is proven, unless the pod's machine was in trouble or somebody ended the pod.
SELECT e.death, e.fact AS cause, CAST(NULL AS BIGINT) AS effect,
  CASE WHEN e.shared AND t.death IS NULL THEN 'asserted' ELSE 'inferred' END AS edge, 'fault' AS role
FROM links e
LEFT JOIN troubled t ON t.death = e.death
WHERE e.signal = 'log.dns' AND e.via = 'pod' AND e.same_container AND (e.mode = 'exited' OR e.state = 'failing')
  AND COALESCE(e.exit_code, 1) NOT IN (0, 137, 143) AND e.lag_s BETWEEN -5 AND 120
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'context' AS edge, 'fault' AS role
FROM links
WHERE signal = 'k8s.node.dns_problem' AND via = 'node' AND state IN ('died', 'restarted', 'crash_loop') AND lag_s BETWEEN -120 AND 900
