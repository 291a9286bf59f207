-- Deaths where the pod's own machine had a problem, or where a person or a program ended the pod. That such a pod could
-- not reach a service by then proves nothing about that service.
SELECT DISTINCT death
FROM links
WHERE via = 'node' AND lag_s BETWEEN -120 AND 1800
  AND (signal LIKE 'gpu.%' OR signal LIKE 'nic.error%' OR signal LIKE 'kernel.panic%'
       OR signal LIKE 'cloud.%' OR signal LIKE 'maintenance.%'
       OR signal IN ('k8s.node.not_ready', 'k8s.node.silent', 'k8s.node.rebooted', 'k8s.node.shutdown',
                     'k8s.node.unreachable', 'kernel.disk_error', 'kernel.memory_error'))
UNION
SELECT DISTINCT death FROM mechanisms
