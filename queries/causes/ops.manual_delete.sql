-- cause: ops.manual_delete
-- title: Deleted on request
-- rank: 65
-- level: established
-- needs: k8s.pod.deleted_by_user, k8s.pod.deleted_by_controller, k8s.workload.deleted_by_user, k8s.workload.deleted_by_remediator, k8s.namespace.deleted_by_user
-- needs: k8s.namespace.deleted_by_controller, k8s.namespace.deleted_by_other, k8s.pod.deleted_by_upgrader, k8s.pod.deleted_by_remediator
-- needs: k8s.namespace.deletion_requested, k8s.workload.deletion_requested
-- needs: k8s.node_claim.deleted_by_user, k8s.node_pool.deleted_by_user
-- needs: k8s.node.deleted_by_user, k8s.pod.deletion_requested, k8s.container.killing
-- needs: cloud.instance_deleted_by_user, cloud.instance_stopped_by_user, cloud.instance_reset_by_user
-- needs: k8s.pod.drained_by_kubectl, k8s.pod.drain_blocked, k8s.pod.evicted_by_user, k8s.pod.evicted_by_controller, k8s.pod.evicted_by_other, k8s.pod.evicted.api
-- needs: k8s.pod.evicted.podgc, slurm.cancelled, slurm.cancel_requested, cloud.group_deleted_by_user, k8s.workload.deleted_by_controller, k8s.workload.deleted_by_gc
-- needs: k8s.pod.evicted.descheduler, batch.cancelled.lsf, node.container_stop_requested, unit.stop_requested, ray.job_stopped, log.hung_up, log.interrupted, k8s.pod.signalled_by_user, k8s.workload.stopped
-- needs: k8s.workload.stop_requested_by_*, k8s.workload.job_deleted
-- needs: k8s.service.deleted_by_user, cloud.group_stopped_by_user, cloud.group_resized_by_user, cloud.instance_recreation_requested_by_user, slurm.node.set_down, node.kill_requested, unit.stopping
-- overturned_by: audit: who requested it
-- summary: {pod} {was} deleted{by}.
-- summary_of: k8s.workload.deleted_by_gc: {pod} {was} removed because the object that owned the workload had been deleted; no record shows who deleted it.
-- summary_of: cloud.instance_stopped_by_user: The machine of {pod} was stopped{by}.
-- summary_of: cloud.group_stopped_by_user: The machine of {pod} was stopped or restarted with its whole instance group{by}.
-- title_of: cloud.group_stopped_by_user: Stopped on request
-- summary_of: cloud.instance_recreation_requested_by_user: The machine of {pod} was deleted{by} in order to recreate it.
-- title_of: cloud.instance_recreation_requested_by_user: Recreated on request
-- advice_of: cloud.instance_recreation_requested_by_user: Find out why the machine was recreated; there is no sign of a fault.
-- summary_of: cloud.group_resized_by_user: The instance group of {node} was resized{by}, and {node} was removed; {pod} {was} on it.
-- title_of: cloud.group_resized_by_user: Its instance group was made smaller
-- advice_of: cloud.group_resized_by_user: Find out why the group was made smaller; protect training machines from scale-in.
-- summary_of: cloud.instance_reset_by_user: The machine of {pod} was reset{by}.
-- summary_of: cloud.instance_deleted_by_user, cloud.group_deleted_by_user: The machine of {pod} was deleted{by}.
-- summary_of: k8s.node.deleted_by_user: {node} was deleted{by}; {pod} {was} on it.
-- summary_of: k8s.node_claim.deleted_by_user: The Karpenter NodeClaim of {node} was deleted{by}, which removed the node; {pod} {was} on it.
-- summary_of: k8s.node_pool.deleted_by_user: The Karpenter NodePool of {node} was deleted{by}, which removed its nodes; {pod} {was} on one.
-- summary_of: k8s.pod.evicted_by_*, k8s.pod.evicted.api: {pod} {was} evicted{by}.
-- summary_of: k8s.pod.evicted.descheduler: {pod} {was} evicted by the descheduler, which moves pods to other nodes.
-- summary_of: ray.job_stopped: The Ray job was stopped on request; {pod} ended with it.
-- summary_of: k8s.workload.stopped, k8s.workload.stop_requested_by_*, k8s.workload.updated_by_user: {workload} was stopped{by}.
-- summary_of: k8s.pod.signalled_by_user: The program of {pod} was killed by a command that was run in its container{by}.
-- summary_of: k8s.service.deleted_by_user: {pod} could not resolve a name that a Service had given, just after that had been deleted: {message}
-- title_of: k8s.service.deleted_by_user: A Service was deleted
-- advice_of: k8s.service.deleted_by_user: Create the Service again before the run is started again, and find out why it was deleted.
-- summary_of: slurm.cancelled: {pod} {was} cancelled{by}.
-- summary_of: log.hung_up: {pod} {was} ended by SIGHUP, as happens when the terminal or ssh session that it was started in closes; no record shows who sent it.
-- summary_of: log.interrupted: {pod} {was} interrupted by SIGINT, as by Ctrl-C; no record shows who sent it.
-- summary_of: unit.stop_requested: The service of {pod} was stopped{by}.
-- summary_of: batch.cancelled.lsf: {pod} was cancelled at the request of its owner or of an administrator: {message}
-- title_of: batch.cancelled.lsf: Cancelled on request
-- summary_of: node.container_stop_requested: A container on {node} was stopped{by} as {pod} ended.
-- title_of: node.container_stop_requested: A container was stopped on request
-- summary_of: unit.stopping: The service of {pod} was stopped on request; no record shows who requested it.
-- summary_of: node.kill_requested: {pod} {was} killed just after a signal was sent to processes of {node}{by}.
-- title_of: node.kill_requested: Killed by a command
-- advice_of: node.kill_requested: Find out why it was killed; there is no sign of a fault.
-- title_of: unit.stop_requested, unit.stopping: Stopped on request
-- advice_of: unit.stop_requested, unit.stopping: Find out why the service was stopped; there is no sign of a fault.
-- title_of: cloud.instance_stopped_by_user: Stopped on request
-- title_of: cloud.instance_reset_by_user: Reset on request
-- title_of: k8s.pod.evicted_by_*, k8s.pod.evicted.api, k8s.pod.evicted.descheduler: Evicted on request
-- title_of: k8s.workload.stopped, k8s.workload.stop_requested_by_*, k8s.workload.updated_by_user: Stopped on request
-- title_of: k8s.pod.signalled_by_user: Killed by a command
-- title_of: slurm.cancelled: Cancelled
-- title_of: ray.job_stopped: Stopped on request
-- title_of: log.hung_up: Its terminal closed
-- title_of: log.interrupted: Interrupted
-- summary_of: slurm.node.down_requested: A node of {pod} was taken out of service in Slurm{by}, which ended the jobs on it.
-- summary_of: slurm.node.set_down: {node} was taken out of service in Slurm{by}, which ended the jobs on it.
-- summary_of: slurm.node.reason_given: {node} was taken out of service in Slurm{by}, which ended the jobs on it; the reason given was "{detail}".
-- title_of: slurm.node.set_down, slurm.node.reason_given, slurm.node.down_requested: Its node was taken out of service
-- advice_of: slurm.node.set_down, slurm.node.down_requested: Find out why the node was set to DOWN rather than drained, which lets jobs finish; scontrol show node has the reason.
-- advice_of: slurm.node.reason_given: Look in the kernel log of the node for what the reason names; to take a node out of service without ending its jobs, drain it.
-- advice: Find out why it was deleted; there is no sign of a fault.
-- advice_of: k8s.pod.deletion_requested, k8s.container.killing: Find out who or what deleted it; a person, a drain and a controller leave the same traces here.
-- advice_of: cloud.instance_stopped_by_user, cloud.group_stopped_by_user, ray.job_stopped: Find out why it was stopped; there is no sign of a fault.
-- advice_of: cloud.instance_reset_by_user: Find out why it was reset; there is no sign of a fault.
-- advice_of: k8s.pod.evicted_by_*, k8s.pod.evicted.api: Find out why it was evicted; there is no sign of a fault.
-- advice_of: k8s.pod.evicted.descheduler: Keep the descheduler away from training pods (by namespace, by priority, or with the annotation descheduler.alpha.kubernetes.io/prefer-no-eviction).
-- advice_of: k8s.workload.deleted_by_gc: Find out who deleted the object that owned it (metadata.ownerReferences).
-- advice_of: k8s.workload.stopped, k8s.workload.stop_requested_by_*, k8s.workload.updated_by_user: Find out why it was stopped; there is no sign of a fault.
-- advice_of: k8s.pod.signalled_by_user: Find out why it was killed; there is no sign of a fault.
-- advice_of: slurm.cancelled: Find out why it was cancelled; there is no sign of a fault.
-- advice_of: log.hung_up: Start it in tmux or screen, with nohup, or as a service, so that it outlives the session; there is no sign of a fault.
-- advice_of: log.interrupted: Find out who or what interrupted it: a person, a wrapper script or a job manager; there is no sign of a fault.
WITH silence AS (
  SELECT s.death, MAX(s.time) AS time, MAX(r.time) AS again
  FROM links s
  LEFT JOIN links r ON r.death = s.death AND r.via = 'node' AND r.signal = 'k8s.node.ready' AND r.lag_s >= 0
  WHERE s.lag_s >= 0
    AND (s.via = 'node' AND (s.signal = 'k8s.node.silent' OR s.signal = 'k8s.node.unreachable' AND COALESCE(s.detail, '') LIKE '%/unreachable')
      OR s.via = 'pod' AND s.signal = 'k8s.pod.node_lost')
  GROUP BY s.death
),
-- A group of a LeaderWorkerSet that its controller makes anew: it deletes the leader, whose name those of the others go on from.
recreated AS (
  SELECT m.death FROM deaths m
  JOIN links g ON g.run = m.run AND g.via = 'named' AND g.signal = 'k8s.workload.group_recreated'
    AND (g.death = m.death OR m.pod LIKE g.pod || '-%')
  JOIN links w ON w.death = m.death AND w.fact = g.fact AND w.lag_s BETWEEN -5 AND 120
),
evicted AS (
  SELECT e.death, e.fact,
    CASE WHEN e.node_open OR e.signal = 'k8s.pod.evicted_by_user' AND k.fact IS NULL THEN 'asserted' ELSE 'inferred' END AS edge
  FROM links e
  LEFT JOIN links k ON k.death = e.death AND k.record = e.record AND k.signal = 'k8s.pod.drained_by_kubectl'
  LEFT JOIN (SELECT DISTINCT death FROM links
             WHERE via = 'node' AND (signal LIKE 'k8s.node.cordoned%' OR signal = 'k8s.node.drained' OR signal LIKE 'k8s.node.tainted%')
               -- What is closed later was open until then.
               AND NOT (node_never_closed AND COALESCE(lag_s, 0) < 0)) closed
    ON closed.death = e.death
  -- Refused and asked again every five seconds, it is a drain's (ops.node_drained).
  LEFT JOIN retried ON retried.death = e.death AND retried.fact = e.fact
  WHERE e.signal IN ('k8s.pod.evicted_by_user', 'k8s.pod.evicted_by_controller', 'k8s.pod.evicted_by_other')
    AND retried.fact IS NULL
    AND e.via = 'pod' AND e.mode IN ('killed', 'lost') AND COALESCE(e.actor, '') NOT LIKE '%vpa-updater%'
    -- A descheduler moves pods, whoever has closed the node.
    AND (e.node_open OR e.node_open IS NULL AND (k.fact IS NULL OR e.node_never_closed) AND closed.death IS NULL
      OR regexp_like(COALESCE(e.actor, ''), 'descheduler'))
)
-- What was on a node that nothing was heard of by then may have been lost before, unless its kubelet saw it off.
SELECT d.death, d.fact AS cause, CAST(NULL AS BIGINT) AS effect,
  CASE WHEN s.death IS NOT NULL AND d.exit_code IS NULL AND k.death IS NULL THEN 'inferred' ELSE 'asserted' END AS edge, 'act' AS role
