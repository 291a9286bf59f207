-- cause: dep.service
-- title: A service it needs did not answer
-- rank: 11
-- level: supported
-- needs: log.connection_refused
-- summary: {pod} could not reach a service: {message}
-- advice: Check that the service named runs and can be reached from the pod.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'fault' AS role
FROM ties
WHERE signal = 'log.connection_refused' AND via = 'pod' AND same_container AND mode = 'exited'
  AND COALESCE(exit_code, 1) NOT IN (0, 137, 143) AND lag_s BETWEEN -5 AND 120
