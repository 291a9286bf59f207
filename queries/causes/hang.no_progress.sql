-- cause: hang.no_progress
-- title: No progress was made
-- rank: 1
-- level: hypothesis
-- needs: log.checkpoint_saving, log.silent, log.no_progress, log.unheard, log.restart_loop, kernel.task_hung
-- summary: {workload} is running but makes no progress; {pod} {was} the first to stop. The reason is not known.
-- summary_of: log.restart_loop: {workload} makes no progress: {detail}.
-- summary_of: log.checkpoint_saving: {workload} is running but makes no progress since it began to save a checkpoint, of which no end is logged: {message}
-- advice_of: log.checkpoint_saving: Check whether the storage of the checkpoint responds (df, and the kernel log of {node} for its file server), and what the rank waits for (py-spy dump --pid 1).
-- advice_of: log.restart_loop: Find out what ends it each time before its next checkpoint: read the last lines before each start, on all ranks. Save checkpoints more often.
-- advice: Dump the stacks of a waiting rank (py-spy dump --pid 1) and of {pod} to see what they are waiting for, and in which collective.
-- advice: Set TORCH_NCCL_TRACE_BUFFER_SIZE and TORCH_NCCL_DUMP_ON_TIMEOUT, so that the next hang shows which rank was missing.
--
-- A hang is a symptom: it leads only where nothing else is known.
-- One that began to save a checkpoint, and neither made a step nor said that it had saved it since, hangs in that.
WITH saving AS (
  SELECT s.death, MAX(s.time) AS time
  FROM links s
  LEFT JOIN links e ON e.death = s.death AND e.via = 'pod' AND e.time >= s.time
    AND e.signal IN ('log.checkpoint_saved', 'log.checkpoint_failed', 'log.progress', 'log.traceback')
    AND (e.signal <> 'log.progress' OR e.time > s.time)
  WHERE s.signal = 'log.checkpoint_saving' AND s.via = 'pod' AND s.state = 'stalled' AND s.steps_after IS NOT TRUE AND e.fact IS NULL
  GROUP BY s.death
)
SELECT s.death, s.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'guess' AS edge, 'state' AS role
FROM links s
JOIN saving a ON a.death = s.death AND a.time = s.time
WHERE s.signal = 'log.checkpoint_saving' AND s.via = 'pod'
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'guess' AS edge, 'state' AS role
FROM links
WHERE death NOT IN (SELECT death FROM saving) AND signal IN ('log.silent', 'log.no_progress', 'log.unheard', 'log.restart_loop') AND state = 'stalled' AND via IN ('pod', 'workload')
UNION ALL
-- A process of the machine that waits in the kernel, told two minutes into the wait, is part of the story; whose it is, is not known.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'context' AS edge, 'state' AS role
FROM links
WHERE signal = 'kernel.task_hung' AND state = 'stalled' AND via = 'node' AND lag_s BETWEEN -900 AND 120
