-- cause: ops.node_drained
-- title: The node was drained
-- title_of: k8s.node.tainted.no_execute, k8s.node.changed_by_user, k8s.node.changed_by_other, k8s.pod.evicted.taint, k8s.pod.deleted_by_node_controller: Evicted because of a taint
-- rank: 70
-- level: established
-- needs: k8s.node.tainted.no_execute, k8s.pod.drained_by_kubectl, k8s.pod.evicted.api, k8s.pod.evicted_by_*, k8s.pod.deleted_by_user
-- needs: k8s.pod.taint_eviction_told, k8s.node.changed_by_*, k8s.pod.drain_blocked, k8s.pod.deletion_requested, k8s.container.killing, ray.node_ended, slurm.node.failed_check
-- summary_of: slurm.node.failed_check: {node} was taken out of service by its own health check, which ended the jobs on it: {detail}
-- title_of: slurm.node.failed_check: Its node was taken out of service
-- advice_of: slurm.node.failed_check: Look in the kernel log of the node for what the check found; a check that drains a node, rather than setting it to DOWN, lets jobs finish.
-- summary_of: ray.node_ended: Ray reports that a node of {workload} was stopped, scaled down or preempted.
-- title_of: ray.node_ended: A Ray node was removed
-- advice_of: ray.node_ended: Look in the log of Ray's autoscaler, or of the cloud, for who removed the node and why; on preemptible machines, save checkpoints more often.
-- overturned_by: audit: who requested it
-- summary: {pod} {was} evicted from {node}, which was being drained{by}.
-- summary_of: k8s.node.tainted.no_execute: {pod} {was} evicted from {node}, which had been given a NoExecute taint{by}.
-- summary_of: k8s.pod.evicted.api: {pod} {was} evicted from {node} through the Eviction API{by}, as a drain does.
-- summary_of: k8s.node.cordoned_by_user: {node} was cordoned{by}, who then deleted {pod}.
-- summary_of: k8s.node.cordoned, k8s.pod.deletion_requested, k8s.container.killing: {pod} {was} deleted just after its node, {node}, had been cordoned.
-- summary_of: k8s.pod.evicted.taint, k8s.pod.deleted_by_node_controller: {pod} {was} evicted from {node} because of a taint that no record shows.
-- summary_of: k8s.node.changed_by_user, k8s.node.changed_by_other: {node} was changed{by}, and {pod} {was} evicted from it because of a taint.
-- advice: Make sure that drains wait for running jobs, or protect the jobs with a PodDisruptionBudget.
-- advice_of: k8s.node.tainted.no_execute, k8s.node.changed_by_user, k8s.node.changed_by_other, k8s.pod.evicted.taint, k8s.pod.deleted_by_node_controller: Find out who tainted the node and why; a PodDisruptionBudget does not hold off a NoExecute taint.
-- Who evicts one pod need not drain its node: unless a record says that the node was closed, or kubectl did it, which
-- evicts for nothing else but what is written by hand, that is ops.manual_delete. A drained node stays closed.
WITH stated AS (
  SELECT DISTINCT death FROM links
  WHERE via = 'pod' AND (signal IN ('k8s.pod.evicted.vpa', 'k8s.pod.evicted.descheduler')
    OR signal LIKE 'k8s.pod.evicted_by_%' AND regexp_like(COALESCE(actor, ''), 'vpa-updater|descheduler'))
),
single AS (
  SELECT e.death, e.fact FROM links e
  LEFT JOIN links k ON k.death = e.death AND k.record = e.record AND k.signal = 'k8s.pod.drained_by_kubectl'
  LEFT JOIN retried ON retried.death = e.death AND retried.fact = e.fact
  WHERE e.signal = 'k8s.pod.evicted_by_user' AND e.via = 'pod' AND e.node_open IS NULL AND (k.fact IS NULL OR e.node_never_closed)
    AND retried.fact IS NULL
),
-- A node is tainted, as out of service, so that what was lost on it is cleared away: its controller had told of it, or of the
-- pod, that it was out of reach, and the node had not answered again.
out_of_reach AS (
  SELECT DISTINCT c.death, c.fact FROM links c
  JOIN links p ON p.death = c.death AND p.time < c.time
    AND (p.signal = 'k8s.pod.node_lost' AND p.via = 'pod'
      OR p.via = 'node' AND (p.signal = 'k8s.node.silent' OR p.signal = 'k8s.node.unreachable' AND COALESCE(p.detail, '') LIKE '%/unreachable'))
  LEFT JOIN links back ON back.death = c.death AND back.time > p.time AND back.time_hi < c.time
    AND (back.signal = 'k8s.node.ready' AND back.via = 'node' OR back.signal = 'k8s.pod.taint_eviction_cancelled' AND back.via = 'pod')
  WHERE c.signal = 'k8s.node.tainted.no_execute' AND c.via = 'node' AND back.fact IS NULL
),
changed AS (
  SELECT death, fact, time FROM links WHERE via = 'node' AND signal IN ('k8s.node.changed_by_user', 'k8s.node.changed_by_other')
),
-- What ran and was sent away from a node that answers leaves its kubelet's word that it was stopped: where the eviction's
-- Event is there and that one is not, the pod was over before.
leftover AS (
  SELECT DISTINCT t.death FROM links t
  LEFT JOIN links k ON k.death = t.death AND k.via = 'pod' AND k.signal = 'k8s.container.killing'
    AND k.time BETWEEN t.time - 15000000000 AND t.time_hi + 60000000000
  WHERE t.via = 'pod' AND t.signal = 'k8s.pod.taint_eviction_told' AND t.exit_code IS NULL AND k.fact IS NULL
),
-- Sent away by a taint that no record shows, from a node that nobody told of as out of reach: the kubelet obeyed, or somebody
-- had changed the node.
unseen AS (
  SELECT DISTINCT e.death, e.fact, e.time FROM links e
  JOIN links o ON o.death = e.death
    AND (o.via = 'pod' AND o.signal = 'k8s.container.killing' AND o.time BETWEEN e.time - 5000000000 AND e.time_hi + 60000000000
      OR o.via = 'node' AND o.signal IN ('k8s.node.changed_by_user', 'k8s.node.changed_by_other')
        AND e.time - o.time BETWEEN -1000000000 AND 3600000000000)
  LEFT JOIN links why ON why.death = e.death
    AND (why.via = 'pod' AND why.signal = 'k8s.pod.node_lost'
      OR why.via = 'node' AND why.signal IN ('k8s.node.tainted.no_execute', 'k8s.node.not_ready', 'k8s.node.silent', 'k8s.node.unreachable'))
  LEFT JOIN leftover ON leftover.death = e.death
  WHERE e.signal IN ('k8s.pod.evicted.taint', 'k8s.pod.deleted_by_node_controller') AND e.via = 'pod'
    AND e.mode IN ('killed', 'lost') AND why.fact IS NULL AND leftover.death IS NULL
  UNION
  -- Nor is it one of a silent node that sent away what tolerates that for longer than it was there.
  SELECT DISTINCT e.death, e.fact, e.time FROM links e
  LEFT JOIN links why ON why.death = e.death AND why.via = 'node' AND why.signal = 'k8s.node.tainted.no_execute'
  LEFT JOIN leftover ON leftover.death = e.death
  WHERE e.signal IN ('k8s.pod.evicted.taint', 'k8s.pod.deleted_by_node_controller') AND e.via = 'pod' AND e.stands_silence
    AND e.mode IN ('killed', 'lost') AND why.fact IS NULL AND leftover.death IS NULL
)
SELECT e.death, e.fact AS cause, CAST(NULL AS BIGINT) AS effect,
  CASE WHEN retried.fact IS NULL AND e.signal = 'k8s.pod.evicted_by_user' AND e.node_open IS NULL THEN 'guess'
    ELSE 'asserted' END AS edge,
  'act' AS role
