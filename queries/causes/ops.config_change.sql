-- cause: ops.config_change
-- title: Stopped by a change of its spec
-- title_of: k8s.workload.created_suspended: Created suspended
-- title_of: k8s.workload.suspended, k8s.workload.suspension_requested_by_*: Suspended
-- title_of: k8s.workload.scaled.*, k8s.workload.pod_deleted: Scaled down
-- title_of: k8s.pod.evicted_by_controller, k8s.pod.evicted.vpa: Evicted to change its resource requests
-- rank: 45
-- level: supported
-- needs: k8s.workload.spec_changed, k8s.workload.rolled_out, k8s.workload.scaled.to_zero, k8s.workload.scaled.down, k8s.workload.suspended
-- needs: k8s.workload.suspension_requested_by_controller, k8s.workload.suspension_requested_by_user, k8s.workload.created_suspended
-- needs: k8s.workload.deleted_by_user, k8s.workload.pod_deleted, k8s.workload.updated_by_user, k8s.workload.updated_by_controller, k8s.container.changed_killed, k8s.pod.updated_by_user, k8s.pod.updated_by_controller, k8s.pod.evicted_by_controller, k8s.pod.evicted.vpa, slurm.waiting.held, unit.replaced
-- needs: node.link_set_down
-- title_of: node.link_set_down: A network link was taken down
-- summary_of: node.link_set_down: A network link of {node} was taken down{by} while {pod} {was} on it.
-- advice_of: node.link_set_down: Find out why it was taken down; there is no sign of a fault.
-- overturned_by: audit: who requested it
-- summary: {workload} was changed{by}, and some or all of its pods were stopped as a result.
-- summary_of: k8s.workload.created_suspended: {workload} was created suspended and has not been resumed, so it has no pods.
-- summary_of: k8s.workload.suspended, k8s.workload.suspension_requested_by_*: {workload} was suspended{by}, so its pods were stopped or never created.
-- summary_of: unit.replaced: The container of {pod} was stopped to recreate it from a newer image.
-- title_of: unit.replaced: Replaced by a newer image
-- advice_of: unit.replaced: Keep the tool that updates images away from training (for watchtower: a label, or --monitor-only), or pin the image by its digest.
-- summary_of: slurm.waiting.held: {pod} is held and has not been released; Slurm gives the reason {detail}.
-- title_of: slurm.waiting.held: Held
-- advice_of: slurm.waiting.held: Find out why it is held, then release it (scontrol release).
-- summary_of: k8s.workload.scaled.to_zero: {workload} was scaled to zero{by}, and its pods were stopped as a result.
-- summary_of: k8s.workload.scaled.down, k8s.workload.pod_deleted: {workload} was scaled down{by}, and some or all of its pods were stopped as a result.
-- summary_of: k8s.container.changed_killed, k8s.pod.updated_by_*: {pod} {was} stopped because its spec was changed{by}.
-- summary_of: k8s.pod.evicted_by_controller, k8s.pod.evicted.vpa: {pod} {was} evicted{by} to change its resource requests.
-- advice_of: k8s.pod.evicted_by_controller, k8s.pod.evicted.vpa: Keep the vertical pod autoscaler away from training pods (updateMode Initial or Off).
-- advice_of: k8s.workload.created_suspended, k8s.workload.suspended, k8s.workload.suspension_requested_by_*: Find out why it is suspended; a person or its queue resumes it (spec.suspend: false).
-- advice_of: k8s.workload.scaled.*, k8s.workload.pod_deleted: Find out why it was scaled down; there is no sign of a fault.
-- advice: Check what was changed in its spec: its size, whether it is suspended, its limits, or its template.
-- Queues suspend jobs as people do: that it was suspended alone says not who wanted it. What was changed before the last
-- change did not stop what that one stopped, nor did a change stop a pod that was made for it; and a Job that has just
-- failed has its pods deleted for that.
WITH last AS (
  SELECT death, MAX(time) AS time FROM links
  WHERE signal = 'k8s.workload.updated_by_user' AND via = 'workload' AND lag_s BETWEEN -2 AND 120 GROUP BY death
),
-- What lived until its workload was deleted had outlived what was changed before.
deleted AS (
  SELECT death, MAX(time) AS time FROM links
  WHERE signal = 'k8s.workload.deleted_by_user' AND via = 'workload' AND lag_s BETWEEN -2 AND 120 GROUP BY death
),
-- Of a link that somebody took down the kernel tells as of one that failed.
taken_down AS (
  SELECT DISTINCT s.death, s.fact AS command, e.fact, e.via, e.mode, e.state, e.exit_code, e.reason, e.lag_s, e.steps_after, e.machine, e.time
  FROM links s
  JOIN links e ON e.death = s.death AND e.machine = s.machine AND e.time - s.time BETWEEN -2000000000 AND 10000000000
    AND (e.signal = 'nic.error' OR e.signal LIKE 'nic.error.%' OR e.signal LIKE 'nic.link_lost.%')
  WHERE s.signal = 'node.link_set_down'
),
failed AS (
  SELECT DISTINCT death FROM links
  WHERE signal IN ('k8s.workload.failed', 'k8s.workload.backoff_limit') AND via = 'workload' AND lag_s BETWEEN -5 AND 5
),
-- Of one request the more exact word counts.
suspends AS (
  SELECT DISTINCT death, record, fact FROM links
  WHERE signal = 'k8s.workload.suspension_requested_by_user' AND via = 'workload'
),
made AS (
  SELECT s.death, COALESCE(own.fact, who.fact) AS who, s.fact AS what, who.actor AS actor, s.lag_s AS lag
  FROM links s
  JOIN links who ON who.death = s.death AND who.via = 'workload'
    AND (who.signal = 'k8s.workload.updated_by_user'
      -- A controller of somebody's changes it of its own accord, and so does the autoscaler of pods.
      OR who.signal = 'k8s.workload.updated_by_controller'
        AND (who.actor LIKE '%:horizontal-pod-autoscaler'
          OR who.by_operator IS NOT TRUE))
    AND who.fact <> s.fact AND who.time BETWEEN s.time - 2000000000 AND s.time_hi + 2000000000
  LEFT JOIN suspends own ON own.death = who.death AND own.record = who.record
  LEFT JOIN deleted x ON x.death = s.death AND x.time > s.time
  WHERE s.signal IN ('k8s.workload.spec_changed', 'k8s.workload.suspended') AND s.via = 'workload'
    AND s.mode = 'killed' AND s.lag_s BETWEEN -2 AND 120 AND COALESCE(s.created, 0) <= s.time - 1000000000
    AND x.death IS NULL
),
-- Controllers act on a change within seconds: one that was made just before the end is why, and not one long before it.
acts AS (
  SELECT m.death, m.who, m.what, m.actor FROM made m
  JOIN (SELECT death, MIN(lag) AS lag FROM made GROUP BY death) n ON n.death = m.death
  WHERE n.lag > 10 OR m.lag <= n.lag + 10
),
-- Which of two changes by two people stopped a pod that was there before both, no record says.
several AS (SELECT death FROM acts GROUP BY death HAVING COUNT(DISTINCT actor) > 1),
-- Who changes or takes away what kept failing tidies up.
looped AS (
  SELECT DISTINCT d.death FROM deaths d
  JOIN deaths f ON f.run = d.run AND f.pod = d.pod AND f.state = 'crash_loop'
),
held AS (
  SELECT w.death, w.fact, w.time, CASE WHEN f.death IS NULL THEN 'inferred' ELSE 'guess' END AS edge
  FROM links w
  LEFT JOIN failed f ON f.death = w.death
  WHERE w.signal = 'k8s.workload.suspension_requested_by_controller' AND w.via = 'workload'
    AND w.mode = 'killed' AND w.lag_s BETWEEN -2 AND 120
    AND w.by_operator IS NOT TRUE
)
SELECT c.death, COALESCE(own.fact, c.fact) AS cause, CAST(NULL AS BIGINT) AS effect,
       -- Controllers carry out at once what was changed: of a request of which no more is known than that it changed something,
       -- and nothing came of it for a while, nobody knows that it did this.
       CASE WHEN c.signal = 'k8s.workload.suspended' OR f.death IS NOT NULL OR m.death IS NOT NULL OR k.death IS NOT NULL
                 OR c.signal = 'k8s.workload.updated_by_user' AND c.lag_s > 2 THEN 'guess' ELSE 'inferred' END AS edge, 'act' AS role
