-- Deaths of members that a time limit, a person or the cluster ended long after their run's last step, with what
-- happened to a machine of the run when the steps stopped, and the end that it led to.
SELECT m.death, h.death AS stood, h.fact, h.signal, m.fact AS effect, h.time,
  -- A part of a log may be cut off at that step, and a GPU that another run had may have been its.
  CASE WHEN h.standstill_seen THEN 'inferred' ELSE 'guess' END AS edge,
  m.signal NOT LIKE '%.deadline' AND m.signal NOT IN ('slurm.time_limit', 'unit.timed_out') AS person
FROM links h
JOIN links m ON m.run = h.run AND m.attempt = h.attempt AND m.fact <> h.fact AND m.time > h.time
  AND (m.signal IN ('k8s.workload.deadline', 'k8s.pod.deadline', 'k8s.container.deadline', 'kueue.evicted.deadline',
                    'slurm.time_limit', 'unit.timed_out')
    OR m.signal = 'slurm.cancelled' AND m.via = 'pod'
    OR m.mode IN ('killed', 'lost') AND m.lag_s BETWEEN -5 AND 600
      AND (m.via = 'pod'
          AND (m.signal LIKE 'k8s.pod.evicted_by_%' OR m.signal LIKE 'k8s.pod.preempted%' OR m.signal = 'autoscaler.scale_down.pod'
            OR m.signal IN ('k8s.pod.deleted_by_user', 'k8s.pod.deleted_by_autoscaler', 'k8s.pod.evicted.api', 'k8s.pod.evicted.taint'))
        OR m.via = 'workload'
          AND (m.signal LIKE 'kueue.evicted%' OR m.signal LIKE 'k8s.workload.suspension_requested_by_%' OR m.signal = 'kueue.preempted'
            OR m.signal IN ('k8s.workload.deleted_by_user', 'k8s.workload.suspended'))
        OR m.via = 'node' AND m.signal LIKE 'autoscaler.scale_down%')
    -- Who finds a machine so stops what hangs there, or reboots it; and whoever takes the machine ends what does not work.
    OR m.mode IN ('exited', 'killed', 'lost') AND m.via = 'pod' AND m.lag_s BETWEEN -5 AND 600
      AND (m.signal IN ('unit.stop_requested', 'unit.stopping', 'slurm.preempted', 'cloud.spot_reclaimed', 'cloud.instance_terminating',
                        'maintenance.terminated')
        OR m.signal LIKE 'cloud.instance_deleted%' OR m.signal LIKE 'cloud.instance_stopped%' OR m.signal LIKE 'cloud.instance_reset%')
    OR m.via = 'node' AND m.lag_s BETWEEN -5 AND 600
      AND m.signal IN ('node.reboot_requested', 'node.poweroff_requested', 'node.kill_requested', 'node.rebooting', 'node.powering_off',
                       'slurm.node.set_down', 'slurm.node.reason_given')
      AND (m.mode IN ('killed', 'lost') OR m.exit_code IN (137, 143)))
-- Who had failed, or was interrupted, just before had a reason of its own, and who was done had nothing left to do.
LEFT JOIN (SELECT DISTINCT run, attempt, time FROM links
           WHERE via = 'pod' AND (signal IN ('log.traceback', 'log.interrupted', 'log.training_done') OR signal LIKE 'log.exception%')) own
  ON own.run = h.run AND own.attempt = h.attempt AND own.time BETWEEN h.time - 120000000000 AND h.time
WHERE h.via = 'node' AND h.at_last_step AND COALESCE(h.gpus, 1) > 0 AND own.run IS NULL