FROM links e
LEFT JOIN retried ON retried.death = e.death AND retried.fact = e.fact
WHERE e.signal IN ('k8s.pod.evicted_by_user', 'k8s.pod.evicted_by_remediator')
  AND e.via = 'pod' AND e.mode IN ('killed', 'lost')
  AND (e.signal <> 'k8s.pod.evicted_by_user' OR e.node_open IS NOT TRUE OR retried.fact IS NOT NULL)
UNION ALL
-- Controllers evict for reasons of their own too: only of a closed node is it a drain, and of one that somebody else closed only
-- by who looks after machines. One that tells of its reason, or has one reason alone, drains nothing.
SELECT e.death, e.fact AS cause, CAST(NULL AS BIGINT) AS effect,
  CASE WHEN closed.death IS NULL OR closed.by_others AND own.death IS NULL
      AND NOT regexp_like(COALESCE(e.actor, ''), '(?i)(health|repair|remedi|doctor|fault|drain|maint|upgrade|node|machine)[^:]*$') THEN 'guess'
    ELSE 'asserted' END AS edge, 'act' AS role
FROM links e
LEFT JOIN (SELECT death, bool_and(actor IS NULL OR actor = 'kubelet') = false AS by_others FROM links
           WHERE via = 'node' AND COALESCE(lag_s, 0) >= -5 AND (signal LIKE 'k8s.node.cordoned%' OR signal = 'k8s.node.drained')
           GROUP BY death) closed
  ON closed.death = e.death
