-- Deaths that a person requested, or that a queue, a deadline or a change of the spec caused. Maintenance that was
-- announced for the machine, or begun and not carried out, is not shown to be the reason.
SELECT DISTINCT death FROM mechanisms WHERE person
UNION
SELECT DISTINCT death FROM links
WHERE lag_s BETWEEN -5 AND 120 AND via IN ('pod', 'workload', 'node') AND mode IN ('killed', 'lost')
  AND (signal IN ('k8s.pod.deleted_by_user', 'k8s.workload.deleted_by_user', 'k8s.namespace.deleted_by_user', 'k8s.workload.deadline',
                  'k8s.workload.suspended', 'k8s.node.deleted_by_user', 'k8s.node_claim.deleted_by_user', 'kueue.preempted', 'kueue.evicted.stopped',
                  'kueue.evicted.deactivated', 'k8s.pod.preempted', 'node.reboot_requested', 'node.poweroff_requested')
    OR signal LIKE 'k8s.workload.suspension_requested_by_%'
    OR signal LIKE 'cloud.instance_%_by_user')
