-- cause: cloud.spot_reclaimed
-- title: A spot instance was reclaimed
-- rank: 98
-- level: established
-- needs: cloud.spot_reclaimed, cloud.capacity_reclaimed
-- alone: cloud.spot_reclaimed
-- summary: The cloud reclaimed {node}, a spot instance; {pod} {was} on it.
-- title_of: cloud.capacity_reclaimed: Capacity was reclaimed
-- summary_of: cloud.capacity_reclaimed: The cloud took back the capacity of {node} (an interruptible reservation or a zone that it shifted away from); {pod} {was} on it.
-- advice: Use on-demand or reserved capacity for runs that cannot restart cheaply, or checkpoint more often.
-- A mere warning for the machine of a member that its job took away, since another had failed, took nobody; nor did one
-- that came when the member had ended. What somebody then asked for is theirs.
SELECT u.death, u.fact AS cause, m.fact AS effect,
  CASE WHEN k.death IS NOT NULL OR COALESCE(u.phase, 'announced') = 'announced' AND a.death IS NOT NULL THEN 'guess' ELSE 'inferred' END AS edge, 'act' AS role
FROM links u
LEFT JOIN asked_for a ON a.death = u.death
-- What a kubelet had stopped by then was not taken with the machine.
LEFT JOIN stopped_in_order k ON k.death = u.death AND u.time > k.time + 5000000000
JOIN mechanisms m ON m.death = u.death AND m.fact <> u.fact AND m.time >= u.time - 5000000000
WHERE u.signal IN ('cloud.spot_reclaimed', 'cloud.capacity_reclaimed') AND u.mode IN ('killed', 'lost') AND u.via = 'node' AND u.lag_s BETWEEN -90 AND 3900
  AND (COALESCE(u.phase, 'announced') <> 'announced' OR u.lag_s >= -5 AND u.death NOT IN (SELECT death FROM torn_down))
UNION ALL
SELECT u.death, u.fact AS cause, CAST(NULL AS BIGINT) AS effect,
  CASE WHEN k.death IS NOT NULL OR COALESCE(u.phase, 'announced') = 'announced' AND a.death IS NOT NULL THEN 'guess' ELSE 'inferred' END AS edge, 'act' AS role
FROM links u
LEFT JOIN asked_for a ON a.death = u.death
LEFT JOIN stopped_in_order k ON k.death = u.death AND u.time > k.time + 5000000000
WHERE u.signal IN ('cloud.spot_reclaimed', 'cloud.capacity_reclaimed') AND u.mode IN ('killed', 'lost') AND u.via = 'node' AND u.lag_s BETWEEN -90 AND 3900
  AND (COALESCE(u.phase, 'announced') <> 'announced' OR u.lag_s >= -5 AND u.death NOT IN (SELECT death FROM torn_down))
UNION ALL
-- The instance itself: the record names it. What the cloud says of one that somebody was ending already changes nothing.
SELECT u.death, u.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'asserted' AS edge, 'act' AS role
FROM links u
LEFT JOIN asked_at_cloud asked ON asked.death = u.death AND asked.time < u.time
WHERE u.signal IN ('cloud.spot_reclaimed', 'cloud.capacity_reclaimed') AND u.via = 'pod'
  AND u.root_kind <> 'Pod' AND u.mode IN ('killed', 'lost') AND u.lag_s BETWEEN -60 AND 900
  -- A warning comes before.
  AND (COALESCE(u.phase, 'announced') <> 'announced' OR u.lag_s >= -5)
  AND asked.death IS NULL
