-- cause: code.cuda_oom
-- title: Out of GPU memory
-- rank: 16
-- level: supported
-- needs: log.cuda_oom
-- summary: {pod} ran out of GPU memory: {message}
-- advice: Lower the batch size or sequence length, or shard the model further.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'fault' AS role
FROM links
WHERE signal = 'log.cuda_oom' AND via = 'pod' AND same_container AND (mode = 'exited' OR state = 'failing')
  AND COALESCE(exit_code, 1) NOT IN (0, 137, 143) AND lag_s BETWEEN -5 AND 120
