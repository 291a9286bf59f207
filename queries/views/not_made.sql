-- Machines that were to be started for a batch job and did not come up, each with the cloud's answer to the request for
-- that machine, where it was refused and not requested again since: that answer is the reason.
SELECT n.death, c.fact, c.signal, n.fact AS effect
FROM links n
JOIN links c ON c.death = n.death AND c.via = 'node' AND c.machine = n.machine AND n.time - c.time BETWEEN -5000000000 AND 7200000000000
  AND c.signal IN ('autoscaler.scale_up.stockout', 'autoscaler.scale_up.cloud_quota', 'cloud.instance_create_failed')
LEFT JOIN links made ON made.death = n.death AND made.via = 'node' AND made.machine = n.machine
  AND made.signal = 'cloud.instance_created' AND made.time > c.time AND made.time <= n.time
-- A record that says more than that it failed counts for that.
LEFT JOIN links more ON more.death = c.death AND more.record = c.record AND c.signal = 'cloud.instance_create_failed'
  AND more.signal LIKE 'autoscaler.scale_up.%'
WHERE n.signal = 'slurm.node.not_resumed' AND n.via = 'node' AND made.fact IS NULL AND more.fact IS NULL
