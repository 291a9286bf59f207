-- cause: hang.watchdog
-- title: A watchdog found it hanging and terminated it
-- rank: 2
-- level: hypothesis
-- needs: nvrx.hang, nccl.heartbeat_lost, unit.watchdog, sglang.watchdog
-- summary: {pod} was terminated by its watchdog, which had received no heartbeat from it: {message}
-- summary_of: sglang.watchdog: {pod} was ended by a watchdog of its own, since a part of it made no progress: {message}
-- advice: When one rank stalls, all of them do: find the rank that stalled first, and check its node's kernel log.
--
-- A watcher says that a rank was silent and not why: it leads only where nothing else is known.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'guess' AS edge, 'act' AS role
FROM links
WHERE signal IN ('nvrx.hang', 'nccl.heartbeat_lost', 'unit.watchdog', 'sglang.watchdog') AND via = 'pod' AND state IN ('died', 'restarted', 'crash_loop') AND lag_s BETWEEN -5 AND 300