FROM links c
LEFT JOIN last l ON l.death = c.death
LEFT JOIN failed f ON f.death = c.death
LEFT JOIN several m ON m.death = c.death
LEFT JOIN looped k ON k.death = c.death
LEFT JOIN suspends own ON own.death = c.death AND own.record = c.record AND c.signal = 'k8s.workload.updated_by_user'
LEFT JOIN deleted x ON x.death = c.death AND x.time > c.time
LEFT JOIN (SELECT death, MIN(lag) AS lag FROM made GROUP BY death) n ON n.death = c.death
WHERE (n.lag IS NULL OR n.lag > 10 OR c.lag_s <= n.lag + 10) AND c.signal IN ('k8s.workload.spec_changed', 'k8s.workload.suspended', 'k8s.workload.updated_by_user')
  AND c.via = 'workload' AND c.mode = 'killed' AND c.lag_s BETWEEN -2 AND 120 AND COALESCE(c.created, 0) <= c.time - 1000000000
  AND (c.signal <> 'k8s.workload.updated_by_user' OR c.time = l.time) AND x.death IS NULL
UNION ALL
-- A controller of somebody's that changes what a set is to be, and the set's own controller that replaces its pods for that.
SELECT DISTINCT u.death, u.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'act' AS role
FROM links u
JOIN links p ON p.death = u.death AND p.via = 'pod' AND p.signal = 'k8s.pod.deleted_by_controller' AND p.time >= u.time
  AND regexp_like(COALESCE(p.actor, ''), '^system:serviceaccount:kube-system:(statefulset|daemon-set|replicaset)-controller$')
