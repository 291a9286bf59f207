-- cause: node.driver
-- title: The GPU driver or device plugin failed
-- rank: 53
-- level: supported
-- needs: k8s.pod.admission_failed.device, k8s.container.cannot_run.device
-- needs: gpu.device_plugin_unhealthy, gpu.driver_error
-- summary: The GPU driver or device plugin on {node} failed while {pod} {was} on it: {message}
-- advice: Drain the node, restart the device plugin and check the driver.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'fault' AS role
FROM links
WHERE signal IN ('k8s.pod.admission_failed.device', 'k8s.container.cannot_run.device') AND via = 'pod'
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'fault' AS role
FROM links
WHERE signal IN ('gpu.device_plugin_unhealthy', 'gpu.driver_error') AND via IN ('node', 'pod')
  AND state IN ('died', 'restarted', 'crash_loop', 'stuck_starting') AND lag_s BETWEEN -60 AND 900
  -- Who gets no GPU from its driver says so and ends; it is not killed.
  AND COALESCE(exit_code, 1) NOT IN (0, 132, 133, 136, 137, 139, 143)
  AND death NOT IN (SELECT death FROM own_reason)
  -- What the driver says of a client it says before that one ends.
  AND (source_kind <> 'node_log' OR lag_s >= -5)