LEFT JOIN (SELECT DISTINCT death, actor FROM links
           WHERE via = 'node' AND COALESCE(lag_s, 0) >= -5 AND signal LIKE 'k8s.node.cordoned%') own
  ON own.death = e.death AND own.actor = e.actor
WHERE e.signal IN ('k8s.pod.evicted_by_controller', 'k8s.pod.evicted_by_other')
  AND e.via = 'pod' AND e.mode IN ('killed', 'lost') AND e.node_open IS NOT TRUE
  AND NOT regexp_like(COALESCE(e.actor, ''), 'vpa-updater|descheduler')
UNION ALL
-- Whoever evicts leaves the same condition: of a node that no record says was closed it may be no drain.
SELECT e.death, e.fact AS cause, CAST(NULL AS BIGINT) AS effect,
  CASE WHEN closed.death IS NULL THEN 'guess' ELSE 'inferred' END AS edge, 'act' AS role
FROM links e
LEFT JOIN (SELECT DISTINCT death FROM links
           WHERE via = 'node' AND COALESCE(lag_s, 0) >= -5 AND (signal LIKE 'k8s.node.cordoned%' OR signal = 'k8s.node.drained')) closed
  ON closed.death = e.death
LEFT JOIN stated ON stated.death = e.death
WHERE e.signal = 'k8s.pod.evicted.api' AND e.via = 'pod' AND e.mode IN ('killed', 'lost') AND e.node_open IS NOT TRUE
  AND stated.death IS NULL
UNION ALL
-- The eviction's own record and the condition it left are one act: the record names who.
SELECT e.death, who.fact AS cause, e.fact AS effect,
  CASE WHEN single.fact IS NULL THEN 'asserted' ELSE 'guess' END AS edge, 'act' AS role
FROM links e
JOIN links who ON who.death = e.death AND who.via = 'pod' AND who.signal LIKE 'k8s.pod.evicted_by_%'
  AND NOT regexp_like(COALESCE(who.actor, ''), 'vpa-updater|descheduler')
LEFT JOIN single ON single.death = who.death AND single.fact = who.fact
LEFT JOIN retried ON retried.death = who.death AND retried.fact = who.fact
WHERE e.signal = 'k8s.pod.evicted.api' AND e.via = 'pod' AND e.fact <> who.fact
  AND (e.node_open IS NOT TRUE OR retried.fact IS NOT NULL)
UNION ALL
-- Deleted by nobody that was seen, just after its node was closed: drained, more likely than not. What was deleted
-- before that was not, nor was what its own object shows as deleted and not evicted.
SELECT d.death, c.fact AS cause, d.fact AS effect, 'guess' AS edge, 'act' AS role
FROM links d
LEFT JOIN not_evicted n ON n.death = d.death
JOIN links c ON c.death = d.death AND c.via = 'node' AND c.signal = 'k8s.node.cordoned'
  AND GREATEST(d.time_hi - 1, d.time) >= c.time AND d.time - c.time < 600000000000 AND c.time_hi <= d.time_hi + 5000000000
WHERE d.signal IN ('k8s.pod.deletion_requested', 'k8s.container.killing') AND d.via = 'pod' AND d.mode = 'killed' AND d.lag_s BETWEEN -60 AND 60
  AND n.death IS NULL
UNION ALL
SELECT d.death, d.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'guess' AS edge, 'act' AS role
FROM links d
JOIN (SELECT DISTINCT d.death, d.fact FROM links d
      JOIN links c ON c.death = d.death AND c.via = 'node' AND c.signal = 'k8s.node.cordoned'
        AND GREATEST(d.time_hi - 1, d.time) >= c.time AND d.time - c.time < 600000000000 AND c.time_hi <= d.time_hi + 5000000000
      WHERE d.signal IN ('k8s.pod.deletion_requested', 'k8s.container.killing') AND d.via = 'pod') c
  ON c.death = d.death AND c.fact = d.fact
LEFT JOIN not_evicted n ON n.death = d.death
WHERE d.mode = 'killed' AND d.lag_s BETWEEN -60 AND 60 AND n.death IS NULL
UNION ALL
-- Tainting is draining, too. Whoever cannot stand the taint goes at once; who stands it for a
-- while goes later, and then another taint may be why.
SELECT c.death, c.fact AS cause, e.fact AS effect,
  CASE WHEN out.death IS NOT NULL THEN 'context' WHEN c.time_hi - 600000000000 >= c.time THEN 'guess' WHEN e.time - c.time < 10000000000 THEN 'asserted' ELSE 'inferred' END AS edge, 'act' AS role
FROM links c
LEFT JOIN out_of_reach out ON out.death = c.death AND out.fact = c.fact
JOIN links e ON e.death = c.death AND e.via = 'pod'
  AND e.signal IN ('k8s.pod.evicted.taint', 'k8s.pod.deleted_by_node_controller')
  AND e.time_hi >= c.time - 5000000000 AND e.time - c.time < 3600000000000
