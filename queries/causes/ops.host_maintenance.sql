-- cause: ops.host_maintenance
-- title: Maintenance of the host
-- rank: 100
-- level: supported
-- needs: maintenance.announced, maintenance.started, cloud.termination_imminent
-- overturned_by: kubernetes_audit: who drained the node
-- summary: The host of {node} went into maintenance; {pod} was on it.
-- advice: Ask the cloud what is scheduled next for these nodes before starting again there.
SELECT u.death, u.fact AS cause, m.fact AS effect, 'inferred' AS edge, 'act' AS role
FROM ties u
JOIN mechanisms m ON m.death = u.death AND m.fact <> u.fact AND m.time >= u.time - 5000000000
WHERE u.signal IN ('maintenance.started', 'maintenance.announced', 'cloud.termination_imminent')
  AND u.mode IN ('killed', 'lost') AND u.via = 'node' AND u.lag_s BETWEEN -90 AND 3900
UNION ALL
SELECT u.death, u.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'act' AS role
FROM ties u
WHERE u.signal IN ('maintenance.started', 'maintenance.announced', 'cloud.termination_imminent')
  AND u.mode IN ('killed', 'lost') AND u.via = 'node' AND u.lag_s BETWEEN -90 AND 3900