WHERE u.signal = 'k8s.workload.updated_by_controller' AND u.via = 'workload' AND u.mode = 'killed' AND u.lag_s BETWEEN -2 AND 120
  AND u.by_operator IS NOT TRUE
UNION ALL
-- The request and the change it made are one act: the request names who.
SELECT a.death, a.who AS cause, a.what AS effect,
  CASE WHEN f.death IS NULL AND m.death IS NULL THEN 'asserted' ELSE 'guess' END AS edge, 'act' AS role
FROM acts a
LEFT JOIN failed f ON f.death = a.death
LEFT JOIN several m ON m.death = a.death
UNION ALL
-- A controller of somebody's suspends of its own accord; those of kinds and queues hand on what others want.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, edge, 'act' AS role FROM held
UNION ALL
SELECT h.death, h.fact AS cause, s.fact AS effect, CASE WHEN h.edge = 'guess' THEN 'guess' ELSE 'asserted' END AS edge, 'act' AS role
FROM held h
JOIN links s ON s.death = h.death AND s.via = 'workload' AND s.signal IN ('k8s.workload.spec_changed', 'k8s.workload.suspended')
  AND h.time - s.time BETWEEN -2000000000 AND 2000000000
UNION ALL
-- A controller of somebody's that takes the last pods away: its request names it.
SELECT s.death, who.fact AS cause, s.fact AS effect, 'asserted' AS edge, 'act' AS role
FROM links s
JOIN links who ON who.death = s.death AND who.via = 'workload' AND who.signal = 'k8s.workload.updated_by_controller'
  AND who.by_operator IS NOT TRUE
  AND who.time - s.time BETWEEN -2000000000 AND 60000000000 AND who.lag_s BETWEEN -2 AND 120
WHERE s.signal IN ('k8s.workload.spec_changed', 'k8s.workload.scaled.to_zero') AND s.via = 'workload'
  AND s.mode = 'killed' AND s.desired = 0 AND s.lag_s BETWEEN -2 AND 120 AND COALESCE(s.created, 0) <= s.time_hi
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'asserted' AS edge, 'act' AS role
FROM links
WHERE signal = 'k8s.container.changed_killed' AND via = 'pod' AND state IN ('died', 'restarted', 'crash_loop')
UNION ALL
-- A kubelet hears of a change within a second: who wrote the pod just before changed it.
SELECT k.death, who.fact AS cause, k.fact AS effect, 'inferred' AS edge, 'act' AS role
FROM links k
JOIN links who ON who.death = k.death AND who.via = 'pod' AND who.signal LIKE 'k8s.pod.updated_by_%'
  AND who.signal <> 'k8s.pod.updated_by_kubelet' AND k.time_hi - who.time BETWEEN 0 AND 10000000000
WHERE k.signal = 'k8s.container.changed_killed' AND k.via = 'pod' AND k.state IN ('died', 'restarted', 'crash_loop')
UNION ALL
-- The vertical autoscaler evicts a pod to give it other requests.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'asserted' AS edge, 'act' AS role
FROM links
WHERE (signal = 'k8s.pod.evicted_by_controller' AND actor LIKE '%vpa-updater%' OR signal = 'k8s.pod.evicted.vpa' AND lag_s BETWEEN -60 AND 120)
  AND via = 'pod' AND mode = 'killed'
