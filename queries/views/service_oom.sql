-- Services that programs ran as and that lost a process to the OOM killer as they ended, according to systemd.
-- `of_machine`: the whole machine was out of memory by then, so what the kernel reports later concerns another process.
SELECT u.death, u.fact, n.death IS NOT NULL AS of_machine
FROM links u
LEFT JOIN (SELECT DISTINCT u.death, u.fact
           FROM links u
           JOIN links k ON k.death = u.death AND k.signal = 'kernel.oom_kill.node' AND k.time BETWEEN u.time - 60000000000 AND u.time + 1000000000
           WHERE u.signal = 'unit.oom_killed') n ON n.death = u.death AND n.fact = u.fact
WHERE u.signal = 'unit.oom_killed' AND u.via = 'pod' AND u.state = 'died' AND u.lag_s BETWEEN -60 AND 60
