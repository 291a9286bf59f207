-- cause: hw.gpu
-- title: A GPU failed
-- title_of: gpu.test.failed: A GPU test failed
-- title_of: gpu.firmware_error: GPU firmware failed
-- rank: 82
-- level: supported
-- needs: gpu.unhealthy, gpu.missing, gpu.hardware_error, gpu.firmware_error, gpu.allocatable_dropped
-- needs: gpu.reset
-- title_of: gpu.reset: A GPU was reset
-- summary_of: gpu.reset: The driver reset a GPU in {node} while {pod} {was} on it: {message}
-- advice_of: gpu.reset: Read the kernel log of {node} just before that: what hung, and in which process. A program can hang a GPU as well as a fault of the GPU; if other programs show the same on it, have it replaced.
-- needs: k8s.pod.evicted.device_taint, gpu.test.failed, gpu.fewer, log.cuda_error.device, gpu.application_error.repeated, nvrx.node_unhealthy
-- alone: gpu.hardware_error, gpu.missing, gpu.firmware_error
-- overturned_by: metrics: what DCGM measured
-- overturned_by: kernel: the Xid line
-- summary: A GPU in {node} failed while {pod} {was} on it: {message}
-- summary_of: gpu.test.failed: A test of the GPUs in {node} failed while {pod} {was} on it: {message}
-- summary_of: gpu.unhealthy: A GPU in {node} was reported unhealthy while {pod} {was} on it: {message}
-- summary_of: gpu.allocatable_dropped, gpu.fewer: {node} had fewer GPUs than it should have while {pod} {was} on it: {message}
-- summary_of: gpu.firmware_error: The firmware of a GPU in {node}, or the driver that talks to it, stopped answering while {pod} {was} on it: {message}
-- advice_of: gpu.firmware_error: Drain the node, and have the GPU reset. If it comes back, or other nodes show the same, compare their driver and GSP firmware versions: a regression of the driver is then more likely than a bad GPU, so try another version before GPUs are replaced.
-- advice_of: gpu.test.failed: Drain the node, and find out what the test found: a GPU, NVLink or the network.
-- summary_of: k8s.pod.evicted.device_taint: {pod} {was} evicted from {node} because of a taint on a device that it used: {message}
-- title_of: k8s.pod.evicted.device_taint: A device was tainted
-- advice_of: k8s.pod.evicted.device_taint: Find out who tainted the device and why: its driver, or a DeviceTaintRule (kubectl get devicetaintrules).
-- advice: Drain the node, and have the GPU reset or replaced before it is used again.
--
-- Not every Xid: 13, 31, 43 and 45 are what the driver says of programs. A device is tainted by its driver, or by a person's
-- DeviceTaintRule for whatever reason.
--
-- The processors on a GPU that schedule, manage its power and answer the driver (GSP, PMU, FECS, SEC2) hang of a fault of the GPU, of
-- a mistake of theirs or of the driver's: that is told apart. A GPU that is gone answers nothing either, so what follows a worse
-- fault is that fault's.
WITH firmware AS (SELECT DISTINCT death, record, fact, machine, time FROM links WHERE signal = 'gpu.firmware_error'),
worse AS (
  SELECT DISTINCT f.death, f.fact
  FROM firmware f
  JOIN links o ON o.death = f.death AND o.machine = f.machine
  LEFT JOIN firmware same ON same.death = o.death AND same.record = o.record
  LEFT JOIN links again ON again.death = f.death AND again.machine = f.machine AND again.signal = 'k8s.node.rebooted'
    AND again.time > o.time AND again.time < f.time
  WHERE same.fact IS NULL AND again.fact IS NULL
    AND (o.signal = 'gpu.missing' AND o.time BETWEEN f.time - 3600000000000 AND f.time + 120000000000
      OR o.signal IN ('gpu.hardware_error', 'gpu.memory_error', 'gpu.nvlink_error', 'gpu.power_missing', 'kernel.pcie_error.fatal')
        AND o.time BETWEEN f.time - 600000000000 AND f.time + 1000000000)
),
-- What hangs after the program broke something on a GPU may hang of that.
of_program AS (
  SELECT DISTINCT f.death, f.fact
  FROM firmware f
  JOIN links a ON a.death = f.death AND a.machine = f.machine AND a.record <> f.record AND a.signal = 'gpu.application_error'
    AND f.time - a.time BETWEEN 0 AND 60000000000
),
-- Each record once, as what it tells most closely.
devices AS (
  SELECT u.*, p.fact IS NOT NULL AS is_programs
  FROM links u
  LEFT JOIN firmware f ON f.death = u.death AND f.record = u.record
  LEFT JOIN worse w ON w.death = u.death AND w.fact = u.fact
  LEFT JOIN of_program p ON p.death = u.death AND p.fact = u.fact
  WHERE u.signal IN ('gpu.unhealthy', 'gpu.missing', 'gpu.hardware_error', 'gpu.firmware_error', 'gpu.allocatable_dropped', 'k8s.pod.evicted.device_taint')
    AND (f.fact IS NULL OR u.signal NOT IN ('gpu.unhealthy', 'gpu.hardware_error'))
    AND w.fact IS NULL
),
faults AS (
  SELECT u.*,
    -- A node that goes on for a minute after it was told of as one with a bad GPU did not fall silent of that, which is found 40 s
    -- after its last word at the earliest.
    u.signal IN ('gpu.unhealthy', 'gpu.allocatable_dropped') AND COALESCE(u.mode = 'lost' AND q.time - u.time > 120000000000, false) AS is_past
  FROM devices u
  LEFT JOIN fell_silent q ON q.death = u.death
  WHERE u.via IN ('node', 'pod')
    -- Of a label of which nobody knows when it came, nothing says that it was there then.
    AND (u.signal <> 'gpu.unhealthy' OR u.time_hi - u.time < 3600000000000)
)
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect,
  CASE WHEN signal = 'k8s.pod.evicted.device_taint' OR is_past OR is_programs THEN 'guess' ELSE 'inferred' END AS edge, 'fault' AS role
