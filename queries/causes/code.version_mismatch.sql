-- cause: code.version_mismatch
-- title: Its image does not fit the driver, the GPU or the other ranks
-- rank: 54
-- level: established
-- needs: log.versions, k8s.container.cannot_run.versions
-- summary: {pod} was built for other versions than it found: {message}
-- advice: Use an image for the CUDA version of the driver, or have the driver updated; use one image for all ranks.
--
-- A driver that does not fit its own library is the node's (node.driver).
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'asserted' AS edge, 'claim' AS role
FROM ties
WHERE signal = 'k8s.container.cannot_run.versions' AND via = 'pod' AND state IN ('died', 'restarted', 'crash_loop', 'stuck_starting')
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'fault' AS role
FROM ties
WHERE signal = 'log.versions' AND via = 'pod' AND same_container AND mode = 'exited'
  AND COALESCE(exit_code, 1) NOT IN (0, 137, 143) AND lag_s BETWEEN -5 AND 120
