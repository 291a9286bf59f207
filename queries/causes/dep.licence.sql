-- cause: dep.licence
-- title: No licence was available
-- rank: 13
-- level: supported
-- needs: log.no_licence, slurm.waiting.licence
-- summary: {pod} could not obtain a licence: {message}
-- summary_of: slurm.waiting.licence: {pod} is waiting for licences that other jobs use.
-- advice: Check the licence server: who holds the licences, when they expire, and whether the pod can reach the server.
-- advice_of: slurm.waiting.licence: See who holds the licences (scontrol show lic, squeue); wait, or request fewer.
--
-- A program that waits for a licence and gets it says the same; the one that ended on it is told here.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'claim' AS role
FROM links
WHERE signal = 'log.no_licence' AND via = 'pod' AND same_container AND (mode = 'exited' OR state = 'failing')
  AND COALESCE(exit_code, 1) NOT IN (0, 137, 143) AND lag_s BETWEEN -5 AND 60
UNION ALL
-- Slurm says so itself, of a job that waits.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'asserted' AS edge, 'state' AS role
FROM links
WHERE signal = 'slurm.waiting.licence' AND via = 'pod' AND state = 'never_scheduled'
