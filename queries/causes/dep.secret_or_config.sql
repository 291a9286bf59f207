-- cause: dep.secret_or_config
-- title: A secret, credential or config map is missing or was rejected
-- title_of: log.credential: A credential is missing or was rejected
-- title_of: log.tls.expired: A certificate has expired
-- rank: 26
-- level: established
-- needs: k8s.container.config_error, k8s.workload.create_failed.config, log.credential, log.tls.expired
-- summary: A secret, credential or config map that {pod} needs is missing or was rejected: {message}
-- summary_of: log.credential: A service did not accept the credentials of {pod}, or found none: {message}
-- summary_of: log.tls.expired: {pod} could not connect because a certificate has expired, or a clock is wrong: {message}
-- advice: Create the object named above, or correct its name in the spec.
-- advice_of: log.credential: Check which credentials the program uses, whether they have expired, and what their account may do.
-- advice_of: log.tls.expired: Renew the certificate; if it is still valid, check the clock of {node}.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'asserted' AS edge, 'fault' AS role
FROM links
WHERE signal = 'k8s.container.config_error' AND via = 'pod' AND state IN ('stuck_starting', 'crash_loop')
UNION ALL
-- The kubelet then waits in vain for the volume that was to be made of it.
SELECT c.death, c.fact AS cause, v.fact AS effect, 'asserted' AS edge, 'fault' AS role
FROM links c
JOIN links v ON v.death = c.death AND v.via = 'pod' AND v.signal = 'k8s.pod.volume_failed' AND v.time_hi >= c.time
LEFT JOIN (SELECT DISTINCT death FROM links WHERE via = 'pod' AND signal LIKE 'k8s.pod.volume_failed.%') other ON other.death = c.death
WHERE c.signal = 'k8s.container.config_error' AND c.via = 'pod' AND c.state = 'stuck_starting' AND other.death IS NULL
UNION ALL
-- What a service says of the program's credentials, or both of an expired certificate.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'fault' AS role
FROM links
WHERE signal IN ('log.credential', 'log.tls.expired') AND via = 'pod' AND same_container AND mode = 'exited'
  AND COALESCE(exit_code, 1) NOT IN (0, 137, 143) AND lag_s BETWEEN -5 AND 60
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'asserted' AS edge, 'fault' AS role
FROM links
WHERE signal = 'k8s.workload.create_failed.config' AND via = 'workload' AND state = 'never_created'
UNION ALL
-- A deadline only ends the wait of a pod that never started.
SELECT d.death, u.fact AS cause, d.fact AS effect, 'inferred' AS edge, 'fault' AS role
FROM waited_out d
JOIN links u ON u.death = d.death AND u.via = 'pod' AND u.signal = 'k8s.container.config_error'
