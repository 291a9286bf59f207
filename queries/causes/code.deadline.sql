-- cause: code.deadline
-- title: Deadline exceeded
-- title_of: slurm.signalled.usr1, slurm.signalled.usr2: A signal to the job was not handled
-- rank: 55
-- level: supported
-- needs: k8s.workload.deadline, k8s.pod.deadline, k8s.container.deadline, k8s.container.timed_out, kueue.evicted.deadline
-- needs: slurm.deadline, slurm.time_limit, slurm.time_nearly_up, slurm.signalled.usr1, slurm.signalled.usr2, unit.timed_out, batch.time_limit.pbs, batch.time_limit.lsf
-- summary: {workload} exceeded its deadline and was stopped.
-- summary_of: k8s.container.timed_out: {pod} ended with exit code 124, as `timeout` does when the time of the command that it runs is up.
-- advice_of: k8s.container.timed_out: Look for `timeout` in the command of {pod}, and raise its limit, or save a checkpoint before it.
-- summary_of: slurm.deadline: {pod} {was} removed because it could not end before its deadline (sbatch --deadline).
-- summary_of: slurm.time_limit: {pod} exceeded its time limit (Slurm's --time) and {was} stopped.
-- summary_of: slurm.time_nearly_up: {pod} {was} stopped by its launcher because its time was nearly up: {message}
-- summary_of: slurm.signalled.usr1: {pod} {was} ended by SIGUSR1, which it did not handle; Slurm sends that some time before the time limit of a job which asks for it (--signal), and nobody else but a person does.
-- summary_of: slurm.signalled.usr2: {pod} {was} ended by SIGUSR2, which it did not handle; Slurm sends that some time before the time limit of a job which asks for it (--signal), and nobody else but a person does.
-- advice_of: slurm.signalled.usr1, slurm.signalled.usr2: Handle the signal in the program by saving a checkpoint, or have the batch script trap it (--signal=B:USR1@300); if the job does not ask for a signal, find out who sent it (scancel --signal).
-- summary_of: batch.time_limit.pbs: {pod} ran for longer than the walltime that it asked for and {was} stopped.
-- summary_of: batch.time_limit.lsf: {pod} reached its run-time limit, its own or its queue's, and {was} stopped.
-- summary_of: unit.timed_out: {pod} reached the run-time limit of its service (RuntimeMaxSec) and {was} stopped.
-- advice_of: slurm.time_nearly_up: Nothing, if it was requeued and goes on from its last checkpoint; otherwise raise the job's time limit (--time).
-- advice_of: batch.time_limit.pbs: Ask for more walltime (-l walltime), as far as the queue allows, or save a checkpoint before the limit.
-- advice_of: batch.time_limit.lsf: Ask for more time (-W), as far as the queue allows, or save a checkpoint before the limit.
-- advice_of: unit.timed_out: Raise RuntimeMaxSec of the service, or save a checkpoint before the limit.
-- advice: Raise activeDeadlineSeconds, or save a checkpoint before the deadline.
-- advice_of: kueue.evicted.deadline: Raise the maximum execution time of the workload (label kueue.x-k8s.io/max-exec-time-seconds), or save a checkpoint before the deadline.
-- advice_of: slurm.deadline: Submit the job again with a later --deadline, or a shorter --time, so that it can start in time.
-- advice_of: slurm.time_limit: Raise the job's time limit (--time) as far as its partition allows, or save a checkpoint before the limit (--signal) and submit the job again.
-- Of one record the word counts that knows whose deadline it was.
WITH passed AS (
  SELECT d.* FROM links d
  LEFT JOIN links own ON own.death = d.death AND own.record = d.record AND own.via = 'workload'
    AND own.signal = 'k8s.workload.deadline.trainjob' AND d.signal = 'k8s.workload.deadline'
  WHERE d.signal IN ('k8s.workload.deadline', 'k8s.workload.deadline.trainjob', 'kueue.evicted.deadline') AND d.via = 'workload'
    AND own.fact IS NULL
)
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'act' AS role
FROM passed
-- Of whose end no record tells, the job says why it was.
WHERE (mode IN ('killed', 'lost') OR mode = 'exited' AND exit_code IS NULL
    -- KubeRay takes the cluster away; whoever follows the job from afar ends in an error for that.
    OR root_kind = 'RayJob' AND mode = 'exited' AND lag_s BETWEEN 0 AND 120 AND NOT regexp_like(pod, '-(head|worker)(-|$)')
    -- Argo stops the containers of a step itself, with the signals that end a program so.
    OR root_kind = 'Workflow' AND mode = 'exited' AND exit_code IN (137, 143) AND COALESCE(reason, '') <> 'OOMKilled'
    OR state IN ('never_scheduled', 'stuck_starting', 'crash_loop', 'never_created', 'failed'))
  -- One without a pod counts from when it was made.
  AND (lag_s BETWEEN -120 AND 120 OR state = 'never_created')
UNION ALL
-- A Job whose controller writes that its deadline has passed has no failed pod by then: it ends them all in that second, and whoever
-- evicts one of them then or later, as in a drain, evicts what is on its way out.
SELECT d.death, d.fact AS cause, x.fact AS effect, 'inferred' AS edge, 'act' AS role
FROM passed d
JOIN links x ON x.death = d.death AND x.via = 'pod'
  AND (x.signal = 'k8s.pod.evicted.api' OR x.signal LIKE 'k8s.pod.evicted_by_%')
  AND x.time - d.time BETWEEN 0 AND 60000000000
WHERE d.signal = 'k8s.workload.deadline' AND d.root_kind = 'Job' AND d.mode = 'killed' AND d.lag_s BETWEEN -120 AND 120
UNION ALL
-- Some controllers (of TrainJobs, of RayJobs) end what is over its time by deleting what they had made for it: whoever does so in that
-- minute, and is no person, does it for the deadline.
SELECT d.death, d.fact AS cause, x.fact AS effect, 'inferred' AS edge, 'act' AS role
FROM passed d
JOIN links x ON x.death = d.death AND x.via = 'workload' AND x.signal = 'k8s.workload.deleted_by_controller'
  AND x.time - d.time BETWEEN -2000000000 AND 60000000000
WHERE d.mode = 'killed' AND d.lag_s BETWEEN -120 AND 120
UNION ALL
-- What Kueue stopped for its time has no quota any more, and is suspended: of that moment both words follow from it.
SELECT d.death, d.fact AS cause, w.fact AS effect, 'asserted' AS edge, 'act' AS role
FROM passed d
JOIN links w ON w.death = d.death AND w.via = 'workload' AND w.signal IN ('kueue.pending', 'k8s.workload.suspended')
  AND w.time - d.time BETWEEN -5000000000 AND 60000000000 AND COALESCE(w.detail, 'Suspended') IN ('QuotaReserved', 'Suspended')
WHERE d.signal = 'kueue.evicted.deadline' AND d.state IN ('never_created', 'never_scheduled')
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'asserted' AS edge, 'act' AS role
FROM links
WHERE signal IN ('k8s.pod.deadline', 'k8s.container.deadline') AND via = 'pod'
UNION ALL
-- A code that hardly any other program ends with; where the program says why it failed, that leads. The container's command, where it
-- is known, says whether `timeout` is in it.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, CASE WHEN command_timed THEN 'inferred' ELSE 'guess' END AS edge, 'claim' AS role
FROM links
WHERE signal = 'k8s.container.timed_out' AND via = 'pod' AND mode = 'exited' AND exit_code = 124 AND command_timed IS NOT FALSE
UNION ALL
-- The service that the program runs as may run for so long, as systemd says of it.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'act' AS role
FROM links
WHERE signal = 'unit.timed_out' AND via = 'pod' AND state = 'died' AND lag_s BETWEEN -60 AND 60
UNION ALL
-- What another batch system writes at the end of the job's output.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'act' AS role
FROM links
WHERE signal IN ('batch.time_limit.pbs', 'batch.time_limit.lsf') AND via = 'pod' AND state = 'died'
UNION ALL
-- Slurm's own line in the job's output, or its accounting.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'asserted' AS edge, 'act' AS role
FROM links
WHERE signal IN ('slurm.deadline', 'slurm.time_limit') AND via = 'pod' AND reason IN ('TIMEOUT', 'DEADLINE')
UNION ALL
-- A launcher that Slurm warns stops its program and puts the job back into the queue.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'act' AS role
FROM links
WHERE signal = 'slurm.time_nearly_up' AND via = 'pod' AND reason IN ('REQUEUED', 'TIMEOUT', 'CANCELLED', 'COMPLETED') AND lag_s BETWEEN -5 AND 900
UNION ALL
-- A signal that does nothing but end who does not handle it: most often it says that the time is nearly up.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'guess' AS edge, 'act' AS role
FROM links
WHERE signal IN ('slurm.signalled.usr1', 'slurm.signalled.usr2') AND via = 'pod' AND mode = 'exited' AND lag_s BETWEEN -60 AND 60
