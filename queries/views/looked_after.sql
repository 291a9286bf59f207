-- Deaths on machines that something was known about: a cordon, a drain, a taint, an upgrade, a repair, a fault. A tool
-- that upgrades or repairs machines had a reason to act there.
SELECT DISTINCT death FROM links
WHERE via IN ('node', 'pool') AND lag_s BETWEEN -90 AND 86400
  AND (signal LIKE 'k8s.node.%' AND signal NOT IN ('k8s.node.created', 'k8s.node.kubelet_started', 'k8s.node.ready')
      AND signal NOT LIKE 'k8s.node.uncordoned%'
    OR signal LIKE 'upgrade.%' OR signal LIKE 'repair.%' OR signal LIKE 'maintenance.%' OR signal LIKE 'cloud.%'
    OR signal LIKE 'gpu.%' OR signal LIKE 'kernel.%' OR signal LIKE 'nic.%' OR signal LIKE 'node.%')
