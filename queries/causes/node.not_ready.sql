-- cause: node.not_ready
-- title: The node stopped responding
-- title_of: k8s.node.network_not_ready: The node's pod network is not ready
-- title_of: node.kubelet_certificate: The kubelet's certificate expired
-- rank: 58
-- level: established
-- needs: node.kubelet_certificate, k8s.node.not_ready, k8s.node.silent, k8s.pod.evicted.taint, k8s.pod.node_lost, k8s.pod.node_not_ready
-- needs: ray.node_died, kueue.evicted.node_failures, slurm.node_fail, slurm.batch_missing, slurm.node.down, slurm.node.not_responding, k8s.pod.deleted_by_node_controller, k8s.pod.deleted_by_user, k8s.pod.untaken, k8s.lease.past.node
-- needs: node.kubelet_down, node.slurmd_down, node.kubelet_stop_requested, cloud.guest_impaired
-- alone: cloud.guest_impaired
-- title_of: node.kubelet_down: The node's kubelet stopped
-- title_of: node.kubelet_stop_requested: The node's kubelet was stopped on request
-- title_of: node.slurmd_down: The node's Slurm daemon stopped
-- overturned_by: audit: whether someone stopped the node
-- overturned_by: kernel: why the machine stopped responding
-- overturned_by: activity: whether the cloud, or someone there, took the machine
-- summary: {node} stopped responding; {pod} {was} on it.
-- summary_of: k8s.node.network_not_ready: The kubelet of {node} responds, but the pod network of the node is not set up, and {pod} {was} on it: {message}
-- advice_of: k8s.node.network_not_ready: Look at the pod of the network plugin on {node} (kubectl get pods -A -o wide) and its log, and at /etc/cni/net.d there.
-- summary_of: node.kubelet_certificate: The kubelet of {node} could no longer reach the cluster, because its certificate had expired: {message}
-- advice_of: node.kubelet_certificate: Renew the certificate of the kubelet on {node}, and find out why it was not renewed (kubectl get csr).
-- summary_of: ray.node_died: Ray reports that a node of {workload} was lost: {message}
-- summary_of: slurm.node_fail: Slurm reports that a node of {pod} failed.
-- summary_of: k8s.pod.untaken: The kubelet of {node} has not acted on {pod}: {message}
-- summary_of: k8s.lease.past.node: The kubelet of {node} has not acted on {pod}, and has been silent since its {message}
-- summary_of: k8s.pod.evicted.taint, k8s.pod.deleted_by_node_controller: {pod} {was} evicted from {node}, as happens when a node stops responding.
-- summary_of: node.kubelet_down, node.slurmd_down: {node} stopped responding because its agent was down; {pod} {was} on it: {message}
-- summary_of: node.kubelet_stop_requested: {node} stopped responding because its kubelet was stopped{by}; {pod} {was} on it.
-- advice_of: node.kubelet_stop_requested: Find out why the kubelet was stopped, and start it again; there is no sign of a fault.
-- summary_of: cloud.guest_impaired: {node} no longer responded to its cloud's check of the instance itself; {pod} {was} on it.
-- advice_of: cloud.guest_impaired: Read the instance's console output and kernel log: this check fails for what runs in the instance (memory, file systems, the kernel, its network), not for its host.
-- advice_of: node.kubelet_down: Read the kubelet's log on {node} (journalctl -u kubelet), and start it again; its containers run on meanwhile.
-- advice_of: node.slurmd_down: Read the log of slurmd on {node}, and start it again.
-- advice_of: k8s.pod.untaken, k8s.lease.past.node: Check that the kubelet on {node} is running (systemctl status kubelet), and read its log.
-- advice: Check the machine's console, BMC and kernel log to see why it stopped responding; keep it out of the pool until then.
--
-- A NoExecute taint is anybody's: the node lifecycle controller's where the node had fallen silent, else that of
-- whoever set another one (ops.node_drained).
-- What was being ended before it was evicted is a leftover by then. What one command printed has ages from one moment, so
-- that their order is known better than their times.
WITH ending AS (
  SELECT death, MIN(time) AS time FROM links
  WHERE via = 'pod' AND signal IN ('k8s.container.killing', 'k8s.workload.pod_deleted') AND lag_s BETWEEN -5 AND 5
    OR via = 'named' AND signal = 'k8s.workload.pod_deleted' AND lag_s BETWEEN -5 AND 120
  GROUP BY death
),
evicted AS (
  SELECT e.death, e.fact, e.time, e.time_hi FROM links e
  LEFT JOIN ending ON ending.death = e.death AND ending.time < e.time - 5000000000
  WHERE e.signal IN ('k8s.pod.evicted.taint', 'k8s.pod.deleted_by_node_controller') AND e.via = 'pod'
    AND e.mode IN ('killed', 'lost') AND ending.death IS NULL
),
-- Whoever tolerates a silent node for longer than it was on this one was not sent away for that.
stands AS (
  SELECT death FROM deaths WHERE stands_silence
),
-- The agent through which the machine answers ended, and was not started again before anybody missed the machine. A machine that goes
-- down stops it as well, and systemd starts again what fails: that it is seen to be down says more than that it ended.
agent AS (
  SELECT a.death, a.fact, a.time, a.signal FROM links a
  LEFT JOIN links up ON up.death = a.death AND up.machine = a.machine AND up.time > a.time
    AND up.signal = CASE WHEN a.signal = 'node.kubelet_down' THEN 'node.kubelet_up' ELSE 'node.slurmd_up' END
    AND up.time < a.time + 40000000000
  LEFT JOIN links down ON down.death = a.death AND down.machine = a.machine AND down.time BETWEEN a.time - 300000000000 AND a.time + 300000000000
    AND down.signal IN ('k8s.node.rebooted', 'node.rebooting', 'node.crashed', 'node.reboot_requested', 'node.powering_off', 'node.powered_off',
                        'node.poweroff_requested', 'k8s.node.shutdown', 'kernel.panic')
  WHERE a.signal IN ('node.kubelet_down', 'node.slurmd_down') AND a.via = 'node' AND up.fact IS NULL AND down.fact IS NULL
),
-- What is put on a node shows that it answers. A record that says the same twice tells of two silences: the last counts.
silent AS (
  SELECT s.death, s.fact, s.time FROM links s
  LEFT JOIN links anew ON anew.death = s.death AND anew.via = 'node' AND anew.record = s.record AND anew.signal = s.signal
    AND anew.time > s.time AND anew.lag_s >= 0
  WHERE s.signal IN ('k8s.node.not_ready', 'k8s.node.silent', 'k8s.node.unreachable') AND s.via = 'node'
    AND COALESCE(s.created, 0) <= s.time_hi AND anew.fact IS NULL
),
-- Nobody is evicted for a silence that is over: an eviction is called off as the node answers again, and as its pod ends.
again AS (
  SELECT DISTINCT death, time, time_hi FROM links
  WHERE signal = 'k8s.node.ready' AND via = 'node' OR signal = 'k8s.pod.taint_eviction_cancelled' AND via = 'pod' AND lag_s > 5
),
-- When the node's controller told of the pod, or of its node, that it was out of reach.
cut_off AS (
  SELECT death, MIN(time) AS time FROM links
  WHERE signal = 'k8s.pod.node_lost' AND via = 'pod'
    OR via = 'node' AND (signal = 'k8s.node.silent' OR signal = 'k8s.node.unreachable' AND COALESCE(detail, '') LIKE '%/unreachable')
  GROUP BY death
),
-- It had answered again before the pod was lost, or how it stands now is told beside when it fell silent.
past AS (
  SELECT DISTINCT s.death, s.fact
  FROM links s
  JOIN links r ON r.death = s.death AND r.via = 'node'
    AND (r.signal = 'k8s.node.ready' AND r.time > s.time AND r.lag_s > 0
         OR r.signal = 'k8s.node.not_ready' AND s.via = 'node' AND s.time < 0 AND r.time > 0)
  WHERE s.signal IN ('k8s.node.not_ready', 'k8s.node.silent', 'k8s.node.unreachable') AND s.via = 'node'
    OR s.signal = 'k8s.pod.node_lost'
),
-- A taint of somebody's own, set before the pod was evicted for one, and not at a time that nobody knows; or the kernel had killed the pod
-- itself before, how its containers ended nobody saw, and what was evicted may be its leftover.
tainted AS (
  SELECT death, fact, bool_and(late) AS late FROM (
    SELECT e.death, e.fact, p.death IS NOT NULL AND back.death IS NULL AS late
    FROM evicted e
    JOIN links c ON c.death = e.death AND c.via = 'node' AND c.signal = 'k8s.node.tainted.no_execute'
      AND c.time <= e.time_hi + 5000000000 AND c.lag_s >= -15
      AND e.time - c.time < 3600000000000 AND c.time_hi - 600000000000 < c.time
    -- A pod that was told to be out of reach is cleared away by whoever then taints the node: it was lost before.
    LEFT JOIN cut_off p ON p.death = e.death AND p.time < c.time
    LEFT JOIN again back ON back.death = e.death AND back.time > p.time AND back.time_hi < c.time
    UNION ALL
    SELECT e.death, e.fact, false
    FROM evicted e
    JOIN links k ON k.death = e.death AND k.via = 'pod' AND k.signal = 'kernel.oom_kill.limit'
      AND k.exit_code IS NULL AND e.time - k.time BETWEEN 0 AND 600000000000)
  GROUP BY death, fact
),
-- Evicted by a taint of somebody's own, though nobody saw it: the eviction's Event is there, the kubelet obeyed within a
-- minute, or somebody else than the node's controller had changed the node.
sent_away AS (
  SELECT DISTINCT e.death, e.fact FROM evicted e
  JOIN links o ON o.death = e.death
    AND (o.via = 'pod' AND o.signal = 'k8s.pod.taint_eviction_told' AND o.node IS NOT NULL
      OR o.via = 'pod' AND o.signal = 'k8s.container.killing' AND o.time BETWEEN e.time - 5000000000 AND e.time_hi + 60000000000
      OR o.via = 'node' AND o.signal LIKE 'k8s.node.changed_by_%' AND o.signal NOT IN ('k8s.node.changed_by_node_controller', 'k8s.node.changed_by_kubelet')
        AND e.time - o.time BETWEEN -1000000000 AND 3600000000000)
),
-- Somebody deleted it before anybody would have been evicted for its silence: it may have come back, and its machine may have
-- been switched off for that. Pods of a node that is gone are collected within two minutes.
removed AS (
  SELECT d.death, MIN(d.time) AS time FROM links d
  WHERE d.signal IN ('k8s.node.deleted_by_user', 'k8s.node.deleted') AND d.via = 'node'
    OR d.signal = 'k8s.pod.evicted.podgc' AND d.via = 'pod'
  GROUP BY d.death
),
-- What the machine's own kernel complained of before it fell silent, and did not take back, may have ended the pod first.
complained AS (
  SELECT DISTINCT c.death FROM links c
  JOIN silent s ON s.death = c.death AND s.time - c.time BETWEEN 0 AND 600000000000
  LEFT JOIN links ok ON ok.death = c.death AND ok.via = 'node' AND ok.signal = 'kernel.nfs_ok' AND ok.time > c.time
  WHERE c.via = 'node' AND ok.fact IS NULL
    AND (c.signal IN ('kernel.nfs_not_responding', 'kernel.storage_evicted', 'kernel.disk_error', 'kernel.memory_error')
      OR c.signal IN ('gpu.missing', 'gpu.driver_error', 'gpu.memory_error', 'gpu.hardware_error', 'gpu.nvlink_error',
                      'gpu.firmware_error', 'gpu.application_error', 'gpu.xid', 'gpu.xid.symptom'))
  UNION
  -- Its cloud says that the machine is switched off: whether it was before it fell silent nothing tells.
  SELECT DISTINCT death FROM links WHERE via = 'node' AND signal = 'k8s.node.vm_stopped' AND mode IN ('killed', 'lost')
  UNION
  -- What its cloud had announced for it, or reports of where it stands, may be why it fell silent.
  SELECT DISTINCT a.death FROM links a
  LEFT JOIN links off ON off.death = a.death AND off.via = 'node' AND off.time >= a.time AND off.lag_s >= 0
    AND off.signal IN ('maintenance.migrated', 'maintenance.done')
  WHERE a.mode IN ('killed', 'lost') AND a.lag_s BETWEEN -90 AND 3900 AND off.fact IS NULL
    AND (a.signal = 'maintenance.announced' AND a.via = 'node' AND COALESCE(a.due_s, 0) > -3900
      OR a.signal = 'cloud.service_outage.machines' AND a.via IN ('region', 'zone'))
),
-- Its kubelet did answer, and said that the runtime under it was down.
answered AS (
  SELECT DISTINCT r.death
  FROM links r
  LEFT JOIN links s ON s.death = r.death AND s.via = 'node'
    AND (s.signal = 'k8s.node.silent' OR s.signal = 'k8s.node.unreachable' AND COALESCE(s.detail, '') LIKE '%/unreachable')
  WHERE r.signal LIKE 'k8s.node.runtime%' AND r.via = 'node' AND r.lag_s BETWEEN -60 AND 600 AND s.fact IS NULL
),
-- Its kubelet did answer: it said itself that it was not ready, and nobody found it silent.
spoke AS (
  SELECT DISTINCT r.death
  FROM links r
  LEFT JOIN links s ON s.death = r.death AND s.via = 'node'
    AND (s.signal = 'k8s.node.silent' OR s.signal = 'k8s.node.unreachable' AND COALESCE(s.detail, '') LIKE '%/unreachable'
      OR s.signal = 'k8s.node.not_ready' AND COALESCE(s.actor, '') LIKE '%node-controller%')
  WHERE r.signal = 'k8s.node.not_ready' AND r.via = 'node' AND r.actor = 'kubelet' AND r.lag_s BETWEEN -60 AND 3600 AND s.fact IS NULL
)
-- What it says of its runtime is then why (node.runtime).
SELECT e.death, s.fact AS cause, e.fact AS effect,
  CASE WHEN a.death IS NOT NULL THEN 'context' WHEN t.fact IS NOT NULL AND NOT t.late THEN 'guess'
    WHEN k.death IS NOT NULL OR c.death IS NOT NULL OR t.late THEN 'inferred' ELSE 'asserted' END AS edge, 'fault' AS role
