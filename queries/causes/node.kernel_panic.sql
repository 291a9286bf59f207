-- cause: node.kernel_panic
-- title: The node's kernel crashed or reported a fault
-- title_of: kernel.panic: The node's kernel crashed
-- title_of: kernel.lockup: A CPU of the node hung in the kernel
-- rank: 80
-- level: supported
-- needs: k8s.node.kernel, kernel.panic, kernel.oops, kernel.lockup
-- alone: kernel.panic
-- summary: The kernel of {node} reported a fault while {pod} {was} on it: {message}
-- summary_of: kernel.panic: The kernel of {node} panicked while {pod} {was} on it: {message}
-- summary_of: kernel.lockup: A CPU of {node} hung in the kernel while {pod} {was} on it: {message}
-- advice: Take the node out of the pool, and look for the trace in its kernel log.
--
-- A processor that hangs until the machine stands still is told of again and again; one that came back after half a
-- minute is told of once, and machines live on after it; so did one whose node was ready all the time, and one that
-- went down in good order later.
WITH stuck AS (
  SELECT death FROM links
  WHERE signal = 'kernel.lockup' AND via = 'node' AND lag_s BETWEEN -900 AND 600
  GROUP BY death HAVING COUNT(DISTINCT fact) > 1
),
faults AS (
  SELECT u.death, u.fact, u.time, u.signal = 'kernel.panic' AS panics,
    -- A machine outlives an oops as a rule: one whose node was ready all the time did, and whose end somebody asked for
    -- did not end of it. A process that an oops ends it ends in that moment.
    CASE WHEN u.signal = 'kernel.lockup' AND (s.death IS NULL OR u.node_ready)
        OR u.signal <> 'kernel.panic' AND (o.time >= u.time OR stopped_by.time > u.time OR u.node_ready OR asked.death IS NOT NULL OR u.reason = 'OOMKilled'
          OR u.mode = 'exited' AND u.lag_s > 60)
      THEN 'guess' ELSE 'inferred' END AS sure
  FROM links u
  LEFT JOIN stuck s ON s.death = u.death
  LEFT JOIN asked_for asked ON asked.death = u.death
  LEFT JOIN (SELECT death, MAX(time) AS time FROM links
             WHERE signal = 'k8s.node.rebooted' AND via = 'node' AND lag_s BETWEEN -60 AND 60 GROUP BY death) b ON b.death = u.death
  LEFT JOIN (SELECT death, MAX(time) AS time FROM links
             WHERE signal IN ('k8s.container.killing', 'k8s.container.liveness_killed', 'k8s.container.startup_probe_killed') AND via = 'pod'
             GROUP BY death) stopped_by ON stopped_by.death = u.death
  LEFT JOIN (SELECT death, MAX(time) AS time FROM links
             WHERE (signal IN ('node.rebooting', 'node.powering_off', 'k8s.node.shutdown') AND via = 'node' OR signal = 'k8s.pod.node_shutdown' AND via = 'pod')
               AND lag_s BETWEEN -900 AND 600
             GROUP BY death) o ON o.death = u.death
  WHERE u.signal IN ('k8s.node.kernel', 'kernel.panic', 'kernel.oops', 'kernel.lockup') AND u.via = 'node'
    AND ((u.mode IN ('killed', 'lost') OR u.state = 'not_ready') OR u.exit_code IN (137, 143) OR u.reason IN ('ContainerStatusUnknown', 'Unknown')
      -- Docker calls it so of what ran when its machine went down, at the time at which it is up again.
      OR u.signal = 'kernel.panic' AND u.exit_code = 255 AND b.time > u.time)
    -- What a kubelet said why it ended before the machine panicked had ended of that.
    AND NOT (u.reason = 'OOMKilled' AND u.lag_s < 0)
    AND u.lag_s BETWEEN -900 AND 600
)
SELECT u.death, u.fact AS cause, m.fact AS effect,
  CASE WHEN m.person AND NOT u.panics THEN 'guess' ELSE u.sure END AS edge, 'fault' AS role
FROM faults u
JOIN reactions m ON m.death = u.death AND m.fact <> u.fact AND m.time >= u.time - 5000000000
UNION ALL
SELECT u.death, u.fact AS cause, CAST(NULL AS BIGINT) AS effect, u.sure AS edge, 'fault' AS role
FROM faults u
