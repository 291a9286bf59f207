-- cause: code.readiness_probe
-- title: Never ready: its readiness probe fails
-- rank: 20
-- level: supported
-- needs: k8s.container.probe_failed.readiness
-- summary: {pod} runs but is not ready: {message}
-- advice: Check what the probe asks for against what the process offers.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'asserted' AS edge, 'fault' AS role
FROM ties
WHERE signal = 'k8s.container.probe_failed.readiness' AND via = 'pod'
  AND state IN ('not_ready', 'crash_loop')