UNION ALL
-- Slurm's own word, of a job that waits.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'asserted' AS edge, 'state' AS role
FROM links
WHERE signal = 'slurm.waiting.held' AND via = 'pod' AND state = 'never_scheduled'
UNION ALL
-- Scaled to nothing: the controller's Event says to which size, the change of the object between which.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'act' AS role
FROM links
WHERE signal IN ('k8s.workload.scaled.to_zero', 'k8s.workload.spec_changed', 'k8s.workload.updated_by_user')
  AND via = 'workload' AND state = 'scaled_to_zero'
UNION ALL
SELECT s.death, who.fact AS cause, s.fact AS effect, 'asserted' AS edge, 'act' AS role
FROM links s
JOIN links who ON who.death = s.death AND who.via = 'workload' AND who.signal = 'k8s.workload.updated_by_user'
  AND who.fact <> s.fact AND s.time - who.time BETWEEN -2000000000 AND 5000000000
WHERE s.signal IN ('k8s.workload.scaled.to_zero', 'k8s.workload.spec_changed') AND s.via = 'workload' AND s.state = 'scaled_to_zero'
UNION ALL
-- Suspended before it got a pod, or after its pods were gone; the object says so itself, and not who wanted it: a queue that it
-- names leaves the same traces where nothing else of it was read. What was made suspended waits for a queue or for its maker, and nothing was changed.
SELECT s.death, s.fact AS cause, CAST(NULL AS BIGINT) AS effect,
  CASE WHEN s.lag_s > -5 OR w.death IS NULL AND u.death IS NULL THEN 'guess' ELSE 'inferred' END AS edge, 'act' AS role
FROM links s
LEFT JOIN (SELECT DISTINCT death, record FROM links WHERE signal = 'k8s.workload.suspended.unqueued' AND via = 'workload') u
  ON u.death = s.death AND u.record = s.record
LEFT JOIN (SELECT DISTINCT s.death, s.fact FROM links s
           JOIN links w ON w.death = s.death AND w.via = 'workload'
             AND w.signal IN ('k8s.workload.updated_by_user', 'k8s.workload.suspension_requested_by_user')
             AND w.time BETWEEN s.time - 10000000000 AND s.time_hi + 2000000000
           WHERE s.signal = 'k8s.workload.suspended' AND s.via = 'workload') w ON w.death = s.death AND w.fact = s.fact
WHERE s.signal = 'k8s.workload.suspended' AND s.via = 'workload' AND s.state = 'never_created'
  AND s.death NOT IN (SELECT death FROM links WHERE signal = 'k8s.workload.created_suspended' AND via = 'workload')
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'guess' AS edge, 'state' AS role
FROM links
WHERE signal = 'k8s.workload.created_suspended' AND via = 'workload' AND state = 'never_created'
  -- Who deletes what never ran ended it.
  AND death NOT IN (SELECT death FROM links WHERE via = 'workload' AND signal IN ('k8s.workload.deleted_by_user', 'k8s.namespace.deleted_by_user'))
UNION ALL
-- Of a stateful set only the deletion of its pods is told; its own size says the rest.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'guess' AS edge, 'act' AS role
FROM links
WHERE signal = 'k8s.workload.pod_deleted' AND via = 'workload' AND state = 'scaled_to_zero'
UNION ALL
-- What was scaled down before a pod was made took others away.
SELECT l.death, l.fact AS cause, CAST(NULL AS BIGINT) AS effect,
  CASE WHEN k.death IS NULL THEN 'inferred' ELSE 'guess' END AS edge, 'act' AS role
FROM links l
LEFT JOIN looped k ON k.death = l.death
WHERE l.signal = 'k8s.workload.scaled.to_zero' AND l.via = 'workload' AND l.mode = 'killed' AND l.desired = 0
  AND l.lag_s BETWEEN -5 AND 120 AND COALESCE(l.created, 0) <= l.time_hi
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'guess' AS edge, 'act' AS role
FROM links
WHERE signal = 'k8s.workload.pod_deleted' AND via = 'named' AND mode = 'killed' AND desired = 0 AND lag_s BETWEEN -5 AND 120
UNION ALL
-- A deployment that was made smaller, and whose replica set deleted this pod for that; a rollout makes one replica set smaller
-- and another larger.
SELECT c.death, c.fact AS cause, p.fact AS effect, 'guess' AS edge, 'act' AS role
FROM links c
JOIN links p ON p.death = c.death AND p.via = 'named' AND p.signal = 'k8s.workload.pod_deleted'
  AND p.time_hi >= c.time - 2000000000 AND p.time - c.time < 60000000000