FROM links d
LEFT JOIN silence s ON s.death = d.death AND s.time < d.time AND COALESCE(s.again, s.time) <= s.time
LEFT JOIN (SELECT DISTINCT death FROM links
           WHERE via = 'pod' AND signal IN ('k8s.container.killing', 'k8s.pod.deleted_by_kubelet')) k ON k.death = d.death
WHERE d.signal = 'k8s.pod.deleted_by_user' AND d.via = 'pod' AND d.mode IN ('killed', 'lost')
UNION ALL
-- Somebody's own controller does so of its own accord; those that make and replace pods, or clear away what is left, do it
-- for another reason.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'act' AS role
FROM links
WHERE signal = 'k8s.pod.deleted_by_controller' AND via = 'pod' AND mode IN ('killed', 'lost')
  AND (actor LIKE 'system:serviceaccount:%' OR regexp_like(actor, '(?i)health|doctor|repair|heal|fixer|remediat|quarantin|drainer|watchdog'))
  AND by_operator IS NOT TRUE
UNION ALL
-- Tools that upgrade machines or look after them close a machine first, for a reason of its own: where no record shows either,
-- such a tool deleted the pod, and no more than that is known.
SELECT d.death, d.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'act' AS role
FROM links d
LEFT JOIN looked_after l ON l.death = d.death
WHERE d.signal IN ('k8s.pod.deleted_by_upgrader', 'k8s.pod.deleted_by_remediator') AND d.via = 'pod' AND d.mode IN ('killed', 'lost')
  AND l.death IS NULL
