-- cause: code.version_mismatch
-- title: The image is incompatible with the driver, the GPU or the other ranks
-- rank: 54
-- level: established
-- needs: log.versions, k8s.container.cannot_run.versions
-- summary: {pod} {was} built for different versions than it found at run time: {message}
-- advice: Use an image or environment built for the driver's CUDA version, or have the driver updated; use the same image for all ranks.
--
-- A driver that does not fit its own library is the node's (node.driver).
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'asserted' AS edge, 'claim' AS role
FROM links
WHERE signal = 'k8s.container.cannot_run.versions' AND via = 'pod' AND state IN ('died', 'restarted', 'crash_loop', 'stuck_starting')
UNION ALL
-- A driver that does not fit its own library fits no program.
SELECT v.death, v.fact AS cause, CAST(NULL AS BIGINT) AS effect,
  CASE WHEN d.death IS NULL AND t.death IS NULL THEN 'inferred' ELSE 'guess' END AS edge, 'fault' AS role
FROM links v
-- A warning, after which the program went on, until another exception ended it or somebody did; what CUDA raises is a RuntimeError.
LEFT JOIN (SELECT death, MAX(time) AS time, MAX(record) AS record FROM links
           WHERE signal = 'log.traceback' AND via = 'pod' AND COALESCE(detail, '') NOT IN ('', 'RuntimeError', 'AssertionError', 'ImportError', 'OSError')
           GROUP BY death) t
  ON t.death = v.death AND t.record <> v.record AND t.time >= v.time
LEFT JOIN (SELECT DISTINCT death FROM links
           WHERE signal = 'gpu.driver_error' AND via IN ('pod', 'node') AND lag_s BETWEEN -60 AND 900) d ON d.death = v.death
WHERE v.signal = 'log.versions' AND v.via = 'pod' AND v.same_container AND v.mode = 'exited'
  AND COALESCE(v.exit_code, 1) NOT IN (0, 137, 143) AND v.lag_s BETWEEN -5 AND 120
