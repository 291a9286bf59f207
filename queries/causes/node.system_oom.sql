-- cause: node.system_oom
-- title: The node ran out of memory
-- rank: 78
-- level: supported
-- needs: k8s.node.system_oom, kernel.oom_kill.node, kernel.oom_kill.outside, kernel.oom_kill.node.process, unit.oom_killed, unit.oom_killed.daemon, node.memory_daemon_killed, ray.memory_monitor
-- alone: kernel.oom_kill.node
-- overturned_by: metrics: how much memory the machine had left
-- summary: {node} ran out of memory, and the kernel killed a process of {pod}.
-- summary_of: node.memory_daemon_killed: {node} was about to run out of memory, and an out-of-memory daemon killed a process of {pod}: {message}
-- summary_of: unit.oom_killed.daemon: systemd-oomd killed {pod} because memory was short on {node}: {message}
-- summary_of: ray.memory_monitor: Ray killed a worker of {pod} because the node was nearly out of memory; what used the memory is not known: {message}
-- advice_of: unit.oom_killed.daemon: Find out what used the memory of {node}; give the service memory of its own (MemoryLow=), or have systemd-oomd leave it alone (ManagedOOMPreference=omit).
-- advice: Find out what used the memory of {node}; set memory requests and limits, and leave room for the system.
-- The kernel kills one process at a time. Where a kill of its own is told of just as this container ended, and another one beside the words about
-- the whole node, those are about the other.
WITH of_another AS (
  SELECT DISTINCT u.death, u.fact
  FROM links u
  JOIN links own ON own.death = u.death AND own.signal IN ('k8s.node.oom_kill', 'kernel.oom_kill.limit') AND ABS(own.lag_s) <= 2
    AND ABS(own.time - u.time) > 3000000000
  JOIN links other ON other.death = u.death AND other.signal IN ('k8s.node.oom_kill', 'kernel.oom_kill.node') AND other.fact <> own.fact
    AND ABS(other.time - u.time) <= 1000000000
  WHERE u.signal = 'k8s.node.system_oom' AND u.via = 'node'
),
-- The process that was killed, where its name is that of a program of the machine's own: it is none of a pod's.
of_machine AS (
  SELECT DISTINCT fact FROM links
  WHERE signal IN ('k8s.node.system_oom', 'kernel.oom_kill.node') AND via = 'node'
    AND regexp_like(detail, '^(node_exporter|kubelet|containerd|dockerd|crio|kube-|systemd|sshd|dcgm|nvidia-|nv-|prometheus|fluent|vector|promtail|otelcol|calico|cilium|falco|filebeat|telegraf)')
),
-- The kubelet's word names the process: one whose name is no trainer's may be anybody's.
full_node AS (
  SELECT *, regexp_like(COALESCE(detail, 'python'), '^(python|pt_|ray|torch|train)') AS is_trainer
  FROM links
  WHERE signal = 'k8s.node.system_oom' AND via = 'node' AND lag_s BETWEEN -60 AND 60
    AND fact NOT IN (SELECT fact FROM of_machine)
),
-- What keeps ending did not do so because the node was full once.
once AS (
  SELECT death FROM links
  WHERE signal IN ('k8s.node.system_oom', 'kernel.oom_kill.node') AND state = 'crash_loop'
  GROUP BY death HAVING MAX(time) - MIN(time) < 60000000000 AND MAX(COALESCE(count, 1)) < 2
)
SELECT u.death, u.fact AS cause, m.fact AS effect, CASE WHEN once.death IS NULL AND u.is_trainer THEN 'inferred' ELSE 'guess' END AS edge, 'fault' AS role
FROM full_node u
LEFT JOIN once ON once.death = u.death
JOIN links m ON m.death = u.death AND m.via = 'pod' AND m.signal IN ('k8s.container.oom_killed', 'k8s.container.sigkill')
  AND m.lag_s BETWEEN -1 AND 1