UNION ALL
-- A CronJob that may run one job at a time deletes the one that runs for the next (concurrencyPolicy: Replace). What is over it
-- clears away, too: its history has a limit, so that something has to tell that the pod still ran.
SELECT c.death, c.fact AS cause, CAST(NULL AS BIGINT) AS effect,
  CASE WHEN alive.death IS NULL AND c.exit_code IS NULL THEN 'guess' ELSE 'asserted' END AS edge, 'act' AS role
FROM links c
LEFT JOIN (SELECT DISTINCT death FROM links
           WHERE via = 'pod' AND (signal IN ('k8s.container.killing', 'k8s.pod.deleted_by_kubelet', 'k8s.pod.running')
             OR signal = 'log.progress' AND lag_s BETWEEN -60 AND 600)) alive ON alive.death = c.death
WHERE c.via = 'workload' AND c.mode = 'killed' AND c.lag_s BETWEEN -5 AND 60
  AND c.state = 'died' AND (c.signal = 'k8s.workload.deleted_by_controller' AND c.actor LIKE '%:cronjob-controller' OR c.signal = 'k8s.workload.job_deleted')
UNION ALL
-- An eviction asks for a pod's end as a deletion does; of a node that no record says was closed it is no drain, unless
-- kubectl did it, which evicts for nothing else.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, edge, 'act' AS role FROM evicted
UNION ALL
-- The condition that the eviction left is the same act.
SELECT e.death, who.fact AS cause, e.fact AS effect, 'asserted' AS edge, 'act' AS role
FROM links e
JOIN evicted who ON who.death = e.death
WHERE e.signal = 'k8s.pod.evicted.api' AND e.via = 'pod' AND e.fact <> who.fact
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'guess' AS edge, 'act' AS role
FROM links
WHERE signal = 'k8s.pod.evicted.api' AND via = 'pod' AND mode IN ('killed', 'lost') AND node_open
UNION ALL
-- The descheduler says so itself.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'asserted' AS edge, 'act' AS role
FROM links
WHERE signal = 'k8s.pod.evicted.descheduler' AND via = 'pod' AND mode IN ('killed', 'lost') AND lag_s BETWEEN -60 AND 120
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'act' AS role
FROM links
-- No controller of a cluster deletes a namespace unasked: whoever does wants it gone.
WHERE signal IN ('k8s.workload.deleted_by_user', 'k8s.workload.deleted_by_remediator', 'k8s.namespace.deleted_by_user',
                 'k8s.namespace.deleted_by_controller', 'k8s.namespace.deleted_by_other') AND via = 'workload'
  AND (mode IN ('killed', 'lost') OR state = 'never_created') AND lag_s BETWEEN -5 AND 600
