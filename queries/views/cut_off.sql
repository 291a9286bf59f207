-- Members that another member of their gang lost contact with and that logged no error themselves, each with the time
-- of the first such complaint. What happened to them just before is what the other member observed.
SELECT g.death, MIN(g.time) AS time
FROM links g
LEFT JOIN (SELECT DISTINCT death FROM links
           WHERE via = 'pod' AND signal IN ('gloo.error', 'jax.peer_died', 'mpi.process_died', 'nccl.peer_lost', 'nccl.timeout', 'ucx.error')) own
  ON own.death = g.death
WHERE g.via = 'gang' AND g.signal IN ('gloo.error', 'jax.peer_died', 'mpi.process_died', 'nccl.peer_lost', 'ucx.error')
  AND g.mode IN ('killed', 'exited') AND own.death IS NULL
GROUP BY g.death
