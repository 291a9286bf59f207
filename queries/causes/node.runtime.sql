-- cause: node.runtime
-- title: The container runtime of its node failed
-- rank: 52
-- level: supported
-- needs: k8s.node.runtime, k8s.container.cannot_run.runtime, k8s.pod.sandbox_failed.runtime
-- needs: k8s.container.cannot_run.cgroup, k8s.pod.sandbox_failed.cgroup, k8s.pod.sandbox_failed.limits, k8s.container.image_pull_failed.runtime
-- summary: The container runtime on {node} failed under {pod}: {message}
-- advice: Restart containerd or the node; look at its journal.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'fault' AS role
FROM ties
WHERE signal IN ('k8s.container.cannot_run.runtime', 'k8s.pod.sandbox_failed.runtime', 'k8s.container.cannot_run.cgroup',
                 'k8s.pod.sandbox_failed.cgroup', 'k8s.pod.sandbox_failed.limits') AND via = 'pod'
  AND state IN ('died', 'restarted', 'crash_loop', 'stuck_starting')
UNION ALL
-- Who asks a runtime that is down for an image is told that it could not be pulled.
SELECT r.death, r.fact AS cause, o.fact AS effect, 'asserted' AS edge, 'fault' AS role
FROM ties r
JOIN ties o ON o.death = r.death AND o.via = 'pod' AND o.fact <> r.fact
  AND o.signal IN ('k8s.container.image_pull_failed', 'k8s.container.image_pull_failed.unreachable')
WHERE r.signal = 'k8s.container.image_pull_failed.runtime' AND r.via = 'pod' AND r.state = 'stuck_starting'
UNION ALL
SELECT u.death, u.fact AS cause, m.fact AS effect, 'inferred' AS edge, 'fault' AS role
FROM ties u
JOIN mechanisms m ON m.death = u.death AND m.fact <> u.fact AND m.time >= u.time - 5000000000
WHERE u.signal = 'k8s.node.runtime' AND u.via = 'node' AND (u.mode IN ('killed', 'lost') OR u.exit_code IN (137, 143) OR u.reason = 'ContainerStatusUnknown')
  AND u.lag_s BETWEEN -900 AND 600
UNION ALL
SELECT u.death, u.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'fault' AS role
FROM ties u
WHERE u.signal = 'k8s.node.runtime' AND u.via = 'node' AND (u.mode IN ('killed', 'lost') OR u.exit_code IN (137, 143) OR u.reason = 'ContainerStatusUnknown')
  AND u.lag_s BETWEEN -900 AND 600
