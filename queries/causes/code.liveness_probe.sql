-- cause: code.liveness_probe
-- title: Killed by its own liveness probe
-- rank: 40
-- level: supported
-- needs: k8s.container.liveness_killed, k8s.container.startup_probe_killed
-- summary: The kubelet stopped a container of {pod} because its probe failed: {message}
-- advice: Give the probe more time, or remove it from a training process that is busy by design.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'asserted' AS edge, 'act' AS role
FROM links
WHERE signal IN ('k8s.container.liveness_killed', 'k8s.container.startup_probe_killed')
  AND via = 'pod' AND state IN ('died', 'restarted', 'crash_loop') AND lag_s BETWEEN -60 AND 600
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'asserted' AS edge, 'act' AS role
FROM links
WHERE signal IN ('k8s.container.liveness_killed', 'k8s.container.startup_probe_killed')
  AND via = 'pod' AND state = 'not_ready'
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'context' AS edge, 'fault' AS role
FROM links
WHERE signal IN ('k8s.container.probe_failed.liveness', 'k8s.container.probe_failed.startup')
  AND via = 'pod' AND state IN ('died', 'restarted', 'crash_loop')
