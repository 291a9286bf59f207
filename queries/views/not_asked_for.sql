-- Deaths of pods for which the autoscaler says that it requested nothing from its cloud: what the cloud refused, it
-- refused to others.
SELECT DISTINCT n.death
FROM links n
LEFT JOIN links a ON a.death = n.death AND a.via = 'pod' AND a.signal IN ('autoscaler.scale_up', 'autoscaler.scale_up.failed')
WHERE n.via = 'pod' AND n.signal = 'autoscaler.scale_up.not_triggered' AND a.fact IS NULL
