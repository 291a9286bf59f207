-- Resets that someone requested from a cloud, of a machine that a death was on, each with the record that shows the
-- machine then shutting down or booting as a result. `hung`: nothing had been received from the machine for a while by
-- then. Resetting a machine that hangs did not end what ran on it.
SELECT r.death, r.fact, r.signal, r.actor, b.fact AS effect, bool_or(h.death IS NOT NULL) AS hung
FROM links r
-- Of a job on several machines each is one of its own; the cloud may call a node's machine by another name than its cluster does.
LEFT JOIN links b ON b.death = r.death AND b.via = 'node' AND (b.machine = r.machine OR COALESCE(b.root_kind, '') <> 'SlurmJob')
  AND b.signal IN ('node.crashed', 'node.rebooting', 'node.powering_off', 'k8s.node.rebooted', 'slurm.node.down',
                   'slurm.node.not_responding')
  -- A boot of which only another boot id tells was at some time between two versions of the node.
  AND CASE WHEN b.signal = 'k8s.node.rebooted' THEN b.time_hi - 1 ELSE b.time END - r.time BETWEEN -5000000000 AND 900000000000
LEFT JOIN (SELECT death, machine, root_kind, MIN(time) AS time FROM links
           WHERE via = 'node' AND signal IN ('k8s.node.not_ready', 'k8s.node.silent', 'slurm.node.down', 'slurm.node.not_responding')
           GROUP BY death, machine, root_kind) h
  ON h.death = r.death AND (h.machine = r.machine OR COALESCE(h.root_kind, '') <> 'SlurmJob')
  AND r.time - h.time BETWEEN 30000000001 AND 3600000000000
WHERE r.via = 'node' AND r.signal LIKE 'cloud.instance_reset%'
GROUP BY r.death, r.fact, r.signal, r.actor, b.fact
