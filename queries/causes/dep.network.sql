-- cause: dep.network
-- title: The pod network could not be set up
-- title_of: k8s.pod.sandbox_failed: The pod sandbox could not be created
-- rank: 24
-- level: established
-- needs: k8s.pod.sandbox_failed*, k8s.node.network_unavailable, log.network_unreachable
-- summary: {pod} could not start because its network could not be set up: {message}
-- summary_of: k8s.pod.sandbox_failed: {pod} could not start because its sandbox could not be created: {message}
-- title_of: log.network_unreachable: No route to the network
-- summary_of: log.network_unreachable: {pod} had no route to a network that it needed: {message}
-- advice_of: log.network_unreachable: Check the routes and the proxy of {node}; many training nodes have no internet access, so download what is needed beforehand.
-- advice: Check the CNI plugin on {node}, and whether free pod addresses are left.
-- advice_of: k8s.pod.sandbox_failed: Check the container runtime and the CNI plugin on {node}.
--
-- That the sandbox could not be made says nothing of why: the message does, and where it names
-- nothing that is known, the network is only what fails most often there.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'asserted' AS edge, 'fault' AS role
FROM links
WHERE signal IN ('k8s.pod.sandbox_failed.network', 'k8s.pod.sandbox_failed.no_ip') AND via = 'pod' AND state = 'stuck_starting'
UNION ALL
SELECT o.death, o.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'guess' AS edge, 'fault' AS role
FROM links o
LEFT JOIN (SELECT DISTINCT death FROM links
           WHERE via = 'pod' AND (signal LIKE 'k8s.pod.sandbox_failed.%' OR signal LIKE 'k8s.container.cannot_run.%')) i ON i.death = o.death
WHERE o.signal = 'k8s.pod.sandbox_failed' AND o.via = 'pod' AND o.state = 'stuck_starting' AND i.death IS NULL
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'context' AS edge, 'state' AS role
FROM links
WHERE signal = 'k8s.node.network_unavailable' AND via = 'node' AND state = 'stuck_starting'
UNION ALL
-- The program's own machine has no route: unless another exception ended it.
SELECT e.death, e.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'fault' AS role
FROM links e
LEFT JOIN links w ON w.death = e.death AND w.via = 'pod' AND w.signal = 'log.traceback' AND w.record <> e.record AND w.time >= e.time
  AND COALESCE(w.detail, '') NOT LIKE '%Connect%' AND COALESCE(w.detail, '') NOT LIKE '%HTTP%' AND COALESCE(w.detail, '') NOT LIKE '%OSError'
WHERE e.signal = 'log.network_unreachable' AND e.via = 'pod' AND e.same_container AND (e.mode = 'exited' OR e.state = 'failing')
  AND COALESCE(e.exit_code, 1) NOT IN (0, 137, 143) AND e.lag_s BETWEEN -5 AND 120 AND w.fact IS NULL