LEFT JOIN leftover ON leftover.death = c.death
-- A printed Event may be of minutes, and of a taint it may be known only by when it was there; nobody was sent away for a taint that was set after the end.
WHERE leftover.death IS NULL AND c.signal = 'k8s.node.tainted.no_execute' AND c.via = 'node' AND c.mode IN ('killed', 'lost') AND c.lag_s >= -15
UNION ALL
SELECT e.death, e.fact AS cause, CAST(NULL AS BIGINT) AS effect,
  CASE WHEN c.dated THEN 'asserted' ELSE 'guess' END AS edge, 'act' AS role
FROM links e
JOIN (SELECT e.death, e.fact, bool_or(c.time_hi - 600000000000 < c.time) AS dated FROM links c
      LEFT JOIN out_of_reach out ON out.death = c.death AND out.fact = c.fact
      JOIN links e ON e.death = c.death AND e.via = 'pod'
        AND e.signal IN ('k8s.pod.evicted.taint', 'k8s.pod.deleted_by_node_controller')
        AND e.time_hi >= c.time - 5000000000 AND e.time - c.time < 3600000000000
      WHERE c.signal = 'k8s.node.tainted.no_execute' AND c.via = 'node' AND c.lag_s >= -15 AND out.fact IS NULL
      GROUP BY e.death, e.fact) c
  ON c.death = e.death AND c.fact = e.fact
LEFT JOIN leftover ON leftover.death = e.death
WHERE e.mode IN ('killed', 'lost') AND leftover.death IS NULL
UNION ALL
-- The taint was not seen, but who changed the node last before the pod was sent away.
SELECT e.death, c.fact AS cause, e.fact AS effect, 'guess' AS edge, 'act' AS role
FROM unseen e
JOIN changed c ON c.death = e.death AND c.time <= e.time + 1000000000 AND e.time - c.time < 3600000000000
LEFT JOIN changed later ON later.death = c.death AND later.time > c.time AND later.time <= e.time + 1000000000
WHERE later.fact IS NULL
UNION ALL
-- Of a node that was ready all the time it was no taint of one that is not; of one that nobody looked at it most likely was: a
-- kubelet that says itself that its node is not ready still obeys.
SELECT u.death, u.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'guess' AS edge, 'claim' AS role
FROM unseen u
JOIN deaths d ON d.death = u.death
LEFT JOIN changed c ON c.death = u.death AND c.time <= u.time + 1000000000 AND u.time - c.time < 3600000000000
WHERE d.node_ready OR d.stands_silence OR c.fact IS NOT NULL
UNION ALL
-- A drain that deletes instead of evicting: one actor cordons the node, then deletes the pod.
SELECT d.death, c.fact AS cause, d.fact AS effect, 'inferred' AS edge, 'act' AS role
FROM links d
JOIN links c ON c.death = d.death AND c.via = 'node' AND c.actor = d.actor
  AND c.signal = 'k8s.node.cordoned_by_user' AND d.time - c.time BETWEEN 0 AND 900000000000
WHERE d.signal = 'k8s.pod.deleted_by_user' AND d.via = 'pod' AND d.mode IN ('killed', 'lost') AND d.node_open IS NOT TRUE
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'context' AS edge, 'act' AS role
FROM links
WHERE signal = 'k8s.node.cordoned' AND detail IS NULL AND via = 'node' AND mode IN ('killed', 'lost')
  AND lag_s BETWEEN -5 AND 3900
UNION ALL
-- Alerts are silenced before maintenance; a silence alone proves none.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'context' AS edge, 'act' AS role
FROM links
WHERE via IN ('node', 'pod') AND mode IN ('killed', 'lost')
  AND ((signal = 'alert.silenced' AND due_s BETWEEN -600 AND 0) OR (signal = 'note.maintenance' AND lag_s BETWEEN -600 AND 3900))
UNION ALL
-- Ray's own word that one of its nodes was ended deliberately; by whom, it does not say.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'guess' AS edge, 'claim' AS role
FROM links
WHERE signal = 'ray.node_ended' AND via = 'pod' AND mode = 'exited' AND COALESCE(exit_code, 1) NOT IN (0, 137, 143)
  AND lag_s BETWEEN -5 AND 120
UNION ALL
-- A health check of a node of Slurm gives its reason in a line of its own.
SELECT r.death, r.fact AS cause, d.fact AS effect, 'asserted' AS edge, 'act' AS role
FROM links r
JOIN links d ON d.death = r.death AND d.via = 'node' AND d.signal = 'slurm.node.set_down' AND d.time - r.time BETWEEN -1000000000 AND 5000000000
WHERE r.signal = 'slurm.node.failed_check' AND r.via = 'node' AND r.node = d.node
