-- cause: code.divergence
-- title: The training diverged
-- rank: 10
-- level: supported
-- needs: log.nan_loss, log.loss_diverged
-- summary: {pod} logged a loss that is not a number before it ended: {message}
-- advice: Look at learning rate, mixed precision and the data of the last steps.
-- That the loss was no number some time before says little: it may recover, and mixed precision skips steps. Where the
-- exception that ended the program is about it, or the program stopped for it, the program says so itself.
SELECT n.death, n.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'fault' AS role
FROM ties n
JOIN (SELECT DISTINCT death, time FROM ties WHERE via = 'pod' AND signal = 'log.traceback') t ON t.death = n.death AND t.time = n.time
WHERE n.signal = 'log.nan_loss' AND n.via = 'pod' AND n.same_container AND n.mode = 'exited'
  AND COALESCE(n.exit_code, 1) NOT IN (0, 137, 143) AND n.lag_s BETWEEN -5 AND 60
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'fault' AS role
FROM ties
WHERE signal = 'log.loss_diverged' AND via = 'pod' AND same_container AND mode = 'exited'
  AND COALESCE(exit_code, 1) NOT IN (0, 137, 143) AND lag_s BETWEEN -5 AND 60
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'guess' AS edge, 'fault' AS role
FROM ties
WHERE signal = 'log.nan_loss' AND via = 'pod' AND same_container AND mode = 'exited' AND COALESCE(exit_code, 1) <> 0 AND lag_s BETWEEN -5 AND 900
