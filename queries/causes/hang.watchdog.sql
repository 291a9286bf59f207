-- cause: hang.watchdog
-- title: A watcher found it hanging and ended it
-- rank: 2
-- level: hypothesis
-- needs: nvrx.hang
-- summary: {pod} was ended by its watcher, which had heard nothing from it: {message}
-- advice: All ranks fall silent when one does: look for the rank that was silent first, and for its node's kernel log.
--
-- A watcher says that a rank was silent and not why: it leads only where nothing else is known.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'guess' AS edge, 'act' AS role
FROM ties
WHERE signal = 'nvrx.hang' AND via = 'pod' AND state IN ('died', 'restarted', 'crash_loop') AND lag_s BETWEEN -5 AND 300
