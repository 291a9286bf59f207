-- cause: ops.host_maintenance
-- title: Host maintenance
-- rank: 100
-- level: established
-- needs: maintenance.announced, maintenance.freeze_announced, maintenance.started, maintenance.terminated, cloud.termination_imminent, slurm.waiting.maintenance
-- needs: maintenance.requested_by_user, maintenance.requested_by_other
-- alone: maintenance.announced, maintenance.started, maintenance.terminated
-- overturned_by: audit: whether someone had drained the node or deleted the pod before
-- summary: The host of {node} went into maintenance; {pod} {was} on it.
-- summary_of: maintenance.announced, maintenance.freeze_announced: Maintenance was announced for the host of {node}; {pod} {was} on it.
-- summary_of: slurm.waiting.maintenance: {pod} is waiting: its nodes are reserved for maintenance that begins before the job would end.
-- advice_of: slurm.waiting.maintenance: Request less time (scontrol update TimeLimit=…) so that the job ends before the reservation begins (scontrol show reservation), or wait until it is over.
-- summary_of: maintenance.requested_by_*: Maintenance of the host of {node} was simulated{by}, which terminated the machine; {pod} {was} on it.
-- title_of: maintenance.requested_by_*: Simulated host maintenance
-- advice_of: maintenance.requested_by_*: Find out why it was requested; there is no sign of a fault.
-- advice: Check what the cloud has scheduled next for these nodes before running on them again.
--
-- What was announced counts while it is due, however long before it was said, unless it was moved or called off
-- (such facts touch nothing; core/src/graph/announcements.rs),
-- the machine was moved away or the maintenance was over before; what is due hours later
-- has not begun. Where the act itself
-- has a record, that one leads and the announcement only belongs to the story.
WITH planned AS (
  SELECT a.* FROM links a
  LEFT JOIN links done ON done.death = a.death AND done.via = 'node' AND done.time >= a.time AND done.lag_s >= 0
    AND done.signal IN ('maintenance.migrated', 'maintenance.done')
  WHERE a.signal IN ('maintenance.announced', 'maintenance.freeze_announced', 'maintenance.started') AND a.via = 'node'
    AND (a.due_s BETWEEN -90 AND 3900
         OR (a.lag_s BETWEEN -90 AND 3900 AND (a.due_s IS NULL OR a.due_s > -3900 OR a.signal = 'maintenance.started')))
    AND done.fact IS NULL
),
act AS (
  -- One of which nobody knows when it began says no more than the announcement.
  SELECT * FROM planned WHERE signal = 'maintenance.started' AND time > 0
  UNION ALL
  SELECT * FROM links
  WHERE signal IN ('maintenance.terminated', 'cloud.termination_imminent') AND via = 'node'
    AND lag_s BETWEEN -90 AND 3900
),
root AS (
  SELECT * FROM act WHERE mode IN ('killed', 'lost')
    AND (signal <> 'maintenance.started' OR death NOT IN (SELECT death FROM torn_down))
  UNION ALL
  SELECT * FROM planned
  WHERE signal LIKE 'maintenance.%announced' AND mode IN ('killed', 'lost') AND death NOT IN (SELECT death FROM act)
    AND death NOT IN (SELECT death FROM torn_down)
    -- A machine that is frozen for seconds stops no pod in good order.
    AND (signal <> 'maintenance.freeze_announced' OR death NOT IN (SELECT death FROM stopped_in_order))
),
-- What ended the machine has a record of its own: what was only announced for it had not begun.
recorded AS (
  SELECT DISTINCT death FROM links
  WHERE via IN ('pod', 'node') AND lag_s BETWEEN -120 AND 900
    AND signal IN ('cloud.spot_reclaimed', 'cloud.capacity_reclaimed', 'cloud.host_error', 'kernel.panic')
),
-- Those that clear a node for what is announced.
cleared AS (
  SELECT DISTINCT death FROM links
  WHERE via IN ('pod', 'node') AND lag_s BETWEEN -5 AND 900
    AND (signal LIKE '%_by_remediator' OR signal LIKE '%_by_autoscaler' OR signal LIKE '%_by_upgrader' OR signal LIKE '%_by_cloud')
),
weighed AS (
  SELECT r.death, r.fact, r.time,
    CASE WHEN a.death IS NOT NULL THEN 'guess'
         WHEN r.signal = 'maintenance.freeze_announced' THEN 'guess'
         WHEN r.signal = 'maintenance.announced' AND o.death IS NOT NULL THEN 'guess'
         -- What began after a kubelet had stopped the pod in good order may have come too late.
         WHEN k.death IS NOT NULL AND r.time_hi > k.time + 5000000000 THEN 'guess'
         -- It comes before a reclaim and an upgrade, too.
         WHEN r.signal = 'cloud.termination_imminent' AND p.death IS NULL THEN 'guess'
         -- A plan of one's own people proves nothing, whatever its hours.
         WHEN r.signal = 'maintenance.announced' AND r.source_kind = 'node_log' THEN 'guess'
         -- An announcement is no act: it has to be due, which is when its hours begin, or somebody clears the node for it.
         WHEN r.signal = 'maintenance.announced' AND COALESCE(r.due_from_s, -1e9) NOT BETWEEN -90 AND 900 AND c.death IS NULL THEN 'guess'
         ELSE 'inferred' END AS edge
  FROM root r
  LEFT JOIN (SELECT DISTINCT death FROM planned) p ON p.death = r.death
  LEFT JOIN asked_for a ON a.death = r.death
  LEFT JOIN cleared c ON c.death = r.death
  LEFT JOIN recorded o ON o.death = r.death
  LEFT JOIN stopped_in_order k ON k.death = r.death
)
SELECT u.death, u.fact AS cause, m.fact AS effect, u.edge, 'act' AS role
FROM weighed u
JOIN mechanisms m ON m.death = u.death AND m.fact <> u.fact AND m.time >= u.time - 5000000000
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, edge, 'act' AS role
FROM weighed
UNION ALL
-- The instance itself: the record names it.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'asserted' AS edge, 'act' AS role
FROM links
WHERE signal = 'maintenance.terminated' AND via = 'pod' AND mode IN ('killed', 'lost') AND lag_s BETWEEN -60 AND 900
UNION ALL
-- What the cloud then does to the machine it does for whoever asked for it. Where it moved the machine, that was all.
SELECT r.death, r.fact AS cause, t.fact AS effect, 'inferred' AS edge, 'act' AS role
FROM links r
JOIN links t ON t.death = r.death AND t.via = r.via AND t.signal IN ('maintenance.terminated', 'maintenance.started', 'cloud.spot_reclaimed')
  AND t.time - r.time BETWEEN 0 AND 600000000000
LEFT JOIN links moved ON moved.death = r.death AND moved.via = r.via AND moved.signal IN ('maintenance.migrated', 'maintenance.done')
  AND moved.time >= r.time AND moved.time < t.time
WHERE r.signal LIKE 'maintenance.requested_by_%' AND r.via IN ('pod', 'node') AND moved.fact IS NULL
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'context' AS edge, 'act' AS role
FROM planned
WHERE signal LIKE 'maintenance.%announced' AND death IN (SELECT death FROM act)
UNION ALL
-- Alerts are silenced before maintenance; a silence alone proves none.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'context' AS edge, 'act' AS role
FROM links
WHERE via IN ('node', 'pod') AND mode IN ('killed', 'lost')
  AND ((signal = 'alert.silenced' AND due_s BETWEEN -600 AND 0) OR (signal = 'note.maintenance' AND lag_s BETWEEN -600 AND 3900))
UNION ALL
-- Slurm says so itself, of a job that waits.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'asserted' AS edge, 'state' AS role
FROM links
WHERE signal = 'slurm.waiting.maintenance' AND via = 'pod' AND state = 'never_scheduled'
