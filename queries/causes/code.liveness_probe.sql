-- cause: code.liveness_probe
-- title: Killed by its liveness probe
-- title_of: k8s.container.startup_probe_killed: Killed by its startup probe
-- rank: 40
-- level: supported
-- needs: k8s.container.liveness_killed, k8s.container.startup_probe_killed, k8s.container.probe_failed.liveness
-- summary: The kubelet stopped a container of {pod} because its probe failed: {message}
-- advice: Give the probe more time, or remove it from a training process that may be too busy to respond.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'asserted' AS edge, 'act' AS role
FROM links
WHERE signal IN ('k8s.container.liveness_killed', 'k8s.container.startup_probe_killed')
  AND via = 'pod' AND same_container AND state IN ('died', 'restarted', 'crash_loop') AND lag_s BETWEEN -60 AND 600
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'asserted' AS edge, 'act' AS role
FROM links
WHERE signal IN ('k8s.container.liveness_killed', 'k8s.container.startup_probe_killed')
  AND via = 'pod' AND state = 'not_ready'
UNION ALL
-- A pod that is never restarted is stopped as a whole, and the kubelet does not say for what. That it was not deleted,
-- its status shows: it has an exit code, and nobody asked for its end.
SELECT p.death, p.fact AS cause, k.fact AS effect, 'inferred' AS edge, 'act' AS role
FROM links p
JOIN links k ON k.death = p.death AND k.via = 'pod' AND k.signal = 'k8s.container.killing'
  AND k.time BETWEEN p.time - 2000000000 AND p.time + 600000000000
LEFT JOIN links other ON other.death = p.death AND other.via IN ('pod', 'named')
  AND (other.signal IN ('k8s.pod.deletion_requested', 'k8s.workload.pod_deleted', 'k8s.pod.deadline', 'k8s.workload.deadline')
    OR other.signal LIKE 'k8s.pod.evicted%' OR other.signal LIKE 'k8s.pod.preempted%'
    OR other.signal LIKE 'k8s.pod.deleted_by_%' OR other.signal LIKE 'k8s.pod.node_%')
WHERE p.signal = 'k8s.container.probe_failed.liveness' AND p.via = 'pod' AND p.same_container AND p.count > 1
  AND p.state = 'died' AND p.mode = 'killed' AND p.exit_code IS NOT NULL AND other.fact IS NULL
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'context' AS edge, 'fault' AS role
FROM links
WHERE signal IN ('k8s.container.probe_failed.liveness', 'k8s.container.probe_failed.startup')
  AND via = 'pod' AND state IN ('died', 'restarted', 'crash_loop')
