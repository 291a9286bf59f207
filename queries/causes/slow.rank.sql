-- cause: slow.rank
-- title: One rank is slower than the others
-- rank: 2
-- level: supported
-- needs: log.rank_slow, log.rank_behind
-- overturned_by: metrics: clock, power and link rates of each machine
-- summary: {pod} on {node} is slower than the others: {detail}. Why it is slower is not known.
-- advice: Look at what else differs on {node} (clocks, power, PCIe and network links, storage), and move the rank to another machine: what stays slow there has another share of the work.
--
-- What a rank says of its own work tells that the others wait for it, and not why. A rank that makes steps by itself may
-- have another share of the work than the others, and keeps nobody waiting: that is a guess.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect,
  CASE WHEN signal = 'log.rank_slow' THEN 'inferred' ELSE 'guess' END AS edge, 'state' AS role
FROM links
WHERE signal IN ('log.rank_slow', 'log.rank_behind') AND state = 'slow' AND via = 'pod'
