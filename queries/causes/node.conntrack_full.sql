-- cause: node.conntrack_full
-- title: The node's connection tracking table was full
-- rank: 50
-- level: supported
-- needs: kernel.conntrack_full
-- summary: {node} dropped packets because its connection tracking table was full; {pod} could not reach a service that it needed.
-- advice: Raise net.netfilter.nf_conntrack_max on the node, and find out what opens so many connections.
--
-- The kernel drops the first packet of a new connection then: who connects waits until its time is up. A connection that
-- is refused was answered, and one that was there already goes on. It says so as long as it drops: who could not connect
-- well after the last word of it may have had another reason.
SELECT c.death, c.fact AS cause, e.fact AS effect, CASE WHEN c.time_hi < e.time - 60000000000 THEN 'guess' ELSE 'inferred' END AS edge, 'fault' AS role
FROM links c
JOIN links e ON e.death = c.death AND e.via = 'pod' AND e.same_container AND e.lag_s BETWEEN -5 AND 120
  AND e.signal IN ('log.service_unreachable', 'log.dns', 'log.database', 'log.redis')
WHERE c.signal = 'kernel.conntrack_full' AND c.via = 'node' AND c.mode = 'exited' AND c.lag_s BETWEEN 0 AND 300
  AND COALESCE(c.exit_code, 1) NOT IN (0, 137, 143)
UNION ALL
SELECT DISTINCT c.death, c.fact AS cause, CAST(NULL AS BIGINT) AS effect,
  CASE WHEN c.time_hi < e.time - 60000000000 THEN 'guess' ELSE 'inferred' END AS edge, 'fault' AS role
FROM links c
JOIN links e ON e.death = c.death AND e.via = 'pod' AND e.same_container AND e.lag_s BETWEEN -5 AND 120
  AND e.signal IN ('log.service_unreachable', 'log.dns', 'log.database', 'log.redis')
WHERE c.signal = 'kernel.conntrack_full' AND c.via = 'node' AND c.mode = 'exited' AND c.lag_s BETWEEN 0 AND 300
  AND COALESCE(c.exit_code, 1) NOT IN (0, 137, 143)
