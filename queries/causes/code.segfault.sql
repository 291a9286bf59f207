-- cause: code.segfault
-- title: Its process crashed on a signal
-- rank: 9
-- level: supported
-- needs: k8s.container.segfault, k8s.container.bus_error, k8s.container.aborted
-- summary: {pod} crashed with exit code {exit_code}.
-- advice: Look for a core dump and the last lines of that rank; native extensions and shared memory (/dev/shm) are the usual places.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'claim' AS role
FROM ties
WHERE signal IN ('k8s.container.segfault', 'k8s.container.bus_error')
  AND via = 'pod' AND same_container AND mode = 'exited' AND lag_s BETWEEN -1 AND 1
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'guess' AS edge, 'claim' AS role
FROM ties
WHERE signal = 'k8s.container.aborted' AND via = 'pod' AND same_container AND mode = 'exited' AND lag_s BETWEEN -1 AND 1
