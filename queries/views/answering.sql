-- Nodes that were deleted while no record shows them NotReady or silent. Cloud controllers delete only nodes that are
-- not ready, so such a deletion was not a reaction to silence.
SELECT n.death, n.fact, n.time
FROM links n
LEFT JOIN links s ON s.death = n.death AND s.via = 'node' AND s.time <= n.time_hi
  AND (s.signal IN ('k8s.node.not_ready', 'k8s.node.silent', 'k8s.node.unreachable', 'k8s.node.gone_in_cloud',
                    'k8s.node.vm_stopped', 'k8s.node.shutdown', 'k8s.node.deleted_by_cloud')
    OR s.signal LIKE 'autoscaler.%' OR s.signal LIKE 'cloud.%' OR s.signal LIKE 'maintenance.%')
WHERE n.signal = 'k8s.node.deleted' AND n.via = 'node' AND s.fact IS NULL
