-- cause: code.version_mismatch
-- title: The image is incompatible with the driver, the GPU or the other ranks
-- rank: 54
-- level: established
-- needs: log.versions, k8s.container.cannot_run.versions
-- summary: The image of {pod} was built for different versions than it found at run time: {message}
-- advice: Use an image built for the driver's CUDA version, or have the driver updated; use the same image for all ranks.
--
-- A driver that does not fit its own library is the node's (node.driver).
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'asserted' AS edge, 'claim' AS role
FROM links
WHERE signal = 'k8s.container.cannot_run.versions' AND via = 'pod' AND state IN ('died', 'restarted', 'crash_loop', 'stuck_starting')
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'fault' AS role
FROM links
WHERE signal = 'log.versions' AND via = 'pod' AND same_container AND mode = 'exited'
  AND COALESCE(exit_code, 1) NOT IN (0, 137, 143) AND lag_s BETWEEN -5 AND 120