FROM evicted e
LEFT JOIN complained c ON c.death = e.death
LEFT JOIN spoke k ON k.death = e.death
JOIN silent s ON s.death = e.death AND e.time_hi >= s.time - 5000000000 AND e.time - s.time < 7200000000000
LEFT JOIN again r ON r.death = e.death AND r.time > s.time AND r.time_hi < e.time
LEFT JOIN tainted t ON t.death = e.death AND t.fact = e.fact
LEFT JOIN answered a ON a.death = e.death
LEFT JOIN stands ON stands.death = e.death
WHERE r.death IS NULL AND stands.death IS NULL
UNION ALL
-- Evicted for a taint that nobody saw: most are set for silent nodes. When a node falls silent, its controller tells
-- that of each pod on it: where the eviction's own Event is there and that one is not, somebody set another taint.
SELECT e.death, e.fact AS cause, CAST(NULL AS BIGINT) AS effect,
  CASE WHEN a.death IS NOT NULL THEN 'context' WHEN s.death IS NULL AND told.death IS NULL THEN 'guess'
    WHEN s.death IS NULL OR k.death IS NOT NULL OR c.death IS NOT NULL OR t.late THEN 'inferred' ELSE 'asserted' END AS edge, 'act' AS role
FROM evicted e
LEFT JOIN complained c ON c.death = e.death
LEFT JOIN spoke k ON k.death = e.death
LEFT JOIN (SELECT DISTINCT x.death, x.fact FROM evicted x
           JOIN silent s ON s.death = x.death AND x.time_hi >= s.time - 5000000000 AND x.time - s.time < 7200000000000
           LEFT JOIN again r ON r.death = x.death AND r.time > s.time AND r.time_hi < x.time
           WHERE r.death IS NULL) s
  ON s.death = e.death AND s.fact = e.fact
