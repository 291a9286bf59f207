-- cause: hang.rendezvous
-- title: Rendezvous failed: the ranks did not find each other
-- rank: 2
-- level: hypothesis
-- needs: rendezvous.error
-- summary: {pod} timed out waiting for the other ranks, or lost the connection to the rendezvous store: {message}
-- advice: Check rank 0 first: whether it was running, its host name and port, and whether all ranks were started.
--
-- Who waited is not who was missing: it leads only where nothing else is known.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'guess' AS edge, 'fault' AS role
FROM links
WHERE signal = 'rendezvous.error' AND via = 'pod' AND same_container AND mode = 'exited'
  AND COALESCE(exit_code, 1) NOT IN (0, 137, 143) AND lag_s BETWEEN -5 AND 300
