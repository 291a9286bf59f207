-- cause: hang.no_progress
-- title: No progress was made
-- rank: 1
-- level: hypothesis
-- needs: log.silent, log.no_progress, log.unheard, log.restart_loop, kernel.task_hung
-- summary: {workload} is running but makes no progress; {pod} {was} the first to stop. The reason is not known.
-- summary_of: log.restart_loop: {workload} makes no progress: {detail}.
-- advice_of: log.restart_loop: Find out what ends it each time before its next checkpoint: read the last lines before each start, on all ranks. Save checkpoints more often.
-- advice: Dump the stacks of a waiting rank (py-spy dump --pid 1) and of {pod} to see what they are waiting for, and in which collective.
-- advice: Set TORCH_NCCL_TRACE_BUFFER_SIZE and TORCH_NCCL_DUMP_ON_TIMEOUT, so that the next hang shows which rank was missing.
--
-- A hang is a symptom: it leads only where nothing else is known.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'guess' AS edge, 'state' AS role
FROM links
WHERE signal IN ('log.silent', 'log.no_progress', 'log.unheard', 'log.restart_loop') AND state = 'stalled' AND via IN ('pod', 'workload')
UNION ALL
-- A process of the machine that waits in the kernel, told two minutes into the wait, is part of the story; whose it is, is not known.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'context' AS edge, 'state' AS role
FROM links
WHERE signal = 'kernel.task_hung' AND state = 'stalled' AND via = 'node' AND lag_s BETWEEN -900 AND 120