FROM faults
-- What somebody asked to end did not end of a fault; why they asked, see below. Who stopped it without
-- being seen may be what watches GPUs, where that had found the node's unhealthy.
WHERE (mode = 'lost' OR state = 'lingering' OR mode = 'exited' AND COALESCE(exit_code, 1) <> 0 OR signal = 'k8s.pod.evicted.device_taint'
    OR mode = 'killed' AND death IN (SELECT death FROM links WHERE signal = 'gpu.unhealthy' AND via = 'node' AND lag_s BETWEEN -120 AND 900)
      AND death NOT IN (SELECT death FROM links WHERE signal LIKE '%_by_user' AND via IN ('pod', 'node', 'workload') AND lag_s BETWEEN -5 AND 900)
      AND death NOT IN (SELECT death FROM reactions WHERE person))
  -- Whoever had no GPU lost none, and whoever was over its memory limit was killed for that.
  AND COALESCE(gpus, 1) > 0 AND COALESCE(reason, '') <> 'OOMKilled'
  -- A process that waits in the driver does not end when the others have given up waiting for it.
  AND (state IN ('died', 'restarted', 'crash_loop') AND lag_s BETWEEN -120 AND 900
       OR state = 'lingering' AND lag_s BETWEEN 0 AND 7200)
  AND death NOT IN (SELECT death FROM own_reason)
UNION ALL
SELECT u.death, u.fact AS cause, m.fact AS effect,
  CASE WHEN m.person OR u.is_programs OR u.signal = 'k8s.pod.evicted.device_taint'
      OR u.is_past AND m.signal NOT LIKE 'k8s.node.cordoned%' AND m.signal NOT LIKE '%_by_remediator' THEN 'guess' ELSE 'inferred' END AS edge, 'fault' AS role
FROM faults u
JOIN reactions m ON m.death = u.death AND m.fact <> u.fact AND m.time >= u.time - 5000000000
WHERE u.lag_s BETWEEN -120 AND 900
UNION ALL
-- A failed active test of the node is a witness where the program lost its device at that time, too,
SELECT t.death, t.fact AS cause, c.fact AS effect, 'inferred' AS edge, 'fault' AS role
FROM links t
JOIN links c ON c.death = t.death AND c.via = 'pod' AND c.signal = 'log.cuda_error.device' AND c.lag_s BETWEEN -5 AND 120
WHERE t.signal = 'gpu.test.failed' AND t.via = 'node' AND t.mode = 'exited' AND t.lag_s BETWEEN -900 AND 3600
UNION ALL
SELECT t.death, c.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'fault' AS role
FROM links t
JOIN links c ON c.death = t.death AND c.via = 'pod' AND c.signal = 'log.cuda_error.device' AND c.lag_s BETWEEN -5 AND 120
WHERE t.signal = 'gpu.test.failed' AND t.via = 'node' AND t.mode = 'exited' AND t.lag_s BETWEEN -900 AND 3600
UNION ALL
-- A launcher whose check of its node's GPUs failed takes the node out of the run: what is wrong with which GPU it does not say.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'guess' AS edge, 'claim' AS role
FROM links
WHERE signal = 'nvrx.node_unhealthy' AND via = 'pod' AND mode = 'exited' AND COALESCE(exit_code, 1) NOT IN (0, 137, 143)
  AND lag_s BETWEEN -5 AND 300
