-- cause: code.exception
-- title: Its own code failed
-- rank: 8
-- level: supported
-- needs: log.traceback, k8s.container.exited_nonzero
-- overturned_by: container_log: the traceback
-- overturned_by: loki: the traceback
-- summary: {pod} failed by itself: {message}
-- advice: Read the traceback of the first failing rank; the other ranks only followed.
--
-- A traceback shortly before the process ended by itself; without a log, only an
-- ordinary exit code, which proves that the process chose to end and no more.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'fault' AS role
FROM ties
WHERE signal = 'log.traceback' AND via = 'pod' AND same_container AND mode = 'exited'
  AND COALESCE(exit_code, 1) NOT IN (0, 137, 143) AND lag_s BETWEEN -5 AND 60
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'guess' AS edge, 'claim' AS role
FROM ties
WHERE signal = 'k8s.container.exited_nonzero' AND via = 'pod' AND same_container AND mode = 'exited'
  AND exit_code BETWEEN 1 AND 125 AND code = exit_code AND lag_s BETWEEN -1 AND 1
