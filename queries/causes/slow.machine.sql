-- cause: slow.machine
-- title: One machine slows the run down
-- rank: 30
-- level: supported
-- needs: log.slow, log.slow_passed, log.rank_slow, log.rank_behind, metric.machine_apart
-- needs: gpu.throttled, gpu.thermal, gpu.power_brake, gpu.nvlink_error, metric.gpu_throttled, metric.gpu_slowed_down, metric.gpu_link_errors
-- needs: nic.error, metric.nic_errors, kernel.disk_slow, kernel.pcie_error, kernel.memory_error_corrected, kernel.lockup, node.overheated, node.power_fault, node.cpu_throttled
-- overturned_by: metrics: clock, power and link rates of each machine
-- summary: {workload} slowed down when {node} reported a fault: {message}
-- summary_of: metric.machine_apart: {workload} slowed down when {node} became slower than its peers: {message}
-- advice: Move the rank off {node}, and have the machine checked; a gang is as fast as its slowest member.
--
-- What slows a machine down, and began when the steps became longer. GPUs that are throttled under load are nothing
-- unusual, links count errors that hurt nobody, and a machine has power supplies to spare: by themselves they are
-- guesses, as is what several machines have. Where one rank is known to be the slow one, only its own machine counts, and
-- what was wrong there before the rank had begun may be why as well.
SELECT m.death, m.fact AS cause, s.fact AS effect,
  CASE WHEN m.signal IN ('gpu.throttled', 'metric.gpu_throttled', 'metric.gpu_link_errors', 'metric.nic_errors', 'kernel.memory_error_corrected', 'kernel.lockup', 'node.power_fault',
                          'node.cpu_throttled')
            AND s.signal <> 'log.rank_slow'
         OR others.machines > 1 OR back.death IS NOT NULL OR m.lag_s > 300 OR s.signal = 'log.rank_behind' THEN 'guess' ELSE 'inferred' END AS edge, 'fault' AS role
FROM links m
JOIN links s ON s.death = m.death AND s.signal IN ('log.slow', 'log.slow_passed', 'log.rank_slow', 'log.rank_behind') AND s.via = 'pod'
LEFT JOIN (SELECT DISTINCT death FROM links WHERE signal IN ('log.rank_slow', 'log.rank_behind') AND via = 'pod') one
  ON one.death = m.death
JOIN (SELECT death, signal, COUNT(DISTINCT machine) AS machines FROM links
      WHERE state IN ('slow', 'slowed') AND via IN ('node', 'gang') AND lag_s BETWEEN -300 AND 86400
      GROUP BY death, signal) others
  ON others.death = m.death AND others.signal = m.signal
-- A link that is up again half a minute later slows nothing down for long.
LEFT JOIN (SELECT DISTINCT e.death, e.fact FROM links e
           JOIN links u ON u.death = e.death AND u.machine = e.machine AND u.signal = 'nic.link_up'
             AND u.time BETWEEN e.time AND e.time + 30000000000
           WHERE e.signal = 'nic.error') back
  ON back.death = m.death AND back.fact = m.fact
WHERE m.state IN ('slow', 'slowed') AND m.lag_s >= -60
  AND CASE WHEN one.death IS NULL THEN m.via IN ('node', 'gang') AND m.lag_s <= 300
           ELSE m.via = 'node' AND m.lag_s <= 86400 AND s.signal IN ('log.rank_slow', 'log.rank_behind') END
  AND m.signal IN ('gpu.throttled', 'gpu.thermal', 'gpu.power_brake', 'gpu.nvlink_error', 'metric.gpu_throttled', 'metric.gpu_slowed_down', 'metric.gpu_link_errors',
                   'nic.error', 'metric.nic_errors', 'kernel.disk_slow', 'kernel.pcie_error', 'kernel.memory_error_corrected', 'kernel.lockup',
                   'node.overheated', 'node.power_fault', 'node.cpu_throttled', 'metric.machine_apart')
