-- cause: dep.volume
-- title: A volume could not be provisioned or mounted
-- rank: 27
-- level: established
-- needs: k8s.pod.volume_failed*, k8s.pod.unschedulable.volume, k8s.pvc.failed, k8s.pvc.lost
-- needs: k8s.pvc.pending, slurm.waiting.burst_buffer
-- title_of: slurm.waiting.burst_buffer: The burst buffer failed
-- summary_of: slurm.waiting.burst_buffer: {pod} cannot start because an operation on its burst buffer failed.
-- advice_of: slurm.waiting.burst_buffer: Check the burst buffer directives of the job and the log of slurmctld; waiting does not start the job.
-- summary: {pod} could not start: {message}
-- advice: Check the volume claim, its storage class, and which node the volume is attached to.
-- That it failed, without why, says nothing of the volume, its server or the node.
SELECT f.death, f.fact AS cause, CAST(NULL AS BIGINT) AS effect,
  CASE WHEN f.signal = 'k8s.pod.volume_failed' AND known.death IS NULL THEN 'guess' ELSE 'asserted' END AS edge, 'fault' AS role
FROM links f
LEFT JOIN (SELECT DISTINCT death FROM links
           WHERE signal LIKE 'k8s.pod.volume_failed.%' AND via = 'pod' OR signal IN ('k8s.pvc.failed', 'k8s.pvc.lost') AND via = 'claim') known
  ON known.death = f.death
WHERE f.signal LIKE 'k8s.pod.volume_failed%' AND f.via = 'pod' AND f.state = 'stuck_starting'
  AND f.signal NOT IN ('k8s.pod.volume_failed.server', 'k8s.pod.volume_failed.no_space')
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'asserted' AS edge, 'state' AS role
FROM links
WHERE signal = 'k8s.pod.unschedulable.volume' AND via = 'pod' AND state = 'never_scheduled'
UNION ALL
SELECT u.death, u.fact AS cause, m.fact AS effect, 'asserted' AS edge, 'fault' AS role
FROM links u
JOIN links m ON m.death = u.death AND m.via = 'pod' AND m.signal IN ('k8s.pod.unschedulable.volume', 'k8s.pod.volume_failed')
WHERE u.signal IN ('k8s.pvc.failed', 'k8s.pvc.lost') AND u.via = 'claim'
  AND u.state IN ('never_scheduled', 'stuck_starting')
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'fault' AS role
FROM links
WHERE signal IN ('k8s.pvc.failed', 'k8s.pvc.lost') AND via = 'claim'
  AND state IN ('never_scheduled', 'stuck_starting')
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'context' AS edge, 'state' AS role
FROM links
WHERE signal = 'k8s.pvc.pending' AND via = 'claim' AND state IN ('never_scheduled', 'stuck_starting')
UNION ALL
-- A deadline only ends the wait of a pod that never started.
SELECT d.death, u.fact AS cause, d.fact AS effect, 'inferred' AS edge, 'fault' AS role
FROM waited_out d
JOIN links u ON u.death = d.death AND u.via = 'pod' AND u.signal IN ('k8s.pod.unschedulable.volume', 'k8s.pod.volume_failed')
UNION ALL
-- Slurm makes a burst buffer ready before a job starts, and says so itself of one that waits for what has failed.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'asserted' AS edge, 'state' AS role
FROM links
WHERE signal = 'slurm.waiting.burst_buffer' AND via = 'pod' AND state = 'never_scheduled'