LEFT JOIN links up ON up.death = c.death AND up.via = 'workload' AND up.signal = 'k8s.workload.scaled.up'
  AND up.detail <> c.detail AND up.time - c.time BETWEEN -3600000000000 AND 600000000000
WHERE c.signal = 'k8s.workload.scaled.down' AND c.via = 'workload' AND c.mode = 'killed' AND c.lag_s BETWEEN -5 AND 120
  AND COALESCE(c.created, 0) <= c.time_hi AND up.fact IS NULL
UNION ALL
SELECT p.death, p.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'guess' AS edge, 'act' AS role
FROM links p
JOIN links c ON c.death = p.death AND c.via = 'workload' AND c.signal = 'k8s.workload.scaled.down'
  AND p.time_hi >= c.time - 2000000000 AND p.time - c.time < 60000000000
LEFT JOIN links up ON up.death = c.death AND up.via = 'workload' AND up.signal = 'k8s.workload.scaled.up'
  AND up.detail <> c.detail AND up.time - c.time BETWEEN -3600000000000 AND 600000000000
WHERE p.signal = 'k8s.workload.pod_deleted' AND p.via = 'named' AND p.mode = 'killed' AND p.lag_s BETWEEN -5 AND 120
  AND up.fact IS NULL
UNION ALL
-- The controller of a Job that neither failed nor ended, was not suspended and is wanted still, deletes a pod of it only where it
-- wants fewer.
SELECT p.death, p.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'guess' AS edge, 'act' AS role
FROM links p
LEFT JOIN links other ON other.death = p.death AND other.via = 'workload'
  AND (other.signal IN ('k8s.workload.failed', 'k8s.workload.backoff_limit', 'k8s.workload.deadline', 'k8s.workload.completed',
                        'k8s.workload.suspended', 'k8s.workload.deletion_requested', 'k8s.namespace.deletion_requested',
                        'k8s.workload.pod_failure_policy')
    OR other.signal LIKE 'k8s.workload.deleted%' OR other.signal LIKE 'k8s.namespace.deleted%' OR other.signal LIKE 'kueue.%'
    OR other.signal LIKE 'k8s.workload.suspension_requested%')
-- A Job whose pod was ended otherwise may have failed of that, and told of it later.
LEFT JOIN (SELECT DISTINCT d.run FROM deaths d
           LEFT JOIN links own ON own.death = d.death AND own.via = 'named' AND own.signal = 'k8s.workload.pod_deleted'
           WHERE d.mode IN ('killed', 'exited', 'lost') AND own.fact IS NULL) spoilt ON spoilt.run = p.run
WHERE p.signal = 'k8s.workload.pod_deleted' AND p.via = 'named' AND p.mode = 'killed' AND p.root_kind = 'Job' AND p.desired > 0
  AND p.lag_s BETWEEN -5 AND 120 AND other.fact IS NULL AND spoilt.run IS NULL
UNION ALL
-- A tool that keeps images up to date says which container it stops.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'claim' AS role
FROM links
WHERE signal = 'unit.replaced' AND via = 'pod' AND mode = 'killed' AND lag_s BETWEEN -5 AND 120
UNION ALL
-- What comes of a link that is down came of whoever took it down,
SELECT death, command AS cause, fact AS effect, 'inferred' AS edge, 'act' AS role FROM taken_down
UNION ALL
-- and so does the end of a program that needs it, where that gives no other reason.
SELECT DISTINCT t.death, t.command AS cause, CAST(NULL AS BIGINT) AS effect,
  CASE WHEN t.exit_code = 139 OR up.death IS NOT NULL OR t.steps_after THEN 'guess' ELSE 'inferred' END AS edge, 'act' AS role
FROM taken_down t
LEFT JOIN (SELECT DISTINCT death, machine, time FROM links WHERE signal = 'nic.link_up') up
  ON up.death = t.death AND up.machine = t.machine AND up.time BETWEEN t.time AND t.time + 60000000000
WHERE t.via IN ('node', 'pod') AND t.mode IN ('exited', 'killed') AND COALESCE(t.exit_code, 1) <> 0
  AND COALESCE(t.reason, '') <> 'OOMKilled' AND t.state IN ('died', 'restarted', 'crash_loop')
  AND (t.mode = 'exited' OR t.death IN (SELECT death FROM cut_off))
  AND t.lag_s BETWEEN -5 AND 900 AND t.death NOT IN (SELECT death FROM own_reason)
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'context' AS edge, 'state' AS role FROM taken_down
