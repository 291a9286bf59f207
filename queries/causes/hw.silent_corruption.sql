-- cause: hw.silent_corruption
-- title: A GPU calculated wrongly
-- rank: 20
-- level: supported
-- needs: log.wrong_result
-- summary: {pod} got another result when it calculated again: {message}
-- advice: Test the GPU named (dcgmi diag -r 3) before the node is used again.
--
-- The same GPU wrong again and another one right is a witness; once and never again may as well be the program.
SELECT w.death, w.fact AS cause, CAST(NULL AS BIGINT) AS effect,
  CASE WHEN w.signal = 'log.wrong_result.persistent' THEN 'inferred' ELSE 'guess' END AS edge, 'fault' AS role
FROM ties w
WHERE w.signal IN ('log.wrong_result', 'log.wrong_result.persistent') AND w.via = 'pod' AND w.same_container
  AND w.mode = 'exited' AND COALESCE(w.exit_code, 1) NOT IN (0, 137, 143) AND w.lag_s BETWEEN -5 AND 300
