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
-- The watchdog of a collective aborts its process too, which is no crash.
SELECT a.death, a.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'guess' AS edge, 'claim' AS role
FROM ties a
LEFT JOIN ties w ON w.death = a.death AND w.via = 'pod' AND w.signal = 'nccl.timeout'
WHERE a.signal = 'k8s.container.aborted' AND a.via = 'pod' AND a.same_container AND a.mode = 'exited'
  AND a.lag_s BETWEEN -1 AND 1 AND w.fact IS NULL