LEFT JOIN tainted t ON t.death = e.death AND t.fact = e.fact
LEFT JOIN answered a ON a.death = e.death
-- One that was ready all the time had not fallen silent.
LEFT JOIN deaths d ON d.death = e.death AND (d.node_ready OR d.stands_silence)
LEFT JOIN sent_away o ON o.death = e.death AND o.fact = e.fact
LEFT JOIN (SELECT DISTINCT death FROM links WHERE via = 'pod' AND signal = 'k8s.pod.node_lost') lost ON lost.death = e.death
-- The Events of a pod's namespace hold none of its node: what its controller told of the pod before, and did not take back, stands for
-- them, unless the kubelet obeys at once.
LEFT JOIN (SELECT DISTINCT x.death, x.fact FROM evicted x
           JOIN links p ON p.death = x.death AND p.via = 'pod' AND p.signal = 'k8s.pod.node_lost'
             AND p.time >= 0 AND p.time < x.time AND x.time - p.time < 7200000000000
           LEFT JOIN again r ON r.death = x.death AND r.time > p.time AND r.time_hi < x.time
           LEFT JOIN links b ON b.death = x.death AND b.via = 'pod'
             AND (b.signal = 'k8s.pod.taint_eviction_cancelled' AND b.time > p.time
               OR b.signal = 'k8s.container.killing' AND b.time BETWEEN x.time - 5000000000 AND x.time_hi + 60000000000)
           WHERE r.death IS NULL AND b.fact IS NULL) told
  ON told.death = e.death AND told.fact = e.fact
