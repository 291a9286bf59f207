-- cause: code.readiness_probe
-- title: Not ready: the readiness probe failed
-- rank: 20
-- level: supported
-- needs: k8s.container.probe_failed.readiness, k8s.pod.not_ready
-- summary: {pod} is running but not ready: {message}
-- advice: Compare what the readiness probe checks with what the process serves.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'asserted' AS edge, 'fault' AS role
FROM links
WHERE signal = 'k8s.container.probe_failed.readiness' AND via = 'pod'
  AND state IN ('not_ready', 'crash_loop')
UNION ALL
-- A container that runs and was never ready has a probe that does not succeed, unless its node is silent:
-- without a probe it would be ready as soon as it runs. A container beside it that cannot start keeps the pod from being ready
-- as well: such a state counts from that on.
SELECT u.death, u.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'claim' AS role
FROM links u
LEFT JOIN links n ON n.death = u.death AND n.via = 'node' AND n.signal IN ('k8s.node.not_ready', 'k8s.node.silent', 'k8s.node.unreachable')
LEFT JOIN links s ON s.death = u.death AND s.via = 'pod'
  AND (s.signal LIKE 'k8s.container.probe_failed.%' OR s.signal LIKE 'kernel.oom%'
       OR s.signal IN ('k8s.container.startup_probe_killed', 'k8s.container.exited_nonzero')
       OR s.lag_s = 0 AND (s.signal LIKE 'k8s.container.image_pull_failed%' OR s.signal LIKE 'k8s.container.cannot_run%' OR s.signal = 'k8s.container.config_error'))
WHERE u.signal = 'k8s.pod.not_ready' AND u.via = 'pod' AND u.state = 'not_ready' AND n.fact IS NULL AND s.fact IS NULL
