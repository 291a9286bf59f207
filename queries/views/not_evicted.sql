-- Deaths where the pod's own object shows that its end was requested and no record shows an eviction. Before the API
-- server evicts a pod, it sets the condition DisruptionTarget (since Kubernetes 1.26), and draining a node always
-- evicts. Output printed for people has rounded times and conditions without their reasons, so it does not count.
SELECT DISTINCT d.death
FROM links d
LEFT JOIN links e ON e.death = d.death AND e.via = 'pod'
  AND (e.signal LIKE 'k8s.pod.evicted%' OR e.signal LIKE 'k8s.pod.preempted%' OR e.signal = 'k8s.pod.drain_blocked')
WHERE d.signal = 'k8s.pod.deletion_requested' AND d.via = 'pod' AND d.source_kind = 'kubernetes' AND d.time_hi - d.time <= 1000000000
  AND e.fact IS NULL
