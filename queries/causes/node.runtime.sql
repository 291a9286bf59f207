-- cause: node.runtime
-- title: The node's container runtime failed
-- rank: 52
-- level: supported
-- needs: k8s.node.runtime, k8s.container.cannot_run.runtime, k8s.pod.sandbox_failed.runtime
-- needs: k8s.container.cannot_run.cgroup, k8s.pod.sandbox_failed.cgroup, k8s.pod.sandbox_failed.limits, k8s.container.image_pull_failed.runtime
-- needs: node.runtime_killed, node.packages_upgraded, node.runtime_stopping, node.changed_by_tool
-- needs: node.runtime_down, node.runtime_stop_requested
-- title_of: node.runtime_stop_requested: The node's container runtime was stopped on request
-- summary_of: node.runtime_stop_requested: The container runtime on {node} was stopped or restarted{by} while {pod} {was} on it, and it lost its containers.
-- title_of: node.runtime_killed: The node's container runtime was stopped
-- title_of: node.runtime_stopping: The node's container runtime was stopped
-- title_of: node.changed_by_tool: A tool restarted the node's container runtime
-- summary_of: node.runtime_stopping: The container runtime on {node} was stopped while {pod} {was} on it, and it lost its containers: {message}
-- summary_of: node.changed_by_tool: A configuration tool restarted the container runtime on {node} while {pod} {was} on it, and it lost its containers: {message}
-- title_of: node.packages_upgraded: The node's container runtime was upgraded
-- summary_of: node.runtime_killed: The container runtime on {node} was stopped with its containers while {pod} {was} on it: {message}
-- summary_of: node.packages_upgraded: The container runtime on {node} was upgraded while {pod} {was} on it: {message}
-- advice_of: node.runtime_killed, node.packages_upgraded, node.runtime_stopping, node.changed_by_tool, node.runtime_stop_requested: Find out who or what restarted the runtime; drain the node before that, and let the service leave its containers running (KillMode=process).
-- summary: The container runtime on {node} failed while {pod} {was} on it: {message}
-- advice: Check the journal of the container runtime on {node}; restart the runtime or the node.
-- A machine that goes down stops its runtime as well.
WITH down AS (
  SELECT DISTINCT death FROM links
  WHERE via = 'node' AND lag_s BETWEEN -600 AND 600
    AND signal IN ('k8s.node.rebooted', 'node.rebooting', 'node.crashed', 'node.reboot_requested', 'node.powering_off', 'node.powered_off',
                   'node.poweroff_requested', 'k8s.node.shutdown', 'kernel.panic')
),
-- Who stops a runtime with all that it holds, or upgrades it, ends containers of which it cannot tell how.
stopped AS (
  SELECT u.death, u.fact, u.signal FROM links u
  LEFT JOIN down ON down.death = u.death
  WHERE u.via = 'node' AND u.state IN ('died', 'restarted', 'crash_loop') AND u.mode = 'exited' AND down.death IS NULL
    AND (u.signal = 'node.runtime_killed' AND u.lag_s BETWEEN -5 AND 60
           AND (COALESCE(u.reason, '') IN ('ContainerStatusUnknown', 'Unknown') OR u.exit_code IN (137, 143, 255) AND COALESCE(u.reason, '') <> 'OOMKilled')
      -- Its new start did not find them.
      OR u.signal = 'node.runtime_stopping' AND u.lag_s BETWEEN -5 AND 60 AND COALESCE(u.reason, '') IN ('ContainerStatusUnknown', 'Unknown')
      OR u.signal = 'node.packages_upgraded' AND u.lag_s BETWEEN -5 AND 120 AND COALESCE(u.reason, '') IN ('ContainerStatusUnknown', 'Unknown')
           AND regexp_like(COALESCE(u.detail, ''), '(^|[ ,])(containerd|docker|cri-o|moby|runc)'))
),
failed AS (
  SELECT u.death, u.fact, u.time,
    CASE WHEN asked.death IS NOT NULL OR own.death IS NOT NULL OR again.time > u.time OR stopped_by.time > u.time
        -- What it ends it ends in that moment; and a kubelet that talks on for a minute did not fall silent of it.
        OR u.mode = 'exited' AND u.lag_s > 60 OR quiet.time - u.time > 120000000000
      THEN 'guess' ELSE 'inferred' END AS sure
  FROM links u
  LEFT JOIN asked_for asked ON asked.death = u.death
  LEFT JOIN (SELECT DISTINCT death FROM reactions WHERE person) own ON own.death = u.death
  LEFT JOIN fell_silent quiet ON quiet.death = u.death
  -- One that was started again keeps the containers that it had: what ends them later is something else.
  LEFT JOIN (SELECT death, MAX(time) AS time FROM links
             WHERE via = 'node' AND (signal = 'k8s.node.ready' AND lag_s > 0 OR signal = 'node.runtime_up' AND lag_s > 30)
             GROUP BY death) again ON again.death = u.death
  -- A kubelet that stops a container has a runtime that does it.
  LEFT JOIN (SELECT death, MAX(time) AS time FROM links
             WHERE signal IN ('k8s.container.killing', 'k8s.container.liveness_killed', 'k8s.container.startup_probe_killed') AND via = 'pod'
             GROUP BY death) stopped_by ON stopped_by.death = u.death
  -- A machine that goes down in good order stops its services first.
  LEFT JOIN (SELECT DISTINCT death, machine, time FROM links
             WHERE via = 'node' AND signal IN ('node.powering_off', 'node.rebooting', 'k8s.node.shutdown')) going
    ON going.death = u.death AND going.machine = u.machine AND u.time - going.time BETWEEN -1000000000 AND 120000000000
  WHERE u.signal = 'k8s.node.runtime' AND u.via = 'node' AND COALESCE(u.reason, '') <> 'OOMKilled' AND going.death IS NULL
    AND (u.mode IN ('killed', 'lost') OR u.exit_code IN (137, 143) OR u.reason IN ('ContainerStatusUnknown', 'Unknown'))
    -- Who watches a machine tells of it after a quarter of an hour at the latest; its own log does at once, and a kubelet after three minutes.
    AND u.lag_s BETWEEN CASE WHEN u.source_kind = 'node_log' THEN -240 ELSE -900 END AND 600
),
-- A node that its own kubelet calls not ready for that is given the taint of one, and what does not stand that is evicted. A kubelet
-- that talks obeys, and stops it.
evicted AS (
  SELECT DISTINCT e.death, e.fact, r.fact AS cause FROM links e
  JOIN links t ON t.death = e.death AND t.via = 'node' AND t.signal = 'k8s.node.unreachable' AND COALESCE(t.detail, '') LIKE '%/not-ready'
    AND t.time <= e.time_hi
  JOIN links r ON r.death = e.death AND r.via = 'node' AND r.signal = 'k8s.node.runtime' AND t.time - r.time BETWEEN -1000000000 AND 60000000000
  JOIN links n ON n.death = r.death AND n.via = 'node' AND n.record = r.record AND n.signal = 'k8s.node.not_ready'
  LEFT JOIN links again ON again.death = e.death AND again.via = 'node' AND again.signal = 'k8s.node.ready'
    AND again.time > r.time AND again.time_hi < e.time
  -- Another taint may be why.
  LEFT JOIN links own ON own.death = e.death AND own.via = 'node' AND own.signal = 'k8s.node.tainted.no_execute' AND own.time <= e.time_hi + 5000000000
  WHERE e.via = 'pod' AND e.signal IN ('k8s.pod.evicted.taint', 'k8s.pod.deleted_by_node_controller') AND e.mode IN ('killed', 'lost')
    AND again.fact IS NULL AND own.fact IS NULL
)
SELECT s.death, s.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'fault' AS role
FROM stopped s
UNION ALL
-- A tool that says that it restarts that very service is why it stopped.
SELECT c.death, c.fact AS cause, s.fact AS effect, 'inferred' AS edge, 'act' AS role
FROM links c
JOIN stopped s ON s.death = c.death AND s.signal IN ('node.runtime_stopping', 'node.runtime_killed')
JOIN links t ON t.death = s.death AND t.fact = s.fact AND t.time - c.time BETWEEN -5000000000 AND 30000000000
WHERE c.signal = 'node.changed_by_tool' AND c.via = 'node' AND regexp_like(COALESCE(c.detail, ''), 'service\[(containerd|docker|crio|cri-o)\]')
UNION ALL
-- So is whoever asked for it.
SELECT r.death, r.fact AS cause, s.fact AS effect, 'inferred' AS edge, 'act' AS role
FROM links r
JOIN stopped s ON s.death = r.death AND s.signal IN ('node.runtime_stopping', 'node.runtime_killed')
JOIN links t ON t.death = s.death AND t.fact = s.fact AND t.machine = r.machine AND t.time - r.time BETWEEN -1000000000 AND 120000000000
WHERE r.signal = 'node.runtime_stop_requested' AND r.via = 'node'
UNION ALL
-- What is upgraded is stopped for it.
SELECT p.death, p.fact AS cause, k.fact AS effect, 'inferred' AS edge, 'fault' AS role
FROM links p
JOIN stopped k ON k.death = p.death AND k.signal = 'node.runtime_killed'
JOIN links t ON t.death = k.death AND t.fact = k.fact AND t.time - p.time BETWEEN -1000000000 AND 120000000000
WHERE p.signal = 'node.packages_upgraded' AND p.via = 'node' AND regexp_like(COALESCE(p.detail, ''), '(^|[ ,])(containerd|docker|cri-o|moby|runc)')
UNION ALL
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
-- A runtime that worked again before the pod ended, or somebody who asked for that, had nothing to do with it.
SELECT u.death, u.fact AS cause, m.fact AS effect, u.sure AS edge, 'fault' AS role
FROM failed u
JOIN mechanisms m ON m.death = u.death AND m.fact <> u.fact AND m.time >= u.time - 5000000000
UNION ALL
SELECT u.death, u.fact AS cause, CAST(NULL AS BIGINT) AS effect, u.sure AS edge, 'fault' AS role
FROM failed u
UNION ALL
SELECT e.death, e.cause, e.fact AS effect, 'inferred' AS edge, 'fault' AS role
FROM evicted e
UNION ALL
SELECT e.death, e.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'asserted' AS edge, 'act' AS role
FROM evicted e
UNION ALL
-- A kubelet that is not ready because its runtime is down says so in one record.
SELECT r.death, r.fact AS cause, n.fact AS effect, 'asserted' AS edge, 'fault' AS role
FROM links r
JOIN mechanisms n ON n.death = r.death AND n.signal = 'k8s.node.not_ready' AND n.fact <> r.fact
JOIN links one ON one.death = r.death AND one.fact = n.fact AND one.time = r.time
WHERE r.signal = 'k8s.node.runtime' AND r.via = 'node'
UNION ALL
-- The controller of nodes then puts the taint of one that is not ready on it.
SELECT r.death, r.fact AS cause, n.fact AS effect, 'asserted' AS edge, 'fault' AS role
FROM links r
JOIN mechanisms n ON n.death = r.death AND n.signal = 'k8s.node.unreachable' AND n.fact <> r.fact
JOIN links t ON t.death = r.death AND t.fact = n.fact AND COALESCE(t.detail, '') LIKE '%/not-ready' AND t.time - r.time BETWEEN -1000000000 AND 60000000000
WHERE r.signal = 'k8s.node.runtime' AND r.via = 'node'
UNION ALL
-- What waits on a node whose runtime is down.
SELECT u.death, u.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'state' AS role
FROM links u
LEFT JOIN links again ON again.death = u.death AND again.via = 'node' AND again.signal = 'k8s.node.ready'
  AND again.time > u.time
WHERE u.signal = 'k8s.node.runtime' AND u.via = 'node'
  AND u.state IN ('stuck_starting', 'not_ready') AND again.fact IS NULL
UNION ALL
-- Its service was not started again: systemd does that within seconds where it can. A kubelet that speaks to a runtime fails
-- to make anything meanwhile.
SELECT u.death, u.fact AS cause, CAST(NULL AS BIGINT) AS effect, CASE WHEN u.time > 0 THEN 'inferred' ELSE 'guess' END AS edge, 'fault' AS role
FROM links u
LEFT JOIN down ON down.death = u.death
LEFT JOIN links again ON again.death = u.death AND again.machine = u.machine AND again.time > u.time
  AND (again.signal = 'node.runtime_up' OR again.via = 'node' AND again.signal = 'k8s.node.ready')
LEFT JOIN links agent ON agent.death = u.death AND agent.machine = u.machine AND agent.signal = 'node.kubelet_down'
WHERE u.signal = 'node.runtime_down' AND u.via = 'node' AND u.state IN ('stuck_starting', 'not_ready')
  AND down.death IS NULL AND again.fact IS NULL AND agent.fact IS NULL
