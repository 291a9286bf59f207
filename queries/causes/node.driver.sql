-- cause: node.driver
-- title: The GPU driver or device plugin failed
-- rank: 53
-- level: supported
-- needs: k8s.pod.admission_failed.device, k8s.container.cannot_run.device
-- needs: gpu.device_plugin_unhealthy, gpu.driver_error, gpu.driver_error.not_ready, gpu.device_plugin_down, gpu.allocatable_short
-- needs: gpu.fabric_manager_failed, gpu.fabric_manager_stopped, gpu.fabric_manager_stop_requested
-- title_of: gpu.fabric_manager_stopped, gpu.fabric_manager_stop_requested: NVIDIA Fabric Manager was stopped
-- summary_of: gpu.fabric_manager_stopped, gpu.fabric_manager_stop_requested: NVIDIA Fabric Manager was stopped or restarted on {node}{by} while {pod} {was} on it, which aborts what runs on the GPUs there.
-- advice_of: gpu.fabric_manager_stopped, gpu.fabric_manager_stop_requested: Drain the node before its Fabric Manager is stopped or restarted; if NVLink errors come back without that, check the links.
-- title_of: gpu.fabric_manager_failed: NVIDIA Fabric Manager failed
-- summary_of: gpu.fabric_manager_failed: NVIDIA Fabric Manager failed on {node}, and before it has set up NVLink no program can use the GPUs there: {message}
-- advice_of: gpu.fabric_manager_failed: Read the log of nvidia-fabricmanager on {node}, and check that its version is that of the driver.
-- summary: The GPU driver or device plugin on {node} failed while {pod} {was} on it: {message}
-- summary_of: k8s.pod.admission_failed.device, k8s.container.cannot_run.device: {pod} could not start because the GPU driver or device plugin on {node} failed: {message}
-- summary_of: gpu.device_plugin_down: {node} does not offer its GPUs because its device plugin or driver is not running, and {pod} found no room: {message}
-- summary_of: gpu.allocatable_short: {node} does not offer all of its GPUs, on which {pod} might have fit: {message}
-- advice_of: gpu.device_plugin_down: Find out why the device plugin on {node} does not start: check its log, the driver, and the configuration of the container runtime.
-- advice_of: gpu.allocatable_short: Compare the GPUs that the node offers (kubectl describe node {node}) with nvidia-smi on it, and read the log of its device plugin.
-- advice: Drain the node, check the driver, and restart the device plugin.
-- What kept a pod from starting does not tell how it ended once it ran, where nothing is known of that end.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect,
  CASE WHEN signal = 'k8s.container.cannot_run.device' AND mode = 'exited' AND exit_code IS NULL THEN 'guess' ELSE 'inferred' END AS edge, 'fault' AS role
FROM links
WHERE signal IN ('k8s.pod.admission_failed.device', 'k8s.container.cannot_run.device') AND via = 'pod'
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'fault' AS role
FROM links
WHERE signal IN ('gpu.device_plugin_unhealthy', 'gpu.driver_error') AND via IN ('node', 'pod')
  AND state IN ('died', 'restarted', 'crash_loop', 'stuck_starting') AND lag_s BETWEEN -60 AND 900
  -- Who gets no GPU from its driver says so and ends; it is not killed.
  AND COALESCE(exit_code, 1) NOT IN (0, 132, 133, 136, 137, 139, 143)
  -- A program that says itself that the driver does not fit gives the driver's reason.
  AND (death NOT IN (SELECT death FROM own_reason)
    OR death IN (SELECT death FROM links
                 WHERE signal = 'log.versions' AND via = 'pod' AND mode = 'exited' AND lag_s BETWEEN -5 AND 60
                   -- A library that is not there is no driver's.
                   AND COALESCE(detail, '') NOT IN ('ImportError', 'ModuleNotFoundError', 'OSError')))
  -- What the driver says of a client it says before that one ends.
  AND (source_kind <> 'node_log' OR lag_s >= -5)
UNION ALL
-- Who found no room would have had some on a node that does not offer its GPUs. Why it does not is known where what offers them
-- does not run there; else GPUs may be unhealthy, or the node was made a moment ago.
SELECT u.death, s.fact AS cause, u.fact AS effect, CASE WHEN p.death IS NULL THEN 'guess' ELSE 'inferred' END AS edge, 'fault' AS role
FROM links u
JOIN links s ON s.death = u.death AND s.via = 'pod' AND s.signal = 'gpu.allocatable_short'
LEFT JOIN (SELECT DISTINCT death, machine FROM links WHERE via = 'pod' AND signal = 'gpu.device_plugin_down') p
  ON p.death = s.death AND p.machine = s.machine
WHERE u.signal = 'k8s.pod.unschedulable.capacity' AND u.via = 'pod' AND u.state = 'never_scheduled'
UNION ALL
SELECT p.death, p.fact AS cause, s.fact AS effect, 'inferred' AS edge, 'fault' AS role
FROM links p
JOIN links s ON s.death = p.death AND s.via = 'pod' AND s.signal = 'gpu.allocatable_short' AND s.machine = p.machine
WHERE p.signal = 'gpu.device_plugin_down' AND p.via = 'pod' AND p.state = 'never_scheduled'
UNION ALL
-- CUDA waits for the NVLink fabric to be set up, and what sets it up has failed.
SELECT f.death, f.fact AS cause, d.fact AS effect, 'inferred' AS edge, 'fault' AS role
FROM links f
JOIN links n ON n.death = f.death AND n.signal = 'gpu.driver_error.not_ready' AND n.via IN ('pod', 'node')
JOIN links d ON d.death = n.death AND d.record = n.record AND d.via = n.via AND d.signal = 'gpu.driver_error'
WHERE f.signal = 'gpu.fabric_manager_failed' AND f.via = 'node' AND d.time >= f.time - 5000000000
UNION ALL
-- Links that fail as what sets them up is stopped do not fail of themselves.
SELECT f.death, f.fact AS cause, n.fact AS effect, 'inferred' AS edge, 'fault' AS role
FROM links f
JOIN links n ON n.death = f.death AND n.via IN ('node', 'pod') AND n.signal = 'gpu.nvlink_error' AND COALESCE(n.machine, f.machine) = f.machine
  AND n.time - f.time BETWEEN -1000000000 AND 60000000000
WHERE f.signal = 'gpu.fabric_manager_stopped' AND f.via = 'node'
UNION ALL
SELECT r.death, r.fact AS cause, f.fact AS effect, 'inferred' AS edge, 'act' AS role
FROM links r
JOIN links f ON f.death = r.death AND f.machine = r.machine AND f.via = 'node' AND f.signal = 'gpu.fabric_manager_stopped'
  AND f.time - r.time BETWEEN -1000000000 AND 30000000000
WHERE r.signal = 'gpu.fabric_manager_stop_requested' AND r.via = 'node'
