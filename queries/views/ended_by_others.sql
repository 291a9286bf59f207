-- Deaths that someone requested, according to a record of the request, where that actor neither updates nodes nor
-- scales clusters down and is not one of the controllers that carry out the decisions of others. Whatever cordoned the
-- node, or intended to, did not end them.
SELECT DISTINCT death FROM links
WHERE mode IN ('killed', 'lost') AND lag_s BETWEEN -5 AND 600
  AND (via = 'pod'
      AND (signal IN ('k8s.pod.evicted.vpa', 'k8s.pod.evicted.descheduler', 'k8s.pod.evicted_by_remediator', 'k8s.pod.deleted_by_remediator')
        OR signal IN ('k8s.pod.evicted_by_controller', 'k8s.pod.deleted_by_controller')
          AND (regexp_like(COALESCE(actor, ''), 'vpa-updater|descheduler|termination-handler')
            OR actor LIKE 'system:serviceaccount:%' AND actor NOT LIKE 'system:serviceaccount:kube-system:%'
              AND by_operator IS NOT TRUE))
    OR via = 'workload' AND signal = 'k8s.workload.deleted_by_controller' AND mode = 'killed'
      AND by_operator IS NOT TRUE)
