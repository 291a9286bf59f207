-- Members that a gang missed while they waited in a driver call. Such a member logs nothing, keeps the others waiting
-- until they time out, and is stopped with the rest. What happened to its machine in that time is the reason it was
-- missing.
SELECT DISTINCT k.death, k.fact, k.signal
FROM links k
JOIN missed g ON g.death = k.death AND g.time - k.time BETWEEN 60000000000 AND 7200000000000
WHERE k.via = 'node' AND k.mode IN ('exited', 'killed') AND COALESCE(k.exit_code, 137) <> 0
  AND k.steps_after IS NOT TRUE
  -- It was there until the others had given up.
  AND k.time + k.lag_s * 1e9 >= g.time - 5e9
  AND COALESCE(k.reason, '') <> 'OOMKilled' AND k.death NOT IN (SELECT death FROM own_reason)
