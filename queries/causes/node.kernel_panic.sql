-- cause: node.kernel_panic
-- title: The node's kernel crashed or reported a fault
-- rank: 80
-- level: supported
-- needs: k8s.node.kernel, kernel.panic, kernel.oops, kernel.lockup
-- alone: kernel.panic
-- summary: The kernel of {node} reported a fault: {message}
-- advice: Take the node out of the pool; its kernel log has the trace.
SELECT u.death, u.fact AS cause, m.fact AS effect, 'inferred' AS edge, 'fault' AS role
FROM links u
JOIN mechanisms m ON m.death = u.death AND m.fact <> u.fact AND m.time >= u.time - 5000000000
WHERE u.signal IN ('k8s.node.kernel', 'kernel.panic', 'kernel.oops', 'kernel.lockup') AND u.via = 'node' AND ((u.mode IN ('killed', 'lost') OR u.state = 'not_ready') OR u.exit_code IN (137, 143) OR u.reason IN ('ContainerStatusUnknown', 'Unknown'))
  AND u.lag_s BETWEEN -900 AND 600
UNION ALL
SELECT u.death, u.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'fault' AS role
FROM links u
WHERE u.signal IN ('k8s.node.kernel', 'kernel.panic', 'kernel.oops', 'kernel.lockup') AND u.via = 'node' AND ((u.mode IN ('killed', 'lost') OR u.state = 'not_ready') OR u.exit_code IN (137, 143) OR u.reason IN ('ContainerStatusUnknown', 'Unknown'))
  AND u.lag_s BETWEEN -900 AND 600
