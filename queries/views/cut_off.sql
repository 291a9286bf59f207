-- Members that another one of their gang lost touch with, and that did not complain themselves: each with the time at which a
-- member said so. What befell them just before is what the other one saw of it.
SELECT g.death, MIN(g.time) AS time
FROM links g
LEFT JOIN (SELECT DISTINCT death FROM links
           WHERE via = 'pod' AND signal IN ('gloo.error', 'jax.peer_died', 'mpi.process_died', 'nccl.peer_lost', 'nccl.timeout', 'ucx.error')) own
  ON own.death = g.death
WHERE g.via = 'gang' AND g.signal IN ('gloo.error', 'jax.peer_died', 'mpi.process_died', 'nccl.peer_lost', 'ucx.error')
  AND g.mode IN ('killed', 'exited') AND own.death IS NULL
GROUP BY g.death