UNION ALL
-- Somebody's controller that deletes a workload does so of its own accord; one that makes and replaces them,
-- or clears away what is left, does it for another reason.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'act' AS role
FROM links
WHERE signal = 'k8s.workload.deleted_by_controller' AND via = 'workload' AND mode = 'killed' AND lag_s BETWEEN -5 AND 600
  AND by_operator IS NOT TRUE
  -- Argo's controller deletes a Workflow only once that is over (ttlStrategy, retentionPolicy, a history's limit); to end one it
  -- shuts it down.
  AND NOT (root_kind = 'Workflow' AND regexp_like(COALESCE(actor, ''), '^system:serviceaccount:[^:]+:(argo|argo-workflows?|[^:]*workflow-controller[^:]*)$'))
UNION ALL
-- What lost its owner is cleared away: somebody deleted that, and no record says who.
SELECT g.death, g.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'guess' AS edge, 'act' AS role
FROM links g
LEFT JOIN links other ON other.death = g.death AND other.via = 'workload' AND other.signal <> 'k8s.workload.deleted_by_gc'
  AND (other.signal LIKE 'k8s.workload.deleted_by_%' OR other.signal LIKE 'k8s.namespace.deleted_by_%')
WHERE g.signal = 'k8s.workload.deleted_by_gc' AND g.via = 'workload' AND g.mode = 'killed' AND g.lag_s BETWEEN -5 AND 600
  AND other.fact IS NULL AND g.death NOT IN (SELECT death FROM recreated)
UNION ALL
-- A workload of whose pods nothing is known: the record of its end names it. Whether it still ran, none says, and people delete
-- what is over as well.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'guess' AS edge, 'act' AS role
FROM links
WHERE signal IN ('k8s.workload.deleted_by_user', 'k8s.namespace.deleted_by_user') AND via = 'workload'
  AND state = 'deleted' AND lag_s BETWEEN -5 AND 60
UNION ALL
-- Of a workload whose pods were kept away the end is all that is known; what kept them away says more.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'guess' AS edge, 'act' AS role
FROM links
WHERE signal IN ('k8s.workload.deleted_by_user', 'k8s.namespace.deleted_by_user') AND via = 'workload'
  AND state = 'never_created' AND lag_s < -5
UNION ALL
-- That it was asked for its namespace or its workload is told, and not by whom; of a workload its own maker may have.
SELECT p.death, p.fact AS cause, CAST(NULL AS BIGINT) AS effect,
  CASE WHEN p.signal = 'k8s.namespace.deletion_requested' THEN 'inferred' ELSE 'guess' END AS edge, 'act' AS role
FROM links p
LEFT JOIN links other ON other.death = p.death AND other.via = 'workload'
  AND (other.signal LIKE 'k8s.workload.deleted_by_%' OR other.signal LIKE 'k8s.namespace.deleted_by_%')
WHERE p.signal IN ('k8s.namespace.deletion_requested', 'k8s.workload.deletion_requested') AND p.via = 'workload'
  AND p.mode IN ('killed', 'lost') AND p.lag_s BETWEEN -5 AND 600 AND other.fact IS NULL
UNION ALL
-- Who clears away what lost its owner, or keeps a workload as it was asked for, looks at no node. Who removes a node of which
-- nothing was heard by then may have switched it off, or clears away what was lost.
SELECT u.death, u.fact AS cause, CAST(NULL AS BIGINT) AS effect,
  CASE WHEN g.death IS NULL AND s.death IS NULL THEN 'inferred' ELSE 'guess' END AS edge, 'act' AS role
FROM links u
LEFT JOIN silence s ON s.death = u.death AND s.time < u.time AND COALESCE(s.again, s.time) <= s.time
LEFT JOIN (SELECT DISTINCT g.death FROM links g
           LEFT JOIN links p ON p.death = g.death AND p.via = 'pod' AND p.signal IN ('k8s.pod.evicted.podgc', 'k8s.pod.deleted_by_podgc')
           WHERE g.via = 'pod' AND g.mode = 'killed' AND p.fact IS NULL
             AND g.signal IN ('k8s.pod.deleted_by_gc', 'k8s.pod.deleted_by_controller', 'k8s.pod.deleted_by_namespace_controller')) g
  ON g.death = u.death
WHERE u.signal = 'k8s.node.deleted_by_user' AND u.via = 'node' AND u.mode IN ('killed', 'lost')
  AND u.lag_s BETWEEN -5 AND 900
UNION ALL
-- Karpenter empties and ends a machine whose node, claim or pool somebody deletes, as it does for reasons of its own.
SELECT u.death, u.fact AS cause, m.fact AS effect, 'inferred' AS edge, 'act' AS role
FROM links u
JOIN links m ON m.death = u.death AND m.time BETWEEN u.time AND u.time + 3900000000000
  AND (m.via = 'pod' AND m.signal IN ('k8s.pod.evicted_by_autoscaler', 'k8s.pod.deleted_by_autoscaler', 'k8s.pod.evicted.api')
    OR m.via = 'node' AND m.signal IN ('k8s.node.cordoned_by_autoscaler', 'k8s.node.tainted_by_autoscaler', 'k8s.node.deleted_by_autoscaler',
                                       'k8s.node_claim.deleted_by_autoscaler', 'cloud.instance_deleted_by_autoscaler', 'cloud.instance_terminating'))
  AND regexp_like(COALESCE(m.actor, 'karpenter'), '(?i)karpenter')
