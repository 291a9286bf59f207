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
-- A machine that goes on for a minute after a GPU's memory failed did not fall silent of that, which is found 40 s after its last
-- word at the earliest.
WITH other_error AS (
  SELECT death FROM links
  WHERE via = 'pod' AND same_container AND lag_s BETWEEN -5 AND 60 AND signal LIKE 'log.cuda_error.%'
  GROUP BY death HAVING bool_and(signal LIKE 'log.cuda_error.address%' OR signal = 'log.cuda_error.program')
),
faults AS (
  SELECT u.*, COALESCE(u.mode = 'lost' AND q.time - u.time > 120000000000, false) AS is_past,
    u.via = 'node' AND o.death IS NOT NULL AS is_another
  FROM links u
  LEFT JOIN fell_silent q ON q.death = u.death
  LEFT JOIN other_error o ON o.death = u.death
  WHERE u.signal = 'gpu.memory_error' AND u.via IN ('node', 'pod')
)
-- A program on a GPU whose memory failed is told so by CUDA. Of one that is told of a bad address and nothing else, the other GPU was
-- as likely somebody else's.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect,
  CASE WHEN is_past OR is_another THEN 'guess' ELSE 'inferred' END AS edge, 'fault' AS role
FROM faults
WHERE (mode = 'lost' OR COALESCE(exit_code, 1) <> 0 OR mode = 'killed')
  -- What somebody asked to end, for a reason of theirs, did not end of it.
  AND (mode <> 'killed' OR death NOT IN (SELECT death FROM reactions WHERE person))
  -- Whoever had no GPU lost none, and whoever was over its memory limit was killed for that. Other accelerators are asked for by other
  -- names: of what its own log says a pod had one.
  AND (COALESCE(gpus, 1) > 0 OR via = 'pod') AND COALESCE(reason, '') <> 'OOMKilled'
  AND (state IN ('died', 'restarted', 'crash_loop') AND lag_s BETWEEN -120 AND 900
       OR state = 'lingering' AND lag_s BETWEEN 0 AND 7200)
  AND death NOT IN (SELECT death FROM own_reason)
UNION ALL
SELECT u.death, u.fact AS cause, m.fact AS effect,
  CASE WHEN m.person OR u.is_past AND m.signal NOT LIKE 'k8s.node.cordoned%' AND m.signal NOT LIKE '%_by_remediator' THEN 'guess' ELSE 'inferred' END AS edge,
  'fault' AS role
FROM faults u
JOIN reactions m ON m.death = u.death AND m.fact <> u.fact AND m.time >= u.time - 5000000000
WHERE u.lag_s BETWEEN -120 AND 900
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'state' AS role
FROM stuck_in_driver
WHERE signal = 'gpu.memory_error'