WHERE (t.fact IS NULL OR t.late) AND d.death IS NULL AND (s.death IS NOT NULL OR o.death IS NULL OR lost.death IS NOT NULL)
UNION ALL
-- A node that somebody took out of service had not fallen silent. The taint manager's later
-- eviction says that the pod was on it still.
SELECT u.death, u.fact AS cause, CAST(NULL AS BIGINT) AS effect,
  CASE WHEN a.death IS NOT NULL OR d.time - u.time BETWEEN 0 AND 300000000000 THEN 'guess' WHEN e.death IS NULL OR k.death IS NOT NULL OR w.death IS NOT NULL OR c.death IS NOT NULL THEN 'inferred' ELSE 'asserted' END AS edge, 'fault' AS role
FROM links u
LEFT JOIN complained c ON c.death = u.death
LEFT JOIN (SELECT DISTINCT death FROM tainted) w ON w.death = u.death
LEFT JOIN spoke k ON k.death = u.death
LEFT JOIN answered a ON a.death = u.death
LEFT JOIN removed d ON d.death = u.death
LEFT JOIN links hand ON hand.death = u.death AND hand.via = 'node' AND hand.time = u.time AND hand.signal = 'slurm.node.set_down'
LEFT JOIN (SELECT death, MAX(time_hi) AS time_hi FROM evicted GROUP BY death) e
  ON e.death = u.death AND e.time_hi >= u.time AND u.signal LIKE 'k8s.%'