WHERE u.signal IN ('k8s.node.deleted_by_user', 'k8s.node_claim.deleted_by_user', 'k8s.node_pool.deleted_by_user') AND u.via IN ('node', 'pool')
  AND u.mode IN ('killed', 'lost')
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'act' AS role
FROM links
WHERE signal IN ('k8s.node_claim.deleted_by_user', 'k8s.node_pool.deleted_by_user') AND via IN ('node', 'pool')
  AND mode IN ('killed', 'lost') AND lag_s BETWEEN -5 AND 900
UNION ALL
-- At the cloud: the machine itself, or what was on it.
SELECT u.death, u.fact AS cause, CAST(NULL AS BIGINT) AS effect,
  CASE WHEN u.via = 'pod' THEN 'asserted' WHEN h.death IS NOT NULL THEN 'guess' ELSE 'inferred' END AS edge, 'act' AS role
FROM links u
LEFT JOIN (SELECT DISTINCT death, fact FROM reset_at_cloud WHERE hung) h ON h.death = u.death AND h.fact = u.fact
WHERE u.signal IN ('cloud.instance_deleted_by_user', 'cloud.instance_stopped_by_user', 'cloud.instance_reset_by_user')
  AND u.via IN ('pod', 'node') AND u.mode IN ('killed', 'lost') AND u.lag_s BETWEEN -5 AND 900
UNION ALL
-- A machine that goes down and boots after a person asked its cloud to reset it does so for that.
SELECT death, fact AS cause, effect, 'inferred' AS edge, 'act' AS role
FROM reset_at_cloud
WHERE signal = 'cloud.instance_reset_by_user' AND effect IS NOT NULL
UNION ALL
-- A machine that somebody deletes, stops or resets falls silent for that.
SELECT u.death, u.fact AS cause, m.fact AS effect, 'inferred' AS edge, 'act' AS role
FROM links u
JOIN mechanisms m ON m.death = u.death AND m.time BETWEEN u.time AND u.time + 900000000000
WHERE u.signal IN ('cloud.instance_deleted_by_user', 'cloud.instance_stopped_by_user', 'cloud.instance_reset_by_user',
                   'k8s.node.deleted_by_user')
  AND u.via = 'node' AND u.mode IN ('killed', 'lost')
  AND (m.signal IN ('k8s.node.not_ready', 'k8s.node.silent', 'k8s.pod.node_lost', 'k8s.node.gone_in_cloud', 'k8s.node.vm_stopped',
                    'k8s.node.shutdown', 'k8s.pod.node_shutdown', 'k8s.node.rebooted', 'k8s.pod.evicted.taint', 'k8s.pod.evicted.podgc')
    OR m.signal LIKE 'k8s.pod.deleted_by_%' OR m.signal LIKE 'k8s.node.deleted_by_%')
  AND m.signal NOT LIKE '%_by_user'
UNION ALL
-- Or has made anew: its group deletes it for that.
SELECT u.death, u.fact AS cause, m.fact AS effect, 'inferred' AS edge, 'act' AS role
FROM links u
JOIN links m ON m.death = u.death AND m.via = u.via AND m.signal = 'cloud.instance_deleted_by_controller' AND m.time - u.time BETWEEN -5000000000 AND 900000000000
WHERE u.signal = 'cloud.instance_recreation_requested_by_user' AND u.via IN ('pod', 'node') AND u.mode IN ('killed', 'lost') AND u.lag_s BETWEEN -5 AND 900
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'act' AS role
FROM links
WHERE signal = 'cloud.instance_recreation_requested_by_user' AND via IN ('pod', 'node') AND mode IN ('killed', 'lost') AND lag_s BETWEEN -5 AND 900
UNION ALL
-- Who stops or restarts a whole group takes each of its machines.
SELECT u.death, u.fact AS cause, m.fact AS effect, 'inferred' AS edge, 'act' AS role
FROM links u
JOIN mechanisms m ON m.death = u.death AND m.time BETWEEN u.time AND u.time + 900000000000
WHERE u.signal = 'cloud.group_stopped_by_user' AND u.via = 'pool'
  AND (u.mode IN ('killed', 'lost') OR u.reason IN ('ContainerStatusUnknown', 'Unknown'))
  AND m.signal IN ('k8s.node.not_ready', 'k8s.node.silent', 'k8s.pod.node_lost', 'k8s.node.gone_in_cloud', 'k8s.node.vm_stopped',
                   'k8s.node.shutdown', 'k8s.pod.node_shutdown', 'k8s.node.rebooted')
UNION ALL
-- Of a machine that was restarted with its group, its kubelet tells afterwards that it does not know how its containers ended.
SELECT u.death, u.fact AS cause, c.fact AS effect, 'inferred' AS edge, 'act' AS role
FROM links u
JOIN links c ON c.death = u.death AND c.via = 'pod' AND c.signal = 'k8s.container.status_unknown'
  AND c.time BETWEEN u.time AND u.time + 900000000000
WHERE u.signal = 'cloud.group_stopped_by_user' AND u.via = 'pool'
UNION ALL
-- Who makes a group smaller leaves it to the group which of its machines go: its own account ends those within minutes. What it
-- ended for being unwell, or to make it anew, it did not end for its size.
SELECT u.death, u.fact AS cause, e.fact AS effect,
  -- The account of a group of EC2 also replaces machines: only the activity says that the group shrank.
  CASE WHEN e.signal IN ('cloud.instance_scaled_in', 'cloud.instance_deleted_by_controller') THEN 'inferred' ELSE 'guess' END AS edge, 'act' AS role
FROM links u
JOIN links e ON e.death = u.death AND e.via IN ('node', 'pod') AND e.time - u.time BETWEEN -5000000000 AND 600000000000
  AND e.signal IN ('cloud.instance_scaled_in', 'cloud.instance_deleted_by_controller', 'cloud.instance_deleted_by_cloud')
