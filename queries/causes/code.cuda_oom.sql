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
UNION ALL
-- Its process took its time to end after that: the others lost touch with it at once. Where nobody was there to do so, it may have
-- gone on for all that is known.
SELECT t.death, t.fact AS cause, CAST(NULL AS BIGINT) AS effect, CASE WHEN c.death IS NULL THEN 'guess' ELSE 'inferred' END AS edge, 'fault' AS role
FROM links t
LEFT JOIN cut_off c ON c.death = t.death AND c.time - t.time BETWEEN -5000000000 AND 60000000000
WHERE t.signal = 'log.cuda_oom' AND t.via = 'pod' AND t.same_container AND t.state = 'died' AND t.mode = 'exited'
  AND t.exit_code BETWEEN 1 AND 125 AND t.lag_s BETWEEN 60 AND 900 AND t.steps_after IS FALSE