LEFT JOIN past ON past.death = u.death AND past.fact = u.fact
WHERE u.signal IN ('k8s.node.not_ready', 'k8s.node.silent', 'slurm.node.down', 'slurm.node.not_responding')
  AND u.via = 'node' AND u.mode = 'lost' AND u.lag_s BETWEEN -60 AND 3600 AND hand.fact IS NULL AND past.fact IS NULL
UNION ALL
-- Who deletes a pod that is out of reach clears away what is lost; a node that answers again may not have lost it.
SELECT e.death, s.fact AS cause, e.fact AS effect,
  CASE WHEN p.death IS NULL OR k.death IS NOT NULL OR a.death IS NOT NULL OR l.death IS NOT NULL THEN 'guess' ELSE 'inferred' END AS edge, 'fault' AS role
FROM links e
JOIN silent s ON s.death = e.death AND e.time > s.time AND e.time - s.time < 3600000000000
LEFT JOIN spoke k ON k.death = e.death
LEFT JOIN answered a ON a.death = e.death
LEFT JOIN again b ON b.death = e.death AND b.time > s.time AND b.time_hi < e.time
-- A kubelet whose word is late works on: the nodes' controller tells of each pod that it takes to be out of reach, or of the
-- node that it does not know how it is.
LEFT JOIN (SELECT DISTINCT death, time FROM links WHERE signal = 'k8s.pod.node_lost' AND via = 'pod') p ON p.death = e.death AND p.time < e.time
LEFT JOIN (SELECT DISTINCT death, time FROM links
           WHERE via = 'node' AND (signal = 'k8s.node.silent' OR signal = 'k8s.node.unreachable' AND COALESCE(detail, '') LIKE '%/unreachable')) q
  ON q.death = e.death AND q.time < e.time
-- A kubelet that stopped it, or confirmed its end, was there.
LEFT JOIN (SELECT DISTINCT death FROM links
           WHERE via = 'pod' AND signal IN ('k8s.container.killing', 'k8s.pod.deleted_by_kubelet')) kubelet ON kubelet.death = e.death
LEFT JOIN (SELECT death, MAX(time) AS time FROM again GROUP BY death) l ON l.death = e.death AND l.time > e.time
WHERE e.signal = 'k8s.pod.deleted_by_user' AND e.via = 'pod' AND e.mode = 'killed' AND e.exit_code IS NULL AND b.death IS NULL
  AND (p.death IS NOT NULL OR q.death IS NOT NULL AND kubelet.death IS NULL)
