-- cause: code.config_or_input
-- title: Its command or configuration cannot work
-- rank: 14
-- level: supported
-- needs: k8s.container.cannot_run, k8s.container.cannot_run.command, log.exception.config
-- needs: k8s.workload.invalid
-- summary: {pod} could not run as configured: {message}
-- advice: Check command, arguments, environment and input paths of the container named.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'claim' AS role
FROM ties
WHERE signal IN ('k8s.container.cannot_run', 'k8s.container.cannot_run.command') AND via = 'pod'
  AND state IN ('died', 'restarted', 'crash_loop', 'stuck_starting')
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'fault' AS role
FROM ties
WHERE signal = 'log.exception.config' AND via = 'pod' AND same_container
  AND state IN ('died', 'restarted', 'crash_loop') AND mode = 'exited'
  AND COALESCE(exit_code, 1) NOT IN (137, 143) AND lag_s BETWEEN -5 AND 60
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'claim' AS role
FROM ties
WHERE signal = 'k8s.workload.invalid' AND via = 'workload' AND state = 'never_created'
