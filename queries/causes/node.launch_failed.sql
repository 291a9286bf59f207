-- cause: node.launch_failed
-- title: The node could not launch the job
-- rank: 59
-- level: supported
-- needs: slurm.launch_failed, slurm.task_launch_failed, slurm.node.not_resumed, slurm.node.prolog_failed
-- summary_of: slurm.node.not_resumed: {node} was being started for {pod}, and did not come up in time: {message}
-- advice_of: slurm.node.not_resumed: Read the log of ResumeProgram on the controller, which holds the cloud's answer to the request for the machine (capacity, quota, image).
-- summary_of: cloud.instance_create_failed: {node} was to be started for {pod}, and the cloud did not create it: {message}
-- advice_of: cloud.instance_create_failed: Fix what the cloud's answer names, or submit the job to a partition with other machines.
-- summary_of: slurm.task_launch_failed: The tasks of {pod} could not be started on one of its nodes: {message}
-- advice_of: slurm.task_launch_failed: Read slurmd's log on that node, and check the network between it and the node on which srun ran.
-- summary_of: slurm.node.prolog_failed: {pod} could not be launched because preparing {node} for the job failed: {message}
-- summary: {pod} could not be launched because preparing the node for the job failed: {message}
-- advice: Read slurmd's log on the node that was drained, and the output of its prolog; release the job (scontrol release) once the node is repaired.
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
UNION ALL
-- A machine that was to be started for the job never answered: that it failed is Slurm's word for a job that waited for it.
SELECT u.death, u.fact AS cause, f.fact AS effect, 'inferred' AS edge, 'fault' AS role
FROM links u
LEFT JOIN links f ON f.death = u.death AND f.via = 'pod' AND f.signal = 'slurm.node_fail' AND f.lag_s BETWEEN -60 AND 60
WHERE u.signal = 'slurm.node.not_resumed' AND u.via = 'node' AND u.mode = 'lost' AND u.lag_s BETWEEN -60 AND 300
UNION ALL
-- The controller drains a node whose prolog failed, and puts the job that it had just given the node back at once.
SELECT p.death, p.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'fault' AS role
FROM links p
JOIN links r ON r.death = p.death AND r.via = 'pod' AND r.signal = 'slurm.requeued' AND r.time - p.time BETWEEN -1000000000 AND 5000000000
WHERE p.signal = 'slurm.node.prolog_failed' AND p.via = 'node' AND p.state IN ('died', 'restarted') AND p.lag_s BETWEEN -5 AND 5
UNION ALL
-- It names the node whose prolog failed in the moment in which it says that the job could not be launched.
SELECT p.death, p.fact AS cause, f.fact AS effect, 'inferred' AS edge, 'fault' AS role
FROM links p
JOIN links f ON f.death = p.death AND f.via = 'pod' AND f.signal = 'slurm.launch_failed' AND f.time - p.time BETWEEN -5000000000 AND 5000000000
WHERE p.signal = 'slurm.node.prolog_failed' AND p.via = 'node'
UNION ALL
-- What the cloud answered when it was asked for that machine is why it did not come up.
SELECT DISTINCT death, fact AS cause, effect, 'inferred' AS edge, 'fault' AS role
FROM not_made
WHERE signal = 'cloud.instance_create_failed'
