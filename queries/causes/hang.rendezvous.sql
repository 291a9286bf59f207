-- cause: hang.rendezvous
-- title: Rendezvous failed: the ranks did not find each other
-- rank: 2
-- level: hypothesis
-- needs: rendezvous.error, torchft.waiting
-- summary: {pod} timed out waiting for the other ranks, or lost the connection to the rendezvous store: {message}
-- summary_of: torchft.waiting: {workload} is waiting for replica groups that have not joined: {message}
-- advice_of: torchft.waiting: Check the replica groups that are missing: whether they are running, and whether they can reach the lighthouse.
-- advice: Check rank 0 first: whether it was running, its host name and port, and whether all ranks were started.
--
-- Who waited is not who was missing: it leads only where nothing else is known.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'guess' AS edge, 'fault' AS role
FROM links
WHERE signal = 'rendezvous.error' AND via = 'pod' AND same_container AND mode = 'exited'
  AND COALESCE(exit_code, 1) NOT IN (0, 137, 143) AND lag_s BETWEEN -5 AND 300
  -- Who misses a rank that somebody killed loses its store as well.
  AND death NOT IN (SELECT death FROM killed_first)
UNION ALL
-- TorchFT's lighthouse says of how many replica groups it has heard: who is missing it does not know.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'guess' AS edge, 'state' AS role
FROM links
WHERE signal = 'torchft.waiting' AND via = 'pod'
  AND (state = 'stalled' AND lag_s <= 0
    OR mode = 'exited' AND same_container AND COALESCE(exit_code, 1) NOT IN (0, 137, 143) AND lag_s BETWEEN -5 AND 300)
