-- Evictions that kubectl was refused and requested again every five seconds, as a drain does that a PodDisruptionBudget
-- blocks, also after the node was uncordoned. This is not done by hand.
SELECT e.death, e.fact
FROM links e
JOIN links k ON k.death = e.death AND k.record = e.record AND k.signal = 'k8s.pod.drained_by_kubectl'
JOIN links r ON r.death = e.death AND r.via = 'pod' AND r.signal = 'k8s.pod.drain_blocked' AND r.actor = e.actor
  AND e.time - r.time BETWEEN 3000000000 AND 20000000000
WHERE e.signal = 'k8s.pod.evicted_by_user' AND e.via = 'pod'
GROUP BY e.death, e.fact HAVING count(DISTINCT r.fact) > 1