LEFT JOIN of_another o ON o.death = u.death AND o.fact = u.fact
WHERE o.death IS NULL
UNION ALL
SELECT u.death, u.fact AS cause, CAST(NULL AS BIGINT) AS effect, CASE WHEN once.death IS NULL AND u.is_trainer THEN 'inferred' ELSE 'guess' END AS edge, 'fault' AS role
FROM full_node u
LEFT JOIN once ON once.death = u.death
LEFT JOIN of_another o ON o.death = u.death AND o.fact = u.fact
WHERE u.exit_code = 137 AND o.death IS NULL
UNION ALL
-- The kernel's own words for it. Where they name a pod it is that one; where they name none, one that was killed then.
-- A process whose name is not that of a trainer's may be anything that ran on the machine.
SELECT k.death, k.fact AS cause, CAST(NULL AS BIGINT) AS effect,
  CASE WHEN once.death IS NULL AND (k.via = 'pod' OR regexp_like(COALESCE(k.detail, 'python'), '^(python|pt_|ray|torch|train)'))
    THEN 'inferred' ELSE 'guess' END AS edge,
  'fault' AS role
FROM links k
LEFT JOIN once ON once.death = k.death
-- Its line before this one names whose memory was counted: a service of the machine's own is no pod.
LEFT JOIN links o ON o.death = k.death AND o.signal = 'kernel.oom_kill.outside' AND o.via = k.via
  AND ABS(o.time - k.time) < 2000000000
WHERE k.signal = 'kernel.oom_kill.node' AND k.mode IN ('exited', 'killed')
  AND (k.via = 'pod' OR k.fact NOT IN (SELECT fact FROM of_machine))
  AND (k.via = 'pod' AND k.lag_s BETWEEN -5 AND 60 AND COALESCE(k.exit_code, 137) <> 0
    OR k.via = 'node' AND k.exit_code = 137 AND k.lag_s BETWEEN -2 AND 10
      -- On a machine of its own the program may be a service.
      AND (o.fact IS NULL OR k.root_kind IN ('Experiment', 'InstanceGroup', 'Instance')))
UNION ALL
-- The very process of which a launcher on that machine tells that it was killed.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'fault' AS role
FROM links
WHERE signal = 'kernel.oom_kill.node.process' AND via = 'pod' AND mode IN ('exited', 'killed') AND lag_s BETWEEN -5 AND 120
UNION ALL
-- A process of the service that the program runs as, which the kernel killed when the whole machine was full.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'claim' AS role
FROM service_oom
WHERE of_machine
UNION ALL
-- The daemon names the service.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'fault' AS role
FROM links
WHERE signal = 'unit.oom_killed.daemon' AND via = 'pod' AND state = 'died' AND lag_s BETWEEN -60 AND 60
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'fault' AS role
FROM links
WHERE signal = 'node.memory_daemon_killed' AND (via = 'node' AND detail IS NULL OR via = 'pod' AND mode IN ('exited', 'killed')) AND exit_code IN (137, 143)
  AND lag_s BETWEEN CASE WHEN via = 'pod' THEN -5 ELSE 0 END AND 15
UNION ALL
-- Ray counts the memory of the whole node, or of its container: whose it was it does not say.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'guess' AS edge, 'claim' AS role
FROM links
WHERE signal = 'ray.memory_monitor' AND via = 'pod' AND mode = 'exited' AND COALESCE(exit_code, 1) NOT IN (0, 143) AND lag_s BETWEEN -5 AND 120
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'context' AS edge, 'state' AS role
FROM links
WHERE signal IN ('memory.node_exhausted', 'alert.node_memory') AND via = 'node' AND lag_s BETWEEN -60 AND 300
UNION ALL
-- The machine had plenty a moment before.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'against' AS edge, 'state' AS role
FROM links
WHERE signal = 'memory.node_plenty' AND via = 'node' AND lag_s BETWEEN -15 AND 60
