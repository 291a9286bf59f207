-- cause: slow.steps
-- title: Training slowed down
-- title_of: log.slow_passed: Training was slow for a while
-- rank: 1
-- level: hypothesis
-- needs: log.slow, log.slow_passed
-- overturned_by: metrics: clock, power and link rates of each machine
-- summary: {workload} is running more slowly than before: {detail}. The reason is not known.
-- summary_of: log.slow_passed: {workload} was slower for a while and is as fast as before again: {detail}. The reason is not known.
-- advice: Compare the clock rates, power and link errors of its machines, since the slowest one sets the pace; longer sequences, a fuller file system or a busier network slow all ranks alike.
--
-- A symptom: it leads only where nothing else is known.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'state' AS role
FROM links
WHERE signal IN ('log.slow', 'log.slow_passed') AND state IN ('slow', 'slowed') AND via = 'pod'
