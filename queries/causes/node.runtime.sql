-- cause: node.runtime
-- title: The node's container runtime failed
-- rank: 52
-- level: supported
-- needs: k8s.node.runtime, k8s.container.cannot_run.runtime, k8s.pod.sandbox_failed.runtime
-- needs: k8s.container.cannot_run.cgroup, k8s.pod.sandbox_failed.cgroup, k8s.pod.sandbox_failed.limits, k8s.container.image_pull_failed.runtime
-- summary: The container runtime on {node} failed while {pod} {was} on it: {message}
-- advice: Restart containerd or the node; check its journal.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'fault' AS role
FROM links
WHERE signal IN ('k8s.container.cannot_run.runtime', 'k8s.pod.sandbox_failed.runtime', 'k8s.container.cannot_run.cgroup',
                 'k8s.pod.sandbox_failed.cgroup', 'k8s.pod.sandbox_failed.limits',
                 'k8s.container.image_pull_failed.runtime') AND via = 'pod'
  AND state IN ('died', 'restarted', 'crash_loop', 'stuck_starting')
UNION ALL
-- Who asks a runtime that is down for an image is told that it could not be pulled.
SELECT r.death, r.fact AS cause, o.fact AS effect, 'asserted' AS edge, 'fault' AS role
FROM links r
JOIN links o ON o.death = r.death AND o.via = 'pod' AND o.fact <> r.fact
  AND o.signal IN ('k8s.container.image_pull_failed', 'k8s.container.image_pull_failed.unreachable')
WHERE r.signal = 'k8s.container.image_pull_failed.runtime' AND r.via = 'pod' AND r.state = 'stuck_starting'
UNION ALL
SELECT u.death, u.fact AS cause, m.fact AS effect, 'inferred' AS edge, 'fault' AS role
FROM links u
JOIN mechanisms m ON m.death = u.death AND m.fact <> u.fact AND m.time >= u.time - 5000000000
WHERE u.signal = 'k8s.node.runtime' AND u.via = 'node' AND (u.mode IN ('killed', 'lost') OR u.exit_code IN (137, 143) OR u.reason IN ('ContainerStatusUnknown', 'Unknown'))
  AND u.lag_s BETWEEN -900 AND 600
UNION ALL
SELECT u.death, u.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'fault' AS role
FROM links u
WHERE u.signal = 'k8s.node.runtime' AND u.via = 'node' AND (u.mode IN ('killed', 'lost') OR u.exit_code IN (137, 143) OR u.reason IN ('ContainerStatusUnknown', 'Unknown'))
  AND u.lag_s BETWEEN -900 AND 600
UNION ALL
-- A kubelet that is not ready because its runtime is down says so in one record.
SELECT r.death, r.fact AS cause, n.fact AS effect, 'asserted' AS edge, 'fault' AS role
FROM links r
JOIN mechanisms n ON n.death = r.death AND n.signal = 'k8s.node.not_ready' AND n.fact <> r.fact
JOIN links one ON one.death = r.death AND one.fact = n.fact AND one.time = r.time
WHERE r.signal = 'k8s.node.runtime' AND r.via = 'node'
UNION ALL
-- What waits on a node whose runtime is down.
SELECT u.death, u.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'state' AS role
FROM links u
LEFT JOIN links again ON again.death = u.death AND again.via = 'node' AND again.signal = 'k8s.node.ready'
  AND again.time > u.time
WHERE u.signal = 'k8s.node.runtime' AND u.via = 'node'
  AND u.state IN ('stuck_starting', 'not_ready') AND again.fact IS NULL
