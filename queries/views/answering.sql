-- Nodes that were deleted though nothing said that they had fallen silent before. Clouds look
-- only at nodes that are not ready: whoever deleted such a one did not do so for its silence.
SELECT n.death, n.fact, n.time
FROM links n
LEFT JOIN links s ON s.death = n.death AND s.via = 'node' AND s.time <= n.time_hi
  AND (s.signal IN ('k8s.node.not_ready', 'k8s.node.silent', 'k8s.node.unreachable', 'k8s.node.gone_in_cloud',
                    'k8s.node.vm_stopped', 'k8s.node.shutdown', 'k8s.node.deleted_by_cloud')
    OR s.signal LIKE 'autoscaler.%' OR s.signal LIKE 'cloud.%' OR s.signal LIKE 'maintenance.%')
WHERE n.signal = 'k8s.node.deleted' AND n.via = 'node' AND s.fact IS NULL
