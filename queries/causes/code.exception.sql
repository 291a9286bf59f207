-- cause: code.exception
-- title: Its own code failed
-- rank: 8
-- level: supported
-- needs: log.traceback, k8s.container.exited_nonzero, slurm.failed
-- overturned_by: container_log: the traceback
-- overturned_by: loki: the traceback
-- overturned_by: datadog: the traceback
-- overturned_by: elasticsearch: the traceback
-- overturned_by: cloudwatch: the traceback
-- summary: {pod} failed by itself: {message}
-- advice: Read the traceback of the first failing rank; the other ranks only followed.
--
-- A traceback shortly before the process ended by itself; without a log, only an
-- ordinary exit code, which proves that the process chose to end and no more.
-- What only reports a collective's timeout or another process's end is a symptom.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'fault' AS role
FROM ties
WHERE signal = 'log.traceback' AND via = 'pod' AND same_container AND mode = 'exited'
  AND COALESCE(exit_code, 1) NOT IN (0, 137, 143) AND lag_s BETWEEN -5 AND 60
  AND COALESCE(detail, '') NOT LIKE '%DistBackendError' AND COALESCE(detail, '') NOT LIKE '%ChildFailedError'
UNION ALL
SELECT e.death, e.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'guess' AS edge, 'claim' AS role
FROM ties e
LEFT JOIN ties w ON w.death = e.death AND w.via = 'pod' AND w.signal = 'nccl.timeout'
WHERE e.signal = 'k8s.container.exited_nonzero' AND e.via = 'pod' AND e.same_container AND e.mode = 'exited'
  AND e.exit_code BETWEEN 1 AND 125 AND e.code = e.exit_code AND e.lag_s BETWEEN -1 AND 1 AND w.fact IS NULL
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'guess' AS edge, 'claim' AS role
FROM ties
WHERE signal = 'slurm.failed' AND via = 'pod' AND mode = 'exited' AND exit_code BETWEEN 1 AND 125
  AND lag_s BETWEEN -1 AND 1
