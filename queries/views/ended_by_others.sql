-- Deaths whose end somebody asked for, as a record of the request says, who neither updates nodes nor makes clusters smaller, and
-- is none of the controllers that carry out what others decided: what had closed the node, or meant to, did not end them.
SELECT DISTINCT death FROM links
WHERE mode IN ('killed', 'lost') AND lag_s BETWEEN -5 AND 600
  AND (via = 'pod'
      AND (signal IN ('k8s.pod.evicted.vpa', 'k8s.pod.evicted.descheduler', 'k8s.pod.evicted_by_remediator', 'k8s.pod.deleted_by_remediator')
        OR signal IN ('k8s.pod.evicted_by_controller', 'k8s.pod.deleted_by_controller')
          AND (regexp_like(COALESCE(actor, ''), 'vpa-updater|descheduler|termination-handler')
            OR actor LIKE 'system:serviceaccount:%' AND actor NOT LIKE 'system:serviceaccount:kube-system:%'
              AND NOT regexp_like(actor, '^(system:serviceaccount:[^:]+:)?([a-z-]*-)?((kueue|jobset|training|kubeflow-trainer|pytorch|tf-?job|mpi|kube-?ray|ray|volcano|leaderworkerset|lws)(job|cluster)?-([a-z-]*-)?(controllers?|manager|operator|scheduler|admission)|jobset|kueue|lws|leaderworkerset|volcano)$|workflow-controller|upgrad|machine|node')))
    OR via = 'workload' AND signal = 'k8s.workload.deleted_by_controller' AND mode = 'killed'
      AND NOT regexp_like(COALESCE(actor, ''), '^system:serviceaccount:kube-system:[a-z-]+-(controller|collector|autoscaler|binder)$|^(system:serviceaccount:[^:]+:)?([a-z-]*-)?((kueue|jobset|training|kubeflow-trainer|pytorch|tf-?job|mpi|kube-?ray|ray|volcano|leaderworkerset|lws)(job|cluster)?-([a-z-]*-)?(controllers?|manager|operator|scheduler|admission)|jobset|kueue|lws|leaderworkerset|volcano)$'))