UNION ALL
-- A kernel that failed for no fault that the driver puts on the program is a guess; a program may do that, too.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'guess' AS edge, 'claim' AS role
FROM links
WHERE signal = 'log.cuda_error.device' AND via = 'pod'
  AND (same_container AND mode = 'exited' AND lag_s BETWEEN -5 AND 120 OR state = 'lingering' AND lag_s BETWEEN 60 AND 7200)
  AND COALESCE(exit_code, 1) NOT IN (0, 137, 143)
  AND (detail LIKE '%launch failure%' OR detail LIKE '%ardware stack%' OR detail LIKE '%unknown error%' OR detail LIKE '%HARDWARE_STACK%')
UNION ALL
-- and where the node was closed and its pods sent away after it, for no other reason that is known.
SELECT t.death, t.fact AS cause, m.fact AS effect,
  CASE WHEN m.person THEN 'guess' ELSE 'inferred' END AS edge, 'fault' AS role
FROM links t
JOIN reactions m ON m.death = t.death AND m.time BETWEEN t.time - 5000000000 AND t.time + 3600000000000
JOIN (SELECT DISTINCT death FROM links
      WHERE via = 'node' AND (signal LIKE 'k8s.node.cordoned%' OR signal = 'slurm.node.drained')) closed
  ON closed.death = t.death
LEFT JOIN (SELECT DISTINCT death FROM links
           WHERE signal LIKE 'upgrade.%' OR signal LIKE 'maintenance.%' OR signal LIKE 'autoscaler.scale_down%'
              OR signal LIKE 'cloud.%' OR signal IN ('k8s.pod.preempted', 'kueue.preempted', 'slurm.preempted')) other ON other.death = t.death
WHERE t.signal = 'gpu.test.failed' AND t.via = 'node' AND t.lag_s BETWEEN 0 AND 7200 AND other.death IS NULL
UNION ALL
-- Elsewhere it belongs to the story.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'context' AS edge, 'fault' AS role
FROM links
WHERE signal = 'gpu.test.failed' AND via = 'node' AND lag_s BETWEEN -3600 AND 86400
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'context' AS edge, 'state' AS role
FROM links
WHERE signal IN ('metric.gpu_gone') AND via = 'node' AND lag_s BETWEEN -120 AND 900
UNION ALL
-- What the driver blames the program for, and what struck another run on this GPU the day before, and no other GPU.
SELECT DISTINCT r.death, r.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'fault' AS role
FROM links r
JOIN links c ON c.death = r.death AND c.via = 'pod' AND c.signal LIKE 'log.cuda_error%' AND c.lag_s BETWEEN -5 AND 120
WHERE r.signal = 'gpu.application_error.repeated' AND r.via = 'node' AND r.mode = 'exited' AND r.lag_s BETWEEN -5 AND 120
  AND COALESCE(r.exit_code, 1) NOT IN (0, 137, 143)
UNION ALL
SELECT DISTINCT s.death, s.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'state' AS role
FROM stuck_in_driver s
JOIN devices k ON k.death = s.death AND k.fact = s.fact AND k.via = 'node'
WHERE s.signal IN ('gpu.missing', 'gpu.hardware_error', 'gpu.firmware_error')
UNION ALL
-- A rank that another one lost touch with just after its GPU had failed, and that was taken away with what was left: it
-- wrote no more.
SELECT DISTINCT k.death, k.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'state' AS role
FROM devices k
JOIN cut_off c ON c.death = k.death AND c.time - k.time BETWEEN -5000000000 AND 120000000000
WHERE k.signal IN ('gpu.missing', 'gpu.hardware_error', 'gpu.firmware_error') AND k.via = 'node' AND k.steps_after IS NOT TRUE AND k.mode = 'killed'
  AND k.death NOT IN (SELECT death FROM own_reason)
UNION ALL
-- A GPU that is gone takes its links with it: the GPUs at their other ends tell of that.
SELECT DISTINCT k.death, k.fact AS cause, l.fact AS effect, 'inferred' AS edge, 'fault' AS role
FROM links k
JOIN links l ON l.death = k.death AND l.machine = k.machine AND l.record <> k.record AND l.signal = 'gpu.nvlink_error'
  AND l.time BETWEEN k.time - 2000000000 AND k.time + 60000000000
