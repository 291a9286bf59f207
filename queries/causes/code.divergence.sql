-- cause: code.divergence
-- title: The training diverged
-- rank: 10
-- level: hypothesis
-- needs: log.nan_loss
-- summary: {pod} logged a loss that is not a number before it ended: {message}
-- advice: Look at learning rate, mixed precision and the data of the last steps.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'guess' AS edge, 'fault' AS role
FROM ties
WHERE signal = 'log.nan_loss' AND via = 'pod' AND same_container AND mode = 'exited' AND COALESCE(exit_code, 1) <> 0 AND lag_s BETWEEN -5 AND 900