WHERE u.signal = 'cloud.group_resized_by_user' AND u.via = 'pool' AND u.mode IN ('killed', 'lost')
  AND u.death NOT IN (SELECT death FROM links
                      WHERE via IN ('node', 'pod') AND lag_s BETWEEN -90 AND 3900
                        AND signal IN ('cloud.instance_recreated', 'upgrade.started', 'cloud.host_error'))
UNION ALL
-- What the cloud then says of the machine is its echo.
SELECT u.death, u.fact AS cause, e.fact AS effect, 'asserted' AS edge, 'act' AS role
FROM links u
JOIN links e ON e.death = u.death AND e.via = u.via AND e.time - u.time BETWEEN -5000000000 AND 900000000000
  AND (e.signal IN ('cloud.instance_terminating', 'k8s.node.gone_in_cloud', 'k8s.node.vm_stopped')
    -- A group's own account carries out what it was told of this very machine.
    OR e.time >= u.time AND u.signal = 'cloud.instance_deleted_by_user'
       AND e.signal IN ('cloud.instance_deleted_by_cloud', 'cloud.instance_deleted_by_controller'))
WHERE u.signal IN ('cloud.instance_deleted_by_user', 'cloud.instance_stopped_by_user', 'cloud.instance_reset_by_user')
  AND u.via IN ('pod', 'node') AND u.mode IN ('killed', 'lost')
UNION ALL
-- A whole pool or group: the cloud closes, empties and deletes its machines for whoever asked.
SELECT u.death, u.fact AS cause, m.fact AS effect, 'inferred' AS edge, 'act' AS role
FROM links u
JOIN mechanisms m ON m.death = u.death AND m.time >= u.time
WHERE u.signal = 'cloud.group_deleted_by_user' AND u.via = 'pool' AND u.mode IN ('killed', 'lost')
  AND (m.signal LIKE 'k8s.node.cordoned%' OR m.signal LIKE 'k8s.node.deleted%' OR m.signal LIKE 'k8s.pod.evicted%'
    OR m.signal IN ('k8s.node.shutdown', 'k8s.pod.node_shutdown', 'k8s.node.gone_in_cloud',
                    'cloud.instance_deleted_by_cloud', 'cloud.instance_deleted_by_controller'))
UNION ALL
-- A batch job that somebody cancelled: its own log does not say who, nor whether a rule did it. One that Slurm says
-- ended otherwise was over, or nearly, when somebody did.
-- Its accounting calls by root's number what the controller did by itself, too: a part of a job of which another failed,
-- a job over its memory, one whose dependency failed.
SELECT c.death, c.fact AS cause, CAST(NULL AS BIGINT) AS effect,
  CASE WHEN c.actor IS NULL OR c.actor IN ('0', 'root') AND r.death IS NULL THEN 'guess' ELSE 'asserted' END AS edge, 'act' AS role
FROM links c
LEFT JOIN (SELECT DISTINCT death FROM links WHERE signal = 'slurm.cancel_requested' AND via = 'pod') r ON r.death = c.death
WHERE c.signal = 'slurm.cancelled' AND c.via = 'pod' AND c.mode = 'killed' AND c.detail IS NULL AND c.lag_s BETWEEN -60 AND 60
  AND COALESCE(c.reason, '') NOT IN ('BOOT_FAIL', 'DEADLINE', 'NODE_FAIL', 'PREEMPTED', 'TIMEOUT')
  AND (COALESCE(c.actor, 'root') NOT IN ('0', 'root')
    OR c.death NOT IN (SELECT death FROM links WHERE signal IN ('slurm.dependency_failed', 'slurm.oom') AND via = 'pod' AND lag_s BETWEEN -60 AND 60))
UNION ALL
-- Somebody asked systemd to stop the service that the program runs as.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'asserted' AS edge, 'act' AS role
FROM links
WHERE signal = 'unit.stop_requested' AND via = 'pod' AND mode = 'killed' AND lag_s BETWEEN -5 AND 120
UNION ALL
-- systemd is asked by commands, by shutdowns and by tools.
SELECT s.death, s.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'guess' AS edge, 'act' AS role
FROM links s
WHERE s.signal = 'unit.stopping' AND s.via = 'pod' AND s.mode = 'killed' AND s.lag_s BETWEEN -5 AND 120
  AND s.death NOT IN (SELECT death FROM links
                      WHERE via = 'node' AND lag_s BETWEEN -120 AND 300
                        AND signal IN ('node.rebooting', 'node.powering_off', 'node.powered_off', 'k8s.node.shutdown', 'k8s.node.rebooted'))
  -- And by itself.
  AND s.death NOT IN (SELECT death FROM links
                      WHERE via = 'pod' AND lag_s BETWEEN -60 AND 120
                        AND signal IN ('unit.timed_out', 'unit.watchdog', 'unit.oom_killed', 'unit.oom_killed.daemon', 'unit.replaced'))
