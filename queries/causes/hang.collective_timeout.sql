-- cause: hang.collective_timeout
-- title: A collective operation timed out
-- rank: 1
-- level: hypothesis
-- needs: nccl.timeout
-- summary: {pod} waited for another rank until its collective operation timed out; it is not known why that rank did not join.
-- advice: Find the rank that did not log the timeout: the cause is in that rank, its node or its network.
--
-- A timeout is a symptom: it leads only where nothing else is known.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'guess' AS edge, 'fault' AS role
FROM links
WHERE signal = 'nccl.timeout' AND via = 'pod' AND state IN ('died', 'restarted', 'crash_loop')
  AND lag_s BETWEEN -60 AND 900
