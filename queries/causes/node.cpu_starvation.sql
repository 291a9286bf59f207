-- cause: node.cpu_starvation
-- title: Too little CPU
-- rank: 4
-- level: hypothesis
-- needs: metric.cpu_throttled, metric.cpu_pressure
-- overturned_by: metrics: CPU throttling of the container, CPU pressure of the machine
-- summary: {pod} got too little CPU: {message}
-- advice: Raise or remove the CPU limit, start fewer data loader workers, and check what else runs on {node}.
--
-- Many programs are short of CPU and train on. What is slow, stands still or fails its probes meanwhile may do so for
-- that reason, and a rank that is late may let the others wait until their time is up.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'guess' AS edge, 'state' AS role
FROM links
WHERE signal IN ('metric.cpu_throttled', 'metric.cpu_pressure') AND via IN ('pod', 'node')
  AND state IN ('slow', 'slowed', 'stalled', 'not_ready') AND lag_s BETWEEN -300 AND 900
UNION ALL
SELECT c.death, c.fact AS cause, e.fact AS effect, 'guess' AS edge, 'state' AS role
FROM links c
JOIN links e ON e.death = c.death AND e.via = 'pod'
  AND e.signal IN ('log.data_loader_failed', 'k8s.container.liveness_killed', 'log.slow', 'log.slow_passed', 'log.rank_slow')
WHERE c.signal IN ('metric.cpu_throttled', 'metric.cpu_pressure') AND c.via IN ('pod', 'node')
  AND c.lag_s BETWEEN -60 AND 900
UNION ALL
-- Whoever gave up waiting in a collective had come to it: who is late is the member that the others waited for.
SELECT DISTINCT c.death, c.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'guess' AS edge, 'state' AS role
FROM links c
JOIN missed g ON g.death = c.death AND g.time - c.time BETWEEN 60000000000 AND 1800000000000
WHERE c.signal IN ('metric.cpu_throttled', 'metric.cpu_pressure') AND c.via IN ('pod', 'node')
UNION ALL
-- In a gang all wait in each step for the member that is held back.
SELECT c.death, c.fact AS cause, e.fact AS effect, 'guess' AS edge, 'state' AS role
FROM links c
JOIN links e ON e.death = c.death AND e.signal IN ('log.slow', 'log.slow_passed') AND e.via = 'pod'
WHERE c.signal IN ('metric.cpu_throttled', 'metric.cpu_pressure') AND c.via = 'gang'
  AND c.state IN ('slow', 'slowed') AND c.lag_s BETWEEN -60 AND 300
