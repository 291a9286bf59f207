-- cause: hw.gpu_memory
-- title: GPU memory failed
-- rank: 83
-- level: supported
-- needs: gpu.memory_error
-- alone: gpu.memory_error
-- overturned_by: metrics: what DCGM measured
-- overturned_by: kernel: the Xid line
-- summary: The memory of a GPU in {node} failed while {pod} {was} on it: {message}
-- advice: Drain the node, and reset the GPU, which row remapping needs; replace the GPU if the errors come back.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'fault' AS role
FROM links
WHERE signal IN ('gpu.memory_error') AND via IN ('node', 'pod')
  AND (mode = 'lost' OR COALESCE(exit_code, 1) <> 0 OR mode = 'killed')
  -- Whoever had no GPU lost none, and whoever was over its memory limit was killed for that.
  AND COALESCE(gpus, 1) > 0 AND COALESCE(reason, '') <> 'OOMKilled'
  AND (state IN ('died', 'restarted', 'crash_loop') AND lag_s BETWEEN -120 AND 900
       OR state = 'lingering' AND lag_s BETWEEN 0 AND 7200)
  AND death NOT IN (SELECT death FROM own_reason)
UNION ALL
SELECT u.death, u.fact AS cause, m.fact AS effect,
  CASE WHEN m.person THEN 'guess' ELSE 'inferred' END AS edge, 'fault' AS role
FROM links u
JOIN reactions m ON m.death = u.death AND m.fact <> u.fact AND m.time >= u.time - 5000000000
WHERE u.signal IN ('gpu.memory_error') AND u.via IN ('node', 'pod') AND u.lag_s BETWEEN -120 AND 900
UNION ALL
-- A rank that waits in the driver writes nothing, lets the others wait until their time is up, and is stopped with what
-- is left of them: what happened to its machine meanwhile is why it was missing.
SELECT DISTINCT k.death, k.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'state' AS role
FROM links k
JOIN missed g ON g.death = k.death AND g.time - k.time BETWEEN 60000000000 AND 7200000000000
WHERE k.signal IN ('gpu.memory_error') AND k.via = 'node' AND k.mode IN ('exited', 'killed') AND COALESCE(k.exit_code, 137) <> 0
  AND k.steps_after IS NOT TRUE
  -- It was there until the others had given up.
  AND k.time + k.lag_s * 1e9 >= g.time - 5e9
  AND COALESCE(k.reason, '') <> 'OOMKilled' AND k.death NOT IN (SELECT death FROM own_reason)
