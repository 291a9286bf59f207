-- Deaths of members of gangs that waited for other members, which were refused, until they gave up; a guess where no
-- record shows that they gave up. No member was created after that, and fewer ended than the run asks for (unknown for
-- a JobSet that was not seen): the refused members were not admitted later.
SELECT q.death, q.fact, q.signal, CASE WHEN r.death IS NULL THEN 'guess' ELSE 'inferred' END AS edge
FROM links q
LEFT JOIN (SELECT DISTINCT death FROM links WHERE signal = 'rendezvous.error' AND via = 'pod' AND same_container AND lag_s BETWEEN -5 AND 300) r
  ON r.death = q.death
JOIN (SELECT run, attempt, COUNT(DISTINCT pod) AS members, MAX(created) AS last_made FROM deaths GROUP BY run, attempt) g
  ON g.run = q.run AND g.attempt = q.attempt AND g.last_made < q.time + 3000000000
WHERE q.signal IN ('k8s.quota.exceeded', 'k8s.workload.create_failed.control_plane')
  AND q.via = 'workload' AND q.mode = 'exited' AND COALESCE(q.exit_code, 1) NOT IN (0, 137, 143) AND q.lag_s > 0
  AND (g.members < q.desired OR q.desired IS NULL AND q.root_kind = 'JobSet')
