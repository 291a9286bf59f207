-- How an upstream cause reaches a pod: draining, evicting, deleting, shutting down. A rule for an upstream cause links
-- its record to these; each has a rule of its own that leads on to the death.
SELECT t.death, t.fact,
  -- An age that was printed leaves some minutes in which a node was found to be silent: of whatever silenced it before the end of them.
  CASE WHEN t.signal IN ('k8s.node.not_ready', 'k8s.node.silent', 'k8s.node.unreachable', 'k8s.pod.node_lost')
      AND t.time_hi BETWEEN t.time AND t.time + 300000000000
    THEN GREATEST(t.time, t.time_hi - 1000000000) ELSE t.time END AS time, t.signal,
  -- A person has reasons of their own; what they do once the pod has ended is none of them.
  COALESCE(t.lag_s, 0) >= -5 AND t.signal LIKE '%_by_user' OR (
    p.death IS NOT NULL AND NOT (t.signal = 'k8s.pod.evicted.api' AND o.death IS NOT NULL) AND t.signal IN ('k8s.pod.evicted.api', 'k8s.pod.evicted.taint', 'k8s.node.cordoned',
                                         'k8s.node.drained', 'k8s.node.tainted.no_execute',
                                         'k8s.pod.deleted_by_node_controller', 'k8s.pod.deletion_requested')) AS person
FROM links t
LEFT JOIN (SELECT DISTINCT death FROM links
           WHERE COALESCE(lag_s, 0) >= -5 AND (signal IN ('k8s.pod.evicted_by_user', 'k8s.node.cordoned_by_user', 'k8s.node.tainted_by_user')
-- What watches machines names what is wrong with them in its taint.
              OR signal = 'k8s.node.tainted.no_execute' AND via = 'node'
                  AND NOT regexp_like(COALESCE(detail, ''), '(?i)gpu|xid|nvidia|dcgm|accel|hardware|health|fault|fail|error|bad|broken|repair|remedi|quarantine|sick|nic|rdma|infiniband|disk|memory'))) p
  ON p.death = t.death
-- Who closed a node before need not be who then evicts from it, where a record says who that was.
LEFT JOIN (SELECT death FROM links
           WHERE via = 'pod' AND signal LIKE 'k8s.pod.evicted_by_%'
           GROUP BY death HAVING bool_and(signal <> 'k8s.pod.evicted_by_user')) o
  ON o.death = t.death
WHERE signal LIKE 'k8s.pod.evicted%'
-- Who clears away what belongs to nothing any more, or keeps a workload as it was asked for, does not look at machines.
   OR (signal LIKE 'k8s.pod.deleted_by_%'
       AND signal NOT IN ('k8s.pod.deleted_by_user', 'k8s.pod.deleted_by_gc', 'k8s.pod.deleted_by_namespace_controller',
                          'k8s.pod.deleted_by_ttl', 'k8s.pod.deleted_by_kubelet')
       AND NOT (signal = 'k8s.pod.deleted_by_controller'
                AND regexp_like(COALESCE(actor, ''), ':(job|cronjob|replicaset|deployment|statefulset|daemon-set|replication|jobset)-controller')))
   OR signal LIKE 'k8s.node.cordoned%'
   OR signal LIKE 'k8s.node.deleted%'
   OR signal = 'k8s.node.tainted.no_execute'
   OR signal IN ('autoscaler.scale_down', 'cloud.instance_terminating', 'k8s.node.drained',
                 'k8s.node.gone_in_cloud', 'k8s.node.not_ready', 'k8s.node.rebooted',
                 'k8s.node.shutdown', 'k8s.node.silent', 'k8s.node.unreachable', 'k8s.node.vm_stopped',
                 'k8s.pod.deletion_requested', 'k8s.pod.node_lost', 'k8s.pod.node_shutdown',
                 'cloud.instance_recreated', 'cloud.instance_shut_down', 'maintenance.terminated')
   OR signal LIKE 'slurm.node.%'
-- What a person deletes or stops at the cloud is that person's act, whatever was announced.
   OR ((signal LIKE 'cloud.instance_deleted_by_%' OR signal LIKE 'cloud.instance_stopped_by_%')
       AND signal NOT LIKE '%_by_user')
UNION ALL
-- A person who deletes a pod of a node that is closed drains it; of any other, only deletes it.
SELECT death, fact, time, signal, true AS person
FROM links
WHERE signal = 'k8s.pod.deleted_by_user'
  AND death IN (SELECT death FROM links WHERE via = 'node' AND signal LIKE 'k8s.node.cordoned%')
