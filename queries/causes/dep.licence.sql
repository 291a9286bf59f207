-- cause: dep.licence
-- title: It got no licence
-- rank: 13
-- level: supported
-- needs: log.no_licence
-- summary: {pod} got no licence: {message}
-- advice: Look at the licence server: who holds the licences, until when they are valid, and whether the pod can reach it.
--
-- A program that waits for a licence and gets it says the same; the one that ended on it is told here.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'claim' AS role
FROM ties
WHERE signal = 'log.no_licence' AND via = 'pod' AND same_container AND (mode = 'exited' OR state = 'failing')
  AND COALESCE(exit_code, 1) NOT IN (0, 137, 143) AND lag_s BETWEEN -5 AND 60
