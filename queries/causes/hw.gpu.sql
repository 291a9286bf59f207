-- cause: hw.gpu
-- title: A GPU failed
-- rank: 82
-- level: supported
-- needs: gpu.unhealthy, gpu.missing, gpu.hardware_error, gpu.xid, gpu.allocatable_dropped
-- needs: k8s.pod.evicted.device_taint
-- overturned_by: prometheus: what DCGM measured
-- overturned_by: kernel: the Xid line
-- summary: A GPU of {node} failed under {pod}: {message}
-- advice: Drain the node and have the GPU reset or replaced before it is used again.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'fault' AS role
FROM ties
WHERE signal IN ('gpu.unhealthy', 'gpu.missing', 'gpu.hardware_error', 'gpu.xid', 'gpu.allocatable_dropped', 'k8s.pod.evicted.device_taint') AND via IN ('node', 'pod')
  AND (mode = 'lost' OR exit_code <> 0 OR mode = 'killed') AND state IN ('died', 'restarted', 'crash_loop')
  AND lag_s BETWEEN -120 AND 900
UNION ALL
SELECT u.death, u.fact AS cause, m.fact AS effect, 'inferred' AS edge, 'fault' AS role
FROM ties u
JOIN mechanisms m ON m.death = u.death AND m.fact <> u.fact AND m.time >= u.time - 5000000000
WHERE u.signal IN ('gpu.unhealthy', 'gpu.missing', 'gpu.hardware_error', 'gpu.xid', 'gpu.allocatable_dropped', 'k8s.pod.evicted.device_taint') AND u.via IN ('node', 'pod') AND u.lag_s BETWEEN -120 AND 900
