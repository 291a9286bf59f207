-- What may be done to a machine, or to a workload on it, because a part of the machine failed: the mechanisms (`person`
-- marks those whose actor has reasons of their own) and what tools that look after machines do to a workload. An actor
-- that evicts or deletes a pod because of a fault is named as a tool for machines, or cordons the machine. Vertical
-- autoscalers, deschedulers, tools that upgrade machines and handlers of cloud notices act for their own purpose;
-- cluster autoscalers remove what is little used. If a machine whose node was never cordoned shuts down in good order,
-- someone requested it: no failing part does that, except overheating and loss of power.
WITH watchers AS (
  SELECT DISTINCT actor FROM links
  WHERE actor IS NOT NULL
    -- Whole words: nobody looks after machines for being the default account, or for machine learning.
    AND (regexp_like(actor, '(?i)(^|[^a-z])(auto|self|gpu|node|host|machine)?(repair|remedi|doctor|fault|sick|quarantin|drain|heal(er|ing|[^a-z:/]|$)|problem|hardware|broken|dcgm|xid)[^:/@]*(@[^:/]*)?$')
      OR regexp_like(actor, '(?i)(^|[^a-z])(auto|self|gpu|node|host|machine)?(health(check(er)?|monitor|watch(er)?|agent)?|node|machine)s?([^a-z:/]|$)[^:/@]*(@[^:/]*)?$')
      OR regexp_like(actor, '(?i)(gpu|host)[a-z-]*(check|agent|controller|guard|manager|monitor|watch|fix|reset)')
      OR regexp_like(actor, '(?i):([^:]*-)?(health|repair|remediation|fault|(nv)?sentinel)(-(system|operator|agents?|monitor(ing)?|controller|tools?))?:'))
    AND NOT regexp_like(actor, '(?i)termination-handler|descheduler|vpa-updater|machine-?learning')
),
closed AS (
  SELECT DISTINCT death, actor FROM links
  WHERE via = 'node' AND actor IS NOT NULL AND (signal LIKE 'k8s.node.cordoned%' OR signal LIKE 'k8s.node.tainted%')
),
own AS (
  SELECT DISTINCT a.death FROM links a
  LEFT JOIN watchers w ON w.actor = a.actor
  LEFT JOIN closed c ON c.death = a.death AND c.actor = a.actor
  WHERE a.via = 'pod' AND a.mode IN ('killed', 'lost') AND a.lag_s BETWEEN -120 AND 900
    AND (a.signal IN ('k8s.pod.evicted.vpa', 'k8s.pod.evicted.descheduler', 'k8s.pod.evicted_by_upgrader', 'k8s.pod.deleted_by_upgrader',
                      'autoscaler.scale_down.pod')
      -- Karpenter also replaces what is broken.
      OR a.signal IN ('k8s.pod.evicted_by_autoscaler', 'k8s.pod.deleted_by_autoscaler') AND COALESCE(a.actor, '') NOT LIKE '%karpenter%'
      OR a.signal = 'k8s.pod.node_shutdown'
        AND a.death NOT IN (SELECT death FROM links WHERE via = 'node' AND COALESCE(lag_s, 0) >= -5
                              AND (signal LIKE 'k8s.node.cordoned%' OR signal IN ('gpu.thermal', 'node.overheated', 'node.power_fault')))
      OR a.signal IN ('k8s.pod.evicted_by_controller', 'k8s.pod.evicted_by_other', 'k8s.pod.deleted_by_controller')
        AND w.actor IS NULL AND c.death IS NULL
        AND NOT regexp_like(COALESCE(a.actor, ''), ':(job|cronjob|replicaset|deployment|statefulset|daemon-set|replication|jobset)-controller')
      OR a.signal IN ('k8s.pod.evicted_by_remediator', 'k8s.pod.deleted_by_remediator') AND a.actor LIKE '%termination-handler%')
)
SELECT m.death, m.fact, m.time, m.signal, m.person OR own.death IS NOT NULL AS person
FROM mechanisms m
LEFT JOIN own ON own.death = m.death
UNION ALL
SELECT a.death, a.fact, a.time, a.signal, false AS person
FROM links a
JOIN watchers w ON w.actor = a.actor
WHERE a.via = 'workload' AND a.mode = 'killed' AND a.lag_s BETWEEN -5 AND 600
  AND a.signal IN ('k8s.workload.deleted_by_controller', 'k8s.workload.suspension_requested_by_controller')
