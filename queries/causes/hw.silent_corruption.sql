-- cause: hw.silent_corruption
-- title: A GPU returned wrong results
-- rank: 20
-- level: supported
-- needs: log.wrong_result
-- summary: {pod} repeated a computation and got a different result: {message}
-- advice: Test the GPU named above (dcgmi diag -r 3) before the node is used again.
--
-- The same GPU wrong again and another one right is a witness; once and never again may as well be the program.
SELECT w.death, w.fact AS cause, CAST(NULL AS BIGINT) AS effect,
  CASE WHEN w.signal = 'log.wrong_result.persistent' THEN 'inferred' ELSE 'guess' END AS edge, 'fault' AS role
FROM links w
WHERE w.signal IN ('log.wrong_result', 'log.wrong_result.persistent') AND w.via = 'pod' AND w.same_container
  AND w.mode = 'exited' AND COALESCE(w.exit_code, 1) NOT IN (0, 137, 143) AND w.lag_s BETWEEN -5 AND 300
