-- Deaths whose launcher says that the first process to end was killed: what the others wrote of it, and the code that the
-- launcher then ends with, are what came of that. What srun stopped itself it tells in the same words.
SELECT k.death FROM links k
WHERE k.signal = 'launcher.worker_killed' AND k.via = 'pod' AND k.lag_s BETWEEN -60 AND 900
UNION
SELECT k.death FROM links k
LEFT JOIN links s ON s.death = k.death AND s.via = 'pod' AND s.signal = 'launcher.teardown.step' AND s.time <= k.time
WHERE k.signal = 'launcher.task_killed' AND k.via = 'pod' AND k.lag_s BETWEEN -60 AND 900 AND s.fact IS NULL
