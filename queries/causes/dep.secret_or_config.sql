-- cause: dep.secret_or_config
-- title: A secret or config map is missing
-- rank: 26
-- level: established
-- needs: k8s.container.config_error, k8s.workload.create_failed.config
-- summary: {pod} could not start: {message}
-- advice: Create the object named, or correct the name in the spec.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'asserted' AS edge, 'fault' AS role
FROM ties
WHERE signal = 'k8s.container.config_error' AND via = 'pod' AND state IN ('stuck_starting', 'crash_loop')
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'asserted' AS edge, 'fault' AS role
FROM ties
WHERE signal = 'k8s.workload.create_failed.config' AND via = 'workload' AND state = 'never_created'
UNION ALL
-- A deadline only ends the wait of a pod that never started.
SELECT d.death, u.fact AS cause, d.fact AS effect, 'inferred' AS edge, 'fault' AS role
FROM ties d
JOIN ties u ON u.death = d.death AND u.via = 'pod' AND u.signal = 'k8s.container.config_error'
LEFT JOIN ties s ON s.death = d.death AND s.via = 'pod' AND s.signal = 'k8s.container.started'
WHERE d.signal IN ('k8s.workload.deadline', 'k8s.pod.deadline') AND d.mode = 'killed'
  AND d.exit_code IS NULL AND s.fact IS NULL
