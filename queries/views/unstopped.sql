-- Pods that are said to have been killed although their kubelet, which told that it started them, does not tell that it
-- stopped them, nor how they ended: they may have been over before somebody asked for their end.
SELECT DISTINCT s.death
FROM links s
LEFT JOIN links k ON k.death = s.death AND k.via = 'pod'
  AND k.signal IN ('k8s.container.killing', 'k8s.container.grace_exceeded') AND k.lag_s BETWEEN -600 AND 600
WHERE s.via = 'pod' AND s.signal = 'k8s.container.started' AND s.actor = 'kubelet'
  AND s.mode = 'killed' AND s.exit_code IS NULL AND k.fact IS NULL
