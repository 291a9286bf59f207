-- Deaths of those that a time limit or somebody ended long after their last step, with what befell their machine as the
-- steps stopped, and the end that it led to.
SELECT h.death, h.fact, h.signal, m.fact AS effect, h.time, m.signal = 'slurm.cancelled' AS person
FROM links h
JOIN links m ON m.death = h.death AND m.fact <> h.fact
  AND (m.signal IN ('k8s.workload.deadline', 'k8s.pod.deadline', 'k8s.container.deadline', 'kueue.evicted.deadline',
                    'slurm.time_limit', 'unit.timed_out')
    OR m.signal = 'slurm.cancelled' AND m.via = 'pod')
WHERE h.via = 'node' AND h.at_last_step
