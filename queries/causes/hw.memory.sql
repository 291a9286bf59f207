-- cause: hw.memory
-- title: Host memory failed
-- rank: 76
-- level: supported
-- needs: k8s.node.memory_error, kernel.memory_error
-- alone: kernel.memory_error
-- overturned_by: metrics: what was measured on the machine
-- overturned_by: kernel: memory errors that the kernel logged
-- summary: The memory of {node} failed while {pod} {was} on it: {message}
-- advice: Drain the node, and replace the memory module that the BMC names.
--
-- Where the kernel names the process that had its data in the bad page, that one gets a SIGBUS, and others go on.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect,
  CASE WHEN detail IS NOT NULL AND mode = 'lost' THEN 'guess' ELSE 'inferred' END AS edge, 'fault' AS role
FROM links
WHERE signal IN ('k8s.node.memory_error', 'kernel.memory_error') AND via IN ('node', 'pod')
  AND (mode = 'lost' OR COALESCE(exit_code, 1) <> 0 OR mode = 'killed') AND COALESCE(reason, '') <> 'OOMKilled' AND state IN ('died', 'restarted', 'crash_loop')
  -- What somebody asked to end, for a reason of theirs, did not end of it.
  AND (mode <> 'killed' OR death NOT IN (SELECT death FROM reactions WHERE person))
  AND lag_s BETWEEN -120 AND 900
  AND (detail IS NULL OR mode = 'lost' OR COALESCE(exit_code, 135) = 135)
  AND death NOT IN (SELECT death FROM own_reason)
UNION ALL
SELECT u.death, u.fact AS cause, m.fact AS effect,
  CASE WHEN m.person OR u.detail IS NOT NULL THEN 'guess' ELSE 'inferred' END AS edge, 'fault' AS role
FROM links u
JOIN reactions m ON m.death = u.death AND m.fact <> u.fact AND m.time >= u.time - 5000000000
WHERE u.signal IN ('k8s.node.memory_error', 'kernel.memory_error') AND u.via IN ('node', 'pod') AND u.lag_s BETWEEN -120 AND 900
UNION ALL
-- The kernel panics of what its hardware reports.
SELECT u.death, u.fact AS cause, k.fact AS effect, 'inferred' AS edge, 'fault' AS role
FROM links u
JOIN links k ON k.death = u.death AND k.via = 'node' AND k.signal IN ('kernel.panic', 'kernel.oops') AND k.fact <> u.fact
  AND k.time BETWEEN u.time - 5000000000 AND u.time + 120000000000
WHERE u.signal IN ('k8s.node.memory_error', 'kernel.memory_error') AND u.via = 'node' AND u.lag_s BETWEEN -120 AND 900
