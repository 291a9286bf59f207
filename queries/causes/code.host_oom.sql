-- cause: code.host_oom
-- title: Out of memory: over its own limit
-- rank: 18
-- level: supported
-- needs: k8s.container.oom_killed, slurm.oom
-- overturned_by: prometheus: memory near the limit
-- overturned_by: kernel: which process the kernel killed
-- summary: {pod} {was} killed for using more memory than its limit.
-- advice: Raise the memory limit or use less host memory (data loader workers, pinned buffers, checkpoint staging).
--
-- OOMKilled is the claim of one component, so it is supported at most.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'asserted' AS edge, 'claim' AS role
FROM ties
WHERE signal = 'k8s.container.oom_killed' AND via = 'pod' AND same_container
  AND state IN ('died', 'restarted', 'crash_loop') AND lag_s BETWEEN -60 AND 60
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'context' AS edge, 'claim' AS role
FROM ties
WHERE signal = 'k8s.node.oom_kill' AND via = 'node' AND exit_code = 137 AND lag_s BETWEEN -60 AND 60
UNION ALL
-- A batch job over the memory that Slurm gave it; of a step's claim only where the job ended with it.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect,
  CASE WHEN reason = 'OUT_OF_MEMORY' THEN 'asserted' ELSE 'inferred' END AS edge, 'claim' AS role
FROM ties
WHERE signal = 'slurm.oom' AND via = 'pod' AND mode = 'exited' AND lag_s BETWEEN -60 AND 60
