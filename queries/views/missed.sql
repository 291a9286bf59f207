-- Members that others of their gang waited for in vain and that did not wait themselves, each with the time at which a
-- member gave up.
SELECT DISTINCT g.death, g.time
FROM links g
LEFT JOIN (SELECT DISTINCT death FROM links WHERE via = 'pod' AND signal = 'nccl.timeout') own ON own.death = g.death
WHERE g.via = 'gang' AND g.signal = 'nccl.timeout' AND own.death IS NULL
