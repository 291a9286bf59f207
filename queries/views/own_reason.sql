-- Deaths where the program gave a reason of its own that does not mention a device: a fault of the machine at that time
-- is a separate matter. `files`: the reason is about reading or writing.
SELECT t.death, bool_or(w.fact IS NOT NULL) AS files
FROM links t
LEFT JOIN links d ON d.death = t.death AND d.via = 'pod'
  AND (d.signal LIKE 'log.cuda_error%' OR d.signal LIKE 'nccl.%' OR d.signal LIKE 'gpu.%' OR d.signal = 'log.device_ordinal')
LEFT JOIN links w ON w.death = t.death AND w.via = 'pod'
  AND (w.signal LIKE 'log.storage_%' OR w.signal LIKE 'log.data_loader_%' OR w.signal LIKE 'log.checkpoint_%failed'
    OR w.signal IN ('log.io_error', 'log.no_space', 'log.bus_error', 'log.permission.file'))
WHERE t.signal IN ('log.traceback', 'log.usage', 'log.exception.config', 'log.command', 'slurm.exec_failed', 'log.cuda_oom')
  AND t.via = 'pod' AND t.mode = 'exited' AND t.lag_s BETWEEN -5 AND 60
  AND d.fact IS NULL
GROUP BY t.death
