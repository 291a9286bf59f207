-- cause: dep.network
-- title: The pod network failed
-- rank: 24
-- level: established
-- needs: k8s.pod.sandbox_failed*, k8s.node.network_unavailable
-- summary: {pod} could not start because its network could not be set up. {message}
-- advice: Check the CNI plugin on that node and whether free addresses are left.
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