UNION ALL
-- The node's controller told of the pod alone that it is out of reach, or only the pod's objects are there.
SELECT e.death, p.fact AS cause, e.fact AS effect, 'inferred' AS edge, 'fault' AS role
FROM links e
JOIN links p ON p.death = e.death AND p.via = 'pod' AND p.signal = 'k8s.pod.node_lost'
  AND p.time >= 0 AND p.time < e.time AND e.time - p.time BETWEEN 60000000000 AND 3600000000000
LEFT JOIN silent s ON s.death = e.death
LEFT JOIN again r ON r.death = e.death AND r.time > p.time
LEFT JOIN links b ON b.death = e.death AND b.via = 'pod'
  AND (b.signal IN ('k8s.container.killing', 'k8s.pod.deleted_by_kubelet')
    OR b.signal = 'k8s.pod.taint_eviction_cancelled' AND b.time > p.time AND b.time < e.time)
WHERE e.signal = 'k8s.pod.deleted_by_user' AND e.via = 'pod' AND e.mode = 'killed' AND e.exit_code IS NULL
  AND s.death IS NULL AND r.death IS NULL AND b.fact IS NULL
UNION ALL
-- Its removal was asked for at a time that no record tells, and its node does not respond now: most that hang so were evicted for
-- that.
SELECT q.death, s.fact AS cause, q.fact AS effect, 'inferred' AS edge, 'fault' AS role
FROM links q
JOIN silent s ON s.death = q.death
LEFT JOIN links again ON again.death = q.death AND again.via = 'node' AND again.signal = 'k8s.node.ready' AND again.time > s.time
WHERE q.signal = 'k8s.pod.deletion_requested' AND q.via = 'pod' AND q.mode = 'killed' AND q.time < 0 AND again.fact IS NULL
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'context' AS edge, 'act' AS role
FROM evicted
WHERE death IN (SELECT death FROM links WHERE mode = 'lost')
UNION ALL
-- The kubelet's own word for a pod whose node had been lost, or the node controller's. That the node had been silent
-- for a while by then is inferred.
SELECT u.death, u.fact AS cause, CAST(NULL AS BIGINT) AS effect,
  CASE WHEN d.time - u.time BETWEEN 0 AND 300000000000 THEN 'guess' WHEN u.lag_s < -5 OR c.death IS NOT NULL THEN 'inferred' ELSE 'asserted' END AS edge, 'fault' AS role
FROM links u
-- What the node itself is told to be says more than what is told of the pod for that.
LEFT JOIN (SELECT o.death, o.time FROM links o
           LEFT JOIN past ON past.death = o.death AND past.fact = o.fact
           WHERE o.signal IN ('k8s.node.not_ready', 'k8s.node.silent') AND o.via = 'node' AND o.mode = 'lost'
             AND o.lag_s BETWEEN -60 AND 3600 AND past.fact IS NULL) own
  ON own.death = u.death AND own.time - u.time BETWEEN -120000000000 AND 60000000000
LEFT JOIN complained c ON c.death = u.death
LEFT JOIN removed d ON d.death = u.death
LEFT JOIN past ON past.death = u.death AND past.fact = u.fact
LEFT JOIN ending ON ending.death = u.death AND ending.time < u.time - 5000000000
WHERE u.signal = 'k8s.pod.node_lost' AND u.via = 'pod' AND u.mode = 'lost' AND u.lag_s BETWEEN -60 AND 3600
  AND past.fact IS NULL AND ending.death IS NULL AND own.death IS NULL
UNION ALL
-- What waits for a node that does not answer now: it was bound to it, or runs there unseen.
SELECT u.death, u.fact AS cause, CAST(NULL AS BIGINT) AS effect,
  CASE WHEN u.signal = 'k8s.node.silent' THEN 'inferred' ELSE 'guess' END AS edge, 'state' AS role
FROM links u
LEFT JOIN links again ON again.death = u.death AND again.via = 'node' AND again.signal = 'k8s.node.ready'
  AND again.time > u.time
LEFT JOIN links why ON why.death = u.death AND why.record = u.record AND why.signal LIKE 'k8s.node.runtime%'
WHERE u.signal IN ('k8s.node.not_ready', 'k8s.node.silent') AND u.via = 'node'
  AND u.state IN ('stuck_starting', 'not_ready') AND again.fact IS NULL AND why.fact IS NULL
