-- cause: dep.redis
-- title: Redis refused the connection or was unavailable
-- rank: 13
-- level: established
-- needs: log.redis
-- summary: {pod} could not reach Redis, or lost its connection to it: {message}
-- advice: Check the Redis server named above: whether it is running, its memory, and how many clients it allows.
--
-- Blamed only where no exception that speaks of something else ended the program, and not for
-- a password that Redis does not take.
SELECT e.death, e.fact AS cause, CAST(NULL AS BIGINT) AS effect,
  CASE WHEN e.shared AND t.death IS NULL THEN 'asserted' ELSE 'inferred' END AS edge, 'fault' AS role
FROM links e
LEFT JOIN troubled t ON t.death = e.death
LEFT JOIN links a ON a.death = e.death AND a.via = 'pod' AND a.signal = 'log.redis.login'
LEFT JOIN links w ON w.death = e.death AND w.via = 'pod' AND w.signal = 'log.traceback'
  AND COALESCE(w.detail, '') NOT LIKE '%edis%' AND COALESCE(w.detail, '') NOT LIKE '%Connect%'
  AND COALESCE(w.detail, '') NOT LIKE '%Time%out%' AND COALESCE(w.detail, '') <> ''
WHERE e.signal = 'log.redis' AND e.via = 'pod' AND e.same_container AND (e.mode = 'exited' OR e.state = 'failing')
  AND COALESCE(e.exit_code, 1) NOT IN (0, 137, 143) AND e.lag_s BETWEEN -5 AND 120
  AND a.fact IS NULL AND w.fact IS NULL
