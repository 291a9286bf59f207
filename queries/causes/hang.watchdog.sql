-- cause: hang.watchdog
-- title: Terminated by a watchdog
-- rank: 2
-- level: hypothesis
-- needs: nvrx.hang, nccl.heartbeat_lost, unit.watchdog, sglang.watchdog, log.watchdog
-- summary: {pod} {was} terminated by a watchdog that had received no heartbeat: {message}
-- summary_of: sglang.watchdog: {pod} {was} terminated by its own watchdog, because a part of it made no progress: {message}
-- advice: Find the process that stalled first (one stalled rank stalls all others), and check the kernel log of its node.
--
-- A watcher says that a rank was silent and not why: it leads only where nothing else is known.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'guess' AS edge, 'act' AS role
FROM links
WHERE signal IN ('nvrx.hang', 'nccl.heartbeat_lost', 'unit.watchdog', 'sglang.watchdog') AND via = 'pod' AND state IN ('died', 'restarted', 'crash_loop') AND lag_s BETWEEN -5 AND 300
UNION ALL
-- One of the program's own: it ends it with a signal, after which no step is made.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'guess' AS edge, 'claim' AS role
FROM links
WHERE signal = 'log.watchdog' AND via = 'pod' AND same_container AND state IN ('died', 'restarted', 'crash_loop')
  AND exit_code IN (1, 124, 130, 134, 137, 143) AND lag_s BETWEEN -5 AND 120 AND steps_after IS NOT TRUE