UNION ALL
-- Its node's controller says so of the pod, and has not taken it back.
SELECT u.death, u.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'guess' AS edge, 'state' AS role
FROM links u
LEFT JOIN links again ON again.death = u.death AND again.time > u.time
  AND (again.via = 'node' AND again.signal = 'k8s.node.ready' OR again.via = 'pod' AND again.signal = 'k8s.pod.taint_eviction_cancelled')
WHERE u.signal = 'k8s.pod.node_lost' AND u.via = 'pod' AND u.state = 'not_ready' AND again.fact IS NULL
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'context' AS edge, 'state' AS role
FROM links
WHERE signal = 'k8s.node.unreachable' AND via = 'node' AND mode IN ('killed', 'lost')
  AND lag_s BETWEEN -600 AND 900
UNION ALL
-- Kueue stops a workload for a node under it that failed. Where it names the node, those that were elsewhere
-- went with the one that was on it.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect,
  CASE WHEN detail IS NULL OR detail = node THEN 'inferred' ELSE 'guess' END AS edge, 'claim' AS role
FROM links
WHERE signal = 'kueue.evicted.node_failures' AND via = 'workload' AND mode IN ('killed', 'lost') AND lag_s BETWEEN -30 AND 600
UNION ALL
-- What it stops the workload for is the node's silence, where that was recorded.
SELECT s.death, s.fact AS cause, k.fact AS effect, 'inferred' AS edge, 'fault' AS role
FROM silent s
JOIN links k ON k.death = s.death AND k.signal = 'kueue.evicted.node_failures' AND k.via = 'workload'
  AND k.mode IN ('killed', 'lost') AND k.detail = k.node AND k.time - s.time BETWEEN -5000000000 AND 600000000000
UNION ALL
-- Slurm says that a node of the job failed; on several nodes it does not say which. Its line in the job's own output
-- says the same of a node that somebody set down, and it calls so as well what the daemon of a node that answers has lost.
SELECT f.death, f.fact AS cause, CAST(NULL AS BIGINT) AS effect,
  CASE WHEN f.source_kind NOT LIKE 'slurm%' OR m.death IS NOT NULL OR h.death IS NOT NULL THEN 'guess' ELSE 'inferred' END AS edge, 'claim' AS role
FROM links f
LEFT JOIN (SELECT DISTINCT death FROM links WHERE signal = 'slurm.batch_missing' AND via = 'pod') m ON m.death = f.death
-- A node that somebody set down, which may have responded all the time.
LEFT JOIN (SELECT DISTINCT death FROM links WHERE signal = 'slurm.node.set_down' AND via = 'node' AND lag_s BETWEEN -60 AND 60) h ON h.death = f.death
WHERE f.signal = 'slurm.node_fail' AND f.via = 'pod' AND f.mode = 'lost' AND f.lag_s BETWEEN -60 AND 60
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'context' AS edge, 'claim' AS role
FROM links
WHERE signal IN ('alert.node_not_ready', 'metric.target_down') AND via = 'node' AND mode IN ('killed', 'lost') AND lag_s BETWEEN -600 AND 900
UNION ALL
-- Ray's own word of one of its nodes, which may have been cut off only.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'guess' AS edge, 'claim' AS role
FROM links
WHERE signal = 'ray.node_died' AND via = 'pod' AND mode = 'exited' AND lag_s BETWEEN -5 AND 120
UNION ALL
-- That a node was not ready is told by requests alone: what became of it nobody says.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'guess' AS edge, 'fault' AS role
FROM links
WHERE signal = 'k8s.pod.node_not_ready' AND via = 'pod' AND mode = 'lost' AND lag_s BETWEEN -60 AND 3600
UNION ALL
-- A pod that was bound, and that the kubelet of its node has not begun with: nobody starts it there. A lease of its own that was not
-- renewed while others were, or the node's own controller, says that it is silent.
SELECT u.death, u.fact AS cause, CAST(NULL AS BIGINT) AS effect,
  CASE WHEN l.death IS NULL THEN 'guess' ELSE 'inferred' END AS edge, 'state' AS role
FROM links u
LEFT JOIN (SELECT DISTINCT death FROM links
           WHERE via = 'pod' AND signal = 'k8s.lease.past.node' OR via = 'node' AND signal IN ('k8s.node.silent', 'k8s.node.unreachable')) l
  ON l.death = u.death
