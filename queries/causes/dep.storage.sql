-- cause: dep.storage
-- title: Storage failed or is full
-- rank: 17
-- level: supported
-- needs: log.no_space
-- summary: {pod} could not write: {message}
-- advice: Free space where checkpoints and caches are written.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'fault' AS role
FROM ties
WHERE signal = 'log.no_space' AND via = 'pod' AND same_container AND mode = 'exited'
  AND COALESCE(exit_code, 1) NOT IN (0, 137, 143) AND lag_s BETWEEN -5 AND 120