UNION ALL
SELECT r.death, r.fact AS cause, s.fact AS effect, 'asserted' AS edge, 'act' AS role
FROM links r
JOIN links s ON s.death = r.death AND s.via = 'pod' AND s.signal = 'unit.stopping' AND s.time - r.time BETWEEN -1000000000 AND 10000000000
WHERE r.signal = 'unit.stop_requested' AND r.via = 'pod'
UNION ALL
-- A signal that somebody sent, and a process that ended on that signal in the next seconds. The number of the process is in
-- one record, and which it was in the other: on a machine that runs one service it is that.
SELECT k.death, k.fact AS cause, CAST(NULL AS BIGINT) AS effect, CASE WHEN e.fact IS NOT NULL THEN 'inferred' ELSE 'guess' END AS edge, 'act' AS role
FROM links k
LEFT JOIN links e ON e.death = k.death AND e.via = 'pod' AND e.signal = 'unit.main_exited' AND e.time - k.time BETWEEN -1000000000 AND 2000000000
WHERE k.signal = 'node.kill_requested' AND k.via = 'node' AND k.mode IN ('exited', 'killed') AND k.lag_s BETWEEN -1 AND 10
  AND COALESCE(k.reason, '') <> 'OOMKilled'
  AND k.exit_code = CASE WHEN COALESCE(k.detail, '') IN ('9', 'KILL') THEN 137 WHEN COALESCE(k.detail, '') IN ('2', 'INT') THEN 130 ELSE 143 END
UNION ALL
-- Slurm kills what runs on a node that is set down; the record names the node, not the job.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'act' AS role
FROM links
WHERE signal = 'slurm.node.set_down' AND via = 'node' AND mode = 'lost' AND lag_s BETWEEN -5 AND 60
UNION ALL
-- Its reason is a line of its own of the same request.
SELECT r.death, r.fact AS cause, d.fact AS effect, 'asserted' AS edge, 'act' AS role
FROM links r
JOIN links d ON d.death = r.death AND d.via = 'node' AND d.signal = 'slurm.node.set_down' AND d.time - r.time BETWEEN -1000000000 AND 5000000000
WHERE r.signal = 'slurm.node.reason_given' AND r.via = 'node' AND r.node = d.node
  -- A health check's is no person's (ops.node_drained).
  AND NOT regexp_like(COALESCE(r.detail, ''), '^(\[[^\]]*\] )?NHC: ')
UNION ALL
-- Who gave the command is in the journal of the machine on which they did.
SELECT r.death, r.fact AS cause, d.fact AS effect, 'inferred' AS edge, 'act' AS role
FROM links r
JOIN links d ON d.death = r.death AND d.via = 'node' AND d.signal IN ('slurm.node.set_down', 'slurm.node.reason_given')
  AND d.time - r.time BETWEEN -2000000000 AND 10000000000
WHERE r.signal = 'slurm.node.down_requested' AND r.via = 'node'
UNION ALL
-- Ray does not say who asked.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'act' AS role
FROM links
WHERE signal = 'ray.job_stopped' AND via = 'pod' AND state = 'died' AND lag_s BETWEEN -5 AND 60
UNION ALL
-- Ctrl-C, or whatever else sends its signal, is somebody's wish; whose, no log says.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'guess' AS edge, 'act' AS role
FROM links
WHERE signal IN ('log.hung_up', 'log.interrupted') AND via = 'pod' AND same_container AND mode = 'exited'
  AND COALESCE(exit_code, 130) IN (1, 2, 129, 130) AND lag_s BETWEEN -5 AND 60
UNION ALL
-- Who asked for that, its request names. Of a request of which only the metadata is kept it is not known what it changed: the last
-- one before the controller did so.
SELECT w.death, w.fact AS cause, s.fact AS effect,
  CASE WHEN w.signal LIKE 'k8s.workload.stop_requested_by_%' THEN 'asserted' ELSE 'inferred' END AS edge, 'act' AS role
FROM links w
JOIN links s ON s.death = w.death AND s.via = 'workload' AND s.signal = 'k8s.workload.stopped' AND s.time_hi - w.time BETWEEN 0 AND 120000000000
LEFT JOIN links own ON own.death = w.death AND own.via = 'workload' AND own.signal LIKE 'k8s.workload.stop_requested_by_%' AND own.time_hi >= w.time
LEFT JOIN links later ON later.death = w.death AND later.via = 'workload' AND later.signal = 'k8s.workload.updated_by_user'
  AND later.time > w.time AND later.time <= s.time_hi
WHERE w.via = 'workload'
  AND (w.signal LIKE 'k8s.workload.stop_requested_by_%'
    OR w.signal = 'k8s.workload.updated_by_user' AND w.root_kind = 'Workflow' AND own.fact IS NULL AND later.fact IS NULL)
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'act' AS role
FROM links
WHERE signal LIKE 'k8s.workload.stop_requested_by_%' AND via = 'workload' AND lag_s BETWEEN -5 AND 120
  AND (mode = 'killed' OR state = 'died' AND mode = 'exited' AND exit_code IN (137, 143) AND COALESCE(reason, '') <> 'OOMKilled')
UNION ALL
-- A workflow, or a job, that somebody shut down: its own word, which does not say whose wish it was. Its pods obey, and
-- end with the code of the signal.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'act' AS role
FROM links
WHERE signal = 'k8s.workload.stopped' AND via = 'workload' AND lag_s BETWEEN -60 AND 600
  AND (state = 'failed' OR mode = 'killed' OR state = 'died' AND mode = 'exited' AND exit_code IN (137, 143) AND COALESCE(reason, '') <> 'OOMKilled')
