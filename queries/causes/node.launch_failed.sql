-- cause: node.launch_failed
-- title: The node could not launch the job
-- rank: 59
-- level: supported
-- needs: slurm.launch_failed, slurm.task_launch_failed
-- summary_of: slurm.task_launch_failed: The tasks of {pod} could not be started on one of its nodes: {message}
-- advice_of: slurm.task_launch_failed: Read slurmd's log of that node, and check the network between it and the node that srun ran on.
-- summary: {pod} could not be launched because preparing the node for the job failed. {message}
-- advice: Read slurmd's log of the node that was drained, and what its prolog wrote; release the job (scontrol release) once the node is repaired.
--
-- Slurm runs a prolog on each node before a job's first task. Where it fails, the node is drained and the job put back
-- or held: the job has done nothing wrong, and has not run.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'fault' AS role
FROM links
WHERE signal = 'slurm.launch_failed' AND via = 'pod'
  AND (state = 'never_scheduled' OR state IN ('died', 'restarted') AND lag_s BETWEEN -60 AND 60)
UNION ALL
-- srun names the node that did not answer it, and gives up.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'claim' AS role
FROM links
WHERE signal = 'slurm.task_launch_failed' AND via = 'pod' AND state IN ('died', 'restarted') AND mode = 'exited'
  AND lag_s BETWEEN -5 AND 300
