-- Deaths of pods that never started and were ended by a deadline, which only ended their wait. If the run had been
-- working before the pod was created, the deadline ended that work.
SELECT d.death, d.fact
FROM links d
LEFT JOIN links s ON s.death = d.death AND s.via = 'pod' AND s.signal = 'k8s.container.started'
LEFT JOIN (SELECT run, MIN(time) AS time FROM links
           WHERE via = 'pod' AND signal = 'k8s.container.started' GROUP BY run) ran
  ON ran.run = d.run AND ran.time + 60000000000 < COALESCE(d.created, d.time)
WHERE d.signal IN ('k8s.workload.deadline', 'k8s.pod.deadline') AND d.mode = 'killed'
  AND d.exit_code IS NULL AND s.fact IS NULL AND ran.run IS NULL
