-- cause: hang.no_progress
-- title: No progress was made
-- rank: 1
-- level: hypothesis
-- needs: log.silent, log.no_progress, log.unheard
-- summary: {workload} is running but makes no progress; {pod} {was} the first to stop. The reason is not known.
-- advice: Dump the stacks of a waiting rank (py-spy dump --pid 1) and of {pod} to see what they are waiting for, and in which collective.
-- advice: Set TORCH_NCCL_TRACE_BUFFER_SIZE and TORCH_NCCL_DUMP_ON_TIMEOUT, so that the next hang shows which rank was missing.
--
-- A hang is a symptom: it leads only where nothing else is known.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'guess' AS edge, 'state' AS role
FROM links
WHERE signal IN ('log.silent', 'log.no_progress', 'log.unheard') AND state = 'stalled' AND via IN ('pod', 'workload')