WHERE k.signal = 'gpu.missing' AND k.via = 'node'
UNION ALL
-- Karpenter replaces a node once an agent has called its accelerators broken for ten minutes, and takes away others for
-- reasons that it tells.
SELECT DISTINCT u.death, u.fact AS cause, m.fact AS effect, 'inferred' AS edge, 'fault' AS role
FROM links u
JOIN links m ON m.death = u.death AND m.via IN ('node', 'pod') AND m.time - u.time BETWEEN 595000000000 AND 900000000000
  AND m.signal IN ('autoscaler.disrupted', 'autoscaler.marked', 'k8s.node.tainted_by_autoscaler', 'k8s.node.cordoned_by_autoscaler', 'k8s.pod.evicted_by_autoscaler',
                   'k8s.node_claim.deleted_by_autoscaler', 'k8s.node.deleted_by_autoscaler')
  AND (m.signal IN ('autoscaler.disrupted', 'autoscaler.marked') OR COALESCE(m.actor, '') LIKE '%karpenter%')
LEFT JOIN links told ON told.death = u.death AND told.via IN ('node', 'pod')
  AND told.signal IN ('autoscaler.scale_down', 'autoscaler.scale_down.pod', 'cloud.spot_reclaimed', 'upgrade.started', 'k8s.node_claim.deleted_by_user',
                      'k8s.node_pool.deleted_by_user', 'k8s.node.deleted_by_user')
WHERE u.signal = 'gpu.unhealthy' AND u.via = 'node' AND u.mode IN ('killed', 'lost') AND told.fact IS NULL
UNION ALL
-- A program that hangs since its GPU failed is ended by its time limit, by whoever notices, or by whoever wants the machine.
SELECT DISTINCT o.death, o.fact AS cause, o.effect, o.edge, 'fault' AS role
FROM outwaited o
JOIN devices d ON d.death = o.stood AND d.fact = o.fact
WHERE o.signal IN ('gpu.missing', 'gpu.hardware_error', 'gpu.firmware_error')
UNION ALL
-- What an agent then calls unhealthy is this GPU.
SELECT u.death, u.fact AS cause, g.fact AS effect, 'inferred' AS edge, 'fault' AS role
FROM faults u
JOIN faults g ON g.death = u.death AND g.machine = u.machine AND g.record <> u.record
  AND g.signal = 'gpu.unhealthy' AND g.time BETWEEN u.time - 5000000000 AND u.time + 300000000000
WHERE u.signal = 'gpu.firmware_error'
UNION ALL
-- And so is the one that a kubelet offers no more once it has next looked: at some time between two versions of its node, and
-- not before the driver told of it.
SELECT u.death, u.fact AS cause, g.fact AS effect, 'inferred' AS edge, 'fault' AS role
FROM faults u
JOIN faults g ON g.death = u.death AND g.machine = u.machine AND g.record <> u.record AND g.signal = 'gpu.allocatable_dropped'
  AND g.time_hi >= u.time AND g.time <= u.time + 300000000000
WHERE u.signal IN ('gpu.firmware_error', 'gpu.missing', 'gpu.hardware_error')
UNION ALL
-- A program that did not find all of its GPUs, on a machine of which Slurm says then that it has fewer than it should.
SELECT DISTINCT g.death, g.fact AS cause, c.fact AS effect, 'inferred' AS edge, 'fault' AS role
FROM links g
JOIN links c ON c.death = g.death AND c.via = 'pod' AND c.signal IN ('log.device_ordinal', 'log.cuda_error.device') AND c.lag_s BETWEEN -5 AND 120
WHERE g.signal = 'gpu.fewer' AND g.via = 'node' AND g.mode = 'exited' AND g.lag_s BETWEEN -900 AND 3600
UNION ALL
SELECT DISTINCT g.death, c.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'fault' AS role
FROM links g
JOIN links c ON c.death = g.death AND c.via = 'pod' AND c.signal = 'log.device_ordinal' AND c.lag_s BETWEEN -5 AND 120
WHERE g.signal = 'gpu.fewer' AND g.via = 'node' AND g.mode = 'exited' AND g.lag_s BETWEEN -900 AND 3600
UNION ALL
-- Whose work was on a GPU that its driver resets loses it, and says that a call of its own failed. Which GPU a program was on is not
-- told: of one that says nothing it is a guess.
SELECT r.death, MIN(r.fact) AS cause, CAST(NULL AS BIGINT) AS effect, CASE WHEN bool_or(c.fact IS NOT NULL) THEN 'inferred' ELSE 'guess' END AS edge, 'fault' AS role
FROM links r
LEFT JOIN links c ON c.death = r.death AND c.via = 'pod' AND c.signal LIKE 'log.cuda_error%' AND c.time - r.time BETWEEN -5000000000 AND 60000000000
WHERE r.signal = 'gpu.reset' AND r.via = 'node' AND r.mode = 'exited' AND COALESCE(r.exit_code, 1) NOT IN (0, 137, 143)
  AND r.lag_s BETWEEN -5 AND 120 AND r.steps_after IS NOT TRUE AND COALESCE(r.gpus, 1) > 0 AND r.death NOT IN (SELECT death FROM own_reason)
GROUP BY r.death
