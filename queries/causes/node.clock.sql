-- cause: node.clock
-- title: A clock was wrong
-- rank: 51
-- level: supported
-- needs: log.clock_skew, slurm.credential_refused, node.clock_wrong
-- summary_of: slurm.credential_refused: {pod} could not be launched, because the clock of {node} differs from that of Slurm's controller: {message}
-- summary: {pod} {was} refused because of a clock error: the clock of {node}, or of the server that it contacted, is wrong. {message}
-- advice: Compare the machine's clock with another machine's (chronyc tracking, timedatectl), and check its time synchronization.
--
-- Who refuses a signature or a certificate for its time may have the wrong clock itself; the machine's own time keeper
-- is the witness that tells.
WITH refused AS (
  SELECT death, fact, time FROM links
  WHERE signal = 'log.clock_skew' AND via = 'pod' AND same_container AND (mode = 'exited' OR state = 'failing')
    AND COALESCE(exit_code, 1) NOT IN (0, 137, 143) AND lag_s BETWEEN -5 AND 120
)
SELECT r.death, r.fact AS cause, CAST(NULL AS BIGINT) AS effect,
  CASE WHEN w.death IS NULL THEN 'guess' ELSE 'inferred' END AS edge, 'claim' AS role
FROM refused r
LEFT JOIN (SELECT DISTINCT death FROM links
           WHERE signal = 'node.clock_wrong' AND via = 'node' AND lag_s BETWEEN -3600 AND 86400) w ON w.death = r.death
UNION ALL
SELECT w.death, w.fact AS cause, r.fact AS effect, 'inferred' AS edge, 'fault' AS role
FROM links w
JOIN refused r ON r.death = w.death
WHERE w.signal = 'node.clock_wrong' AND w.via = 'node' AND w.lag_s BETWEEN 0 AND 86400
UNION ALL
-- Slurm takes no message that was signed at a time which is none by its own clock: neither what it sends to that node nor
-- what it hears from it.
SELECT w.death, w.fact AS cause, l.fact AS effect, 'inferred' AS edge, 'fault' AS role
FROM links w
JOIN links l ON l.death = w.death AND l.via = 'pod' AND l.signal IN ('slurm.task_launch_failed', 'slurm.launch_failed')
  AND regexp_like(COALESCE(l.detail, ''), '(?i)credential|authentication')
WHERE (w.signal = 'slurm.credential_refused' OR w.signal = 'node.clock_wrong' AND w.detail = 'Rewound credential')
  AND w.via = 'node' AND w.lag_s BETWEEN -60 AND 86400
