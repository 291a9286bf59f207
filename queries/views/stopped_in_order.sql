-- Pods that their kubelet stopped in good order, and when, while nothing was known to be wrong with their node. The
-- machine was available then, so what happened to it later, or was decided about it later, ended none of them.
SELECT k.death, MIN(k.time) AS time
FROM links k
LEFT JOIN links s ON s.death = k.death AND s.via IN ('node', 'pod') AND s.time <= k.time + 5000000000
  AND s.signal IN ('k8s.node.not_ready', 'k8s.node.silent', 'k8s.node.unreachable', 'k8s.node.shutdown', 'k8s.node.rebooted',
                   'k8s.node.gone_in_cloud', 'k8s.node.vm_stopped', 'k8s.pod.node_lost', 'k8s.pod.node_shutdown',
                   'node.rebooting', 'node.powering_off', 'cloud.termination_imminent')
WHERE k.signal = 'k8s.container.killing' AND k.via = 'pod' AND k.mode = 'killed' AND s.fact IS NULL
GROUP BY k.death
