-- cause: dep.service
-- title: A required service refused the connection or did not respond
-- title_of: log.rate_limited: A service rate-limited the program
-- title_of: log.http_server_error: A service returned a server error
-- title_of: log.database: Database error
-- title_of: log.tls: A TLS connection failed
-- rank: 11
-- level: established
-- needs: log.connection_refused, log.service_unreachable, log.rate_limited, log.http_server_error, log.database, log.tls
-- summary: {pod} could not reach a service: {message}
-- summary_of: log.rate_limited: {pod} {was} rate-limited by a service: {message}
-- summary_of: log.http_server_error: A service returned a server error to {pod}: {message}
-- summary_of: log.database: {pod} had an error from its database: {message}
-- summary_of: log.tls: {pod} could not establish a TLS connection to a service: {message}
-- advice: Check that the service named above is running and can be reached from {node}.
-- advice_of: log.rate_limited: Send fewer requests (fewer ranks at once, a cache or mirror), or authenticate for a higher limit, and retry with backoff.
-- advice_of: log.http_server_error: Check the health and the logs of the service named above, and let the program retry.
-- advice_of: log.database: Check the database named above: whether it is running, its connection limit, its locks and its logs.
-- advice_of: log.tls: Check the certificate of the service, the certificate authorities that the container trusts, and whether a proxy intercepts TLS.
--
-- Several runs on several nodes that miss one target at once prove that it was not there.
SELECT e.death, e.fact AS cause, CAST(NULL AS BIGINT) AS effect,
  CASE WHEN e.shared AND t.death IS NULL THEN 'asserted' ELSE 'inferred' END AS edge, 'fault' AS role
FROM links e
LEFT JOIN troubled t ON t.death = e.death
WHERE e.signal = 'log.connection_refused' AND e.via = 'pod' AND e.same_container AND (e.mode = 'exited' OR e.state = 'failing')
  AND COALESCE(e.exit_code, 1) NOT IN (0, 137, 143) AND e.lag_s BETWEEN -5 AND 120
UNION ALL
-- What asked too often, was answered with an error of the service's own, or by nobody known, is blamed only where
-- no other exception ended the program; an expired certificate is dep.secret_or_config.
SELECT e.death, e.fact AS cause, CAST(NULL AS BIGINT) AS effect,
  CASE WHEN e.shared AND t.death IS NULL THEN 'asserted' ELSE 'inferred' END AS edge, 'fault' AS role
FROM links e
LEFT JOIN troubled t ON t.death = e.death
-- An exception that says so itself is no other one, whatever its library calls it.
LEFT JOIN links w ON w.death = e.death AND w.via = 'pod' AND w.signal = 'log.traceback' AND w.record <> e.record
  AND COALESCE(w.detail, '') NOT LIKE '%Connect%' AND COALESCE(w.detail, '') NOT LIKE '%Time%out%'
  AND COALESCE(w.detail, '') NOT LIKE '%OperationalError%' AND COALESCE(w.detail, '') NOT LIKE '%ServerSelection%'
  AND COALESCE(w.detail, '') NOT LIKE '%HTTP%' AND COALESCE(w.detail, '') NOT LIKE '%SSL%' AND COALESCE(w.detail, '') NOT LIKE '%ClientError%'
  AND COALESCE(w.detail, '') NOT LIKE '%TooManyRequests%' AND COALESCE(w.detail, '') NOT LIKE '%psycopg%' AND COALESCE(w.detail, '') NOT LIKE '%pymongo%'
-- One that is not valid yet is refused for a clock (node.clock).
LEFT JOIN links x ON x.death = e.death AND x.via = 'pod' AND (x.signal = 'log.tls.expired' OR x.signal = 'log.clock_skew' AND x.record = e.record)
WHERE e.signal IN ('log.service_unreachable', 'log.rate_limited', 'log.http_server_error', 'log.database', 'log.tls') AND e.via = 'pod' AND e.same_container AND (e.mode = 'exited' OR e.state = 'failing')
  AND COALESCE(e.exit_code, 1) NOT IN (0, 137, 143) AND e.lag_s BETWEEN -5 AND 120 AND w.fact IS NULL AND x.fact IS NULL
