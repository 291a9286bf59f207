-- cause: slow.steps
-- title: Training slowed down
-- rank: 1
-- level: hypothesis
-- needs: log.slow
-- overturned_by: metrics: clock, power and link rates of each machine
-- summary: {workload} is running more slowly than before: {detail}. The reason is not known.
-- advice: Compare the clock rates, power and link errors of its machines, since the slowest one sets the pace; longer sequences, a fuller file system or a busier network slow all ranks alike.
--
-- A symptom: it leads only where nothing else is known.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'state' AS role
FROM links
WHERE signal = 'log.slow' AND state = 'slow' AND via = 'pod'