UNION ALL
-- LSF says so itself; not of who was only cleared away once all was done, or had failed before.
SELECT l.death, l.fact AS cause, CAST(NULL AS BIGINT) AS effect, CASE WHEN w.death IS NULL THEN 'inferred' ELSE 'guess' END AS edge, 'act' AS role
FROM links l
LEFT JOIN (SELECT DISTINCT death FROM links WHERE via = 'pod' AND signal IN ('log.traceback', 'log.training_done', 'log.host_oom', 'nccl.timeout')) w ON w.death = l.death
WHERE l.signal = 'batch.cancelled.lsf' AND l.via = 'pod' AND l.state = 'died'
UNION ALL
-- A container that somebody asked a runtime to stop, on the machine on which a program was asked to stop in the next seconds: that the one
-- ran in the other, nothing tells but that.
SELECT c.death, c.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'guess' AS edge, 'act' AS role
FROM links c
JOIN (SELECT DISTINCT death FROM links WHERE via = 'pod' AND signal = 'log.sigterm' AND lag_s BETWEEN -5 AND 30) t ON t.death = c.death
WHERE c.signal = 'node.container_stop_requested' AND c.via = 'node' AND c.mode IN ('exited', 'killed') AND c.lag_s BETWEEN -5 AND 30
  -- Of what a kubelet runs it tells how it ended.
  AND c.exit_code IS NULL
UNION ALL
-- A signal that somebody sent from a command in the container ends a program with that signal's code; of which process it was
-- nothing tells but that.
SELECT s.death, s.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'guess' AS edge, 'act' AS role
FROM links s
LEFT JOIN (SELECT DISTINCT death FROM links
           WHERE via = 'pod' AND (signal LIKE 'kernel.oom_kill%' OR signal IN ('k8s.container.oom_killed', 'k8s.container.liveness_killed', 'log.segfault'))) w
  ON w.death = s.death
WHERE s.signal = 'k8s.pod.signalled_by_user' AND s.via = 'pod' AND s.same_container AND s.mode = 'exited' AND s.lag_s BETWEEN 0 AND 30
  AND w.death IS NULL
  AND s.exit_code = CASE COALESCE(s.detail, 'TERM')
    WHEN '9' THEN 137 WHEN 'KILL' THEN 137 WHEN '15' THEN 143 WHEN 'TERM' THEN 143 WHEN '2' THEN 130 WHEN 'INT' THEN 130
    WHEN '3' THEN 131 WHEN 'QUIT' THEN 131 WHEN '1' THEN 129 WHEN 'HUP' THEN 129 WHEN '6' THEN 134 WHEN 'ABRT' THEN 134
    WHEN '11' THEN 139 WHEN 'SEGV' THEN 139 END
UNION ALL
-- Deleted, and no record says by whom: unless its own controller is known to have done it.
SELECT d.death, d.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'guess' AS edge, 'act' AS role
FROM links d
LEFT JOIN links other ON other.death = d.death
  AND ((other.via = 'named' AND other.signal = 'k8s.workload.pod_deleted')
    -- The controller of the job above says that it took the whole cluster away.
    OR other.via = 'workload' AND other.signal = 'k8s.workload.cluster_deleted' AND other.lag_s BETWEEN -60 AND 60
    -- Its controller deletes the pods of what is suspended, and may say so a second later than a kubelet stops them.
    OR other.via = 'workload' AND other.signal = 'k8s.workload.suspended' AND other.lag_s BETWEEN -2 AND 120
      AND COALESCE(d.created, 0) <= other.time - 1000000000
    -- Whoever comes for what has ended did not end it.
    OR (other.via = 'pod' AND (COALESCE(other.lag_s, 0) >= -5 AND (other.signal LIKE 'k8s.pod.evicted%' OR other.signal LIKE 'k8s.pod.preempted%')
      OR other.signal LIKE 'k8s.pod.deleted_by_%' OR other.signal LIKE 'k8s.pod.node_%'
      OR other.signal LIKE 'autoscaler.%' OR other.signal LIKE 'kueue.%'
      OR other.signal IN ('k8s.pod.deadline', 'k8s.container.liveness_killed'))))
-- What was evicted just after its node was closed was drained.
LEFT JOIN not_evicted n ON n.death = d.death
LEFT JOIN links closed ON closed.death = d.death AND closed.via = 'node' AND closed.signal = 'k8s.node.cordoned' AND n.death IS NULL
  AND GREATEST(d.time_hi - 1, d.time) >= closed.time AND d.time - closed.time < 600000000000
  AND closed.time_hi <= d.time_hi + 5000000000
WHERE d.signal IN ('k8s.pod.deletion_requested', 'k8s.container.killing') AND d.via = 'pod'
  AND d.mode = 'killed' AND d.lag_s BETWEEN -60 AND 60 AND other.fact IS NULL AND closed.fact IS NULL
  AND d.death NOT IN (SELECT death FROM recreated)
UNION ALL
-- Its node was deleted while it answered: no cloud does that, so a person or a program did.
SELECT p.death, n.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'guess' AS edge, 'act' AS role
FROM links p
JOIN answering n ON n.death = p.death AND n.time <= p.time_hi
LEFT JOIN links other ON other.death = p.death AND other.via = 'node' AND other.signal LIKE 'k8s.node.deleted_by_%'
WHERE p.signal = 'k8s.pod.evicted.podgc' AND p.via = 'pod' AND p.mode IN ('killed', 'lost') AND other.fact IS NULL
UNION ALL
-- The names that a Service gave do not resolve any more. One that was deleted long before may have been made again.
SELECT s.death, s.fact AS cause, d.fact AS effect, 'inferred' AS edge, 'act' AS role
FROM links s
JOIN links d ON d.death = s.death AND d.via = 'pod' AND d.signal = 'log.dns' AND d.same_container
  AND d.time - s.time BETWEEN -1000000000 AND 120000000000
WHERE s.signal = 'k8s.service.deleted_by_user' AND s.via = 'service'
