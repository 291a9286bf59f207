-- Deaths where the launcher reports that the first process to end was killed. What the other processes logged about it,
-- and the code that the launcher exits with, are consequences. srun reports what it stopped itself in the same words.
SELECT k.death FROM links k
WHERE k.signal = 'launcher.worker_killed' AND k.via = 'pod' AND k.lag_s BETWEEN -60 AND 900
UNION
SELECT k.death FROM links k
LEFT JOIN links s ON s.death = k.death AND s.via = 'pod' AND s.signal = 'launcher.teardown.step' AND s.time <= k.time
WHERE k.signal = 'launcher.task_killed' AND k.via = 'pod' AND k.lag_s BETWEEN -60 AND 900 AND s.fact IS NULL
