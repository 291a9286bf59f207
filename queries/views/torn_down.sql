-- Deaths of pods that their own job deleted, as it does when another member has failed, on machines that no member
-- missed. What was announced for such a machine, or reported about it, is not shown to be the reason.
SELECT DISTINCT t.death
FROM links t
LEFT JOIN links s ON s.death = t.death
  AND (s.via = 'node' AND s.lag_s > -900
       AND (s.signal IN ('k8s.node.not_ready', 'k8s.node.silent', 'k8s.node.unreachable', 'k8s.node.gone_in_cloud',
                         'k8s.node.vm_stopped', 'k8s.node.shutdown', 'k8s.node.rebooted', 'k8s.node.drained',
                         'node.rebooting', 'node.powering_off', 'cloud.termination_imminent')
         OR s.signal LIKE 'k8s.node.cordoned%' OR s.signal LIKE 'k8s.node.deleted%' OR s.signal LIKE 'k8s.node.tainted%'
         OR s.signal LIKE 'autoscaler.scale_down%' OR regexp_like(s.signal, '^cloud[.]instance_(deleted|recreated|reset|shut_down|stopped|terminating)'))
    OR s.via = 'pod' AND (s.signal LIKE 'k8s.pod.evicted%' OR s.signal LIKE 'k8s.pod.node_%' OR s.signal LIKE 'k8s.pod.preempted%'
                          OR s.signal = 'k8s.pod.deleted_by_user'))
WHERE t.mode = 'killed' AND s.fact IS NULL AND t.lag_s BETWEEN -60 AND 60
  AND (t.signal = 'k8s.workload.pod_deleted' AND t.via = 'named'
    OR t.signal = 'k8s.pod.deleted_by_controller' AND t.via = 'pod'
       AND regexp_like(COALESCE(t.actor, ''), ':(job|jobset)-controller')
    -- With its Job, which the controller of the whole took away.
    OR t.signal = 'k8s.workload.deleted_by_controller' AND t.via = 'workload'
       AND regexp_like(COALESCE(t.actor, ''), ':jobset-controller'))