WHERE u.signal = 'k8s.pod.untaken' AND u.via = 'pod' AND u.state = 'stuck_starting'
UNION ALL
SELECT l.death, l.fact AS cause, u.fact AS effect, 'inferred' AS edge, 'fault' AS role
FROM links l
JOIN links u ON u.death = l.death AND u.via = 'pod' AND u.signal = 'k8s.pod.untaken'
WHERE l.signal = 'k8s.lease.past.node' AND l.via = 'pod' AND l.state = 'stuck_starting'
UNION ALL
-- A kubelet that says why its node is not ready has not stopped responding.
SELECT n.death, n.fact AS cause, r.fact AS effect, 'asserted' AS edge, 'fault' AS role
FROM links n
JOIN links r ON r.death = n.death AND r.record = n.record AND r.via = n.via AND r.signal = 'k8s.node.not_ready'
WHERE n.signal = 'k8s.node.network_not_ready' AND n.via = 'node'
UNION ALL
SELECT c.death, c.fact AS cause, s.fact AS effect, 'inferred' AS edge, 'fault' AS role
FROM links c
JOIN links s ON s.death = c.death AND s.machine = c.machine AND s.signal IN ('k8s.node.silent', 'k8s.node.not_ready', 'k8s.node.unreachable')
  AND s.time - c.time BETWEEN -60000000000 AND 3600000000000
WHERE c.signal = 'node.kubelet_certificate' AND c.via = 'node'
UNION ALL
-- A machine is missed forty seconds after its agent's last word, and by Slurm some minutes after that.
SELECT a.death, a.fact AS cause, s.fact AS effect, 'inferred' AS edge, 'fault' AS role
FROM agent a
JOIN (SELECT death, fact, time FROM silent
      UNION ALL
      SELECT death, fact, time FROM links
      WHERE via = 'node' AND signal IN ('slurm.node.down', 'slurm.node.not_responding')
      UNION ALL
      SELECT death, fact, time FROM links WHERE via = 'pod' AND signal IN ('k8s.pod.node_lost', 'k8s.pod.untaken')) s
  ON s.death = a.death AND s.time - a.time BETWEEN -60000000000 AND 900000000000
UNION ALL
-- Whoever stopped the kubelet is why: it was seen to end then, and was not started again before anybody missed the node.
SELECT DISTINCT r.death, r.fact AS cause, s.fact AS effect, 'inferred' AS edge, 'act' AS role
FROM links r
JOIN links k ON k.death = r.death AND k.machine = r.machine AND k.signal = 'node.kubelet_down' AND k.time - r.time BETWEEN -1000000000 AND 120000000000
JOIN agent a ON a.death = k.death AND a.fact = k.fact
JOIN silent s ON s.death = a.death AND s.time - a.time BETWEEN 0 AND 900000000000
WHERE r.signal = 'node.kubelet_stop_requested' AND r.via = 'node'
UNION ALL
-- What waits for its node is left where nobody there takes it on.
SELECT a.death, a.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'guess' AS edge, 'fault' AS role
FROM agent a
JOIN deaths d ON d.death = a.death
WHERE d.state IN ('stuck_starting', 'not_ready') AND a.signal = 'node.kubelet_down'
UNION ALL
-- A check of what runs in an instance fails with that: of the host it says nothing.
SELECT g.death, g.fact AS cause, s.fact AS effect, 'inferred' AS edge, 'fault' AS role
FROM links g
JOIN links s ON s.death = g.death AND s.mode IN ('killed', 'lost') AND s.time_hi - g.time BETWEEN -60000000000 AND 900000000000
  AND s.signal IN ('k8s.node.not_ready', 'k8s.node.silent', 'k8s.node.unreachable', 'k8s.pod.node_lost')
WHERE g.signal = 'cloud.guest_impaired' AND g.via = 'node' AND g.lag_s BETWEEN -90 AND 3900
UNION ALL
-- A pod that tolerates a silent node stays on it, for all that its object says: the others of its gang wait for it in vain. It fell silent
-- as they began to wait, which they do for ten minutes or more, and not while they did.
SELECT DISTINCT k.death, k.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'fault' AS role
FROM links k
JOIN missed g ON g.death = k.death AND g.time - k.time BETWEEN 420000000000 AND 7200000000000
LEFT JOIN links back ON back.death = k.death AND back.via = 'node' AND back.signal = 'k8s.node.ready' AND back.time BETWEEN k.time AND g.time
WHERE k.signal IN ('k8s.node.silent', 'k8s.node.unreachable') AND k.via = 'node' AND k.state = 'lingering'
  AND k.steps_after IS NOT TRUE AND back.fact IS NULL
