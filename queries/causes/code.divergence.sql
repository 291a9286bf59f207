-- cause: code.divergence
-- title: The training diverged
-- rank: 10
-- level: supported
-- needs: log.nan_loss, log.nan_stop, log.loss_diverged
-- summary_of: log.nan_stop: {pod} stopped because its loss or a gradient was no longer a number: {message}
-- summary_of: log.loss_diverged: {pod} stopped because its loss had grown: {message}
-- summary: {pod} logged a NaN or infinite loss before it ended: {message}
-- advice: Check the learning rate, mixed precision settings and the data of the last steps.
--
-- A loss that is no number is a symptom of many things; a program that stopped itself for it says so.
SELECT n.death, n.fact AS cause, CAST(NULL AS BIGINT) AS effect,
  CASE WHEN t.fact IS NULL AND n.signal <> 'log.nan_stop' THEN 'guess' ELSE 'inferred' END AS edge, 'fault' AS role
FROM links n
LEFT JOIN (SELECT DISTINCT death, record, 1 AS fact FROM links
           WHERE signal IN ('log.traceback', 'log.exception.line', 'log.exception.stack')) t ON t.death = n.death AND t.record = n.record
WHERE n.signal IN ('log.nan_loss', 'log.nan_stop', 'log.loss_diverged') AND n.via = 'pod' AND n.same_container AND n.mode = 'exited' AND COALESCE(n.exit_code, 1) <> 0 AND n.lag_s BETWEEN -5 AND 900
