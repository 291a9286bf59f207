-- cause: cloud.host_error
-- title: The cloud host failed
-- rank: 97
-- level: established
-- needs: cloud.instance_unhealthy, cloud.host_error
-- alone: cloud.host_error, cloud.instance_unhealthy
-- summary: The cloud reported a fault on the host of {node}; {pod} {was} on it.
-- summary_of: cloud.instance_unhealthy: The cloud reported that the machine behind {node} was impaired; {pod} {was} on it.
-- title_of: cloud.instance_unhealthy: The cloud reported an impaired machine
-- advice: Restart the run on another machine, and check in the cloud's console whether this one was moved to a healthy host.
-- What was said of the machine of a member that its job took away, since another had failed, hurt nobody.
-- A kubelet that stops a pod in good order is on a host that works: a fault ended that pod only if somebody cleared the
-- machine for it.
WITH faults AS (
  SELECT u.death, u.fact, u.time, k.time AS stopped
  FROM links u
  LEFT JOIN stopped_in_order k ON k.death = u.death
  WHERE u.signal IN ('cloud.instance_unhealthy', 'cloud.host_error')
    AND (u.mode IN ('killed', 'lost') OR u.state = 'not_ready' OR u.reason IN ('ContainerStatusUnknown', 'Unknown')) AND u.via = 'node' AND u.lag_s BETWEEN -90 AND 3900
    AND u.death NOT IN (SELECT death FROM torn_down)
    AND (k.death IS NULL OR u.time_hi <= k.time + 5000000000)
)
SELECT u.death, u.fact AS cause, m.fact AS effect, 'inferred' AS edge, 'fault' AS role
FROM faults u
JOIN mechanisms m ON m.death = u.death AND m.fact <> u.fact AND m.time >= u.time - 5000000000
WHERE u.stopped IS NULL OR m.time <= u.stopped + 5000000000 AND NOT m.person AND m.signal <> 'k8s.pod.deletion_requested'
UNION ALL
SELECT u.death, u.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'fault' AS role
FROM faults u
WHERE u.stopped IS NULL
UNION ALL
-- The instance itself: the record of the fault is the record of its end.
SELECT u.death, u.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'asserted' AS edge, 'fault' AS role
FROM links u
LEFT JOIN asked_at_cloud asked ON asked.death = u.death AND asked.time < u.time
WHERE u.signal = 'cloud.host_error' AND u.via = 'pod' AND u.mode IN ('killed', 'lost') AND u.lag_s BETWEEN -60 AND 900
  -- Somebody was ending it already.
  AND asked.death IS NULL
UNION ALL
-- The cloud's record of the fault is written once it was noticed: shortly after the machine fell silent.
SELECT u.death, u.fact AS cause, m.fact AS effect, 'inferred' AS edge, 'fault' AS role
FROM links u
JOIN links m ON m.death = u.death AND m.mode IN ('killed', 'lost') AND u.time - m.time_hi BETWEEN 0 AND 60000000000
  AND m.signal IN ('k8s.node.not_ready', 'k8s.node.silent', 'k8s.node.unreachable', 'k8s.pod.node_lost')
WHERE u.signal = 'cloud.host_error' AND u.via = 'node'
UNION ALL
-- Who was waited for, and of whose end no record tells, was on a machine whose host failed meanwhile.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'fault' AS role
FROM links
WHERE signal = 'cloud.host_error' AND via = 'node' AND state = 'lingering' AND lag_s BETWEEN 0 AND 7200
