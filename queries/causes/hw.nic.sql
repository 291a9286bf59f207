-- cause: hw.nic
-- title: A network card or its link failed
-- title_of: nic.error.link: A network link went down
-- title_of: nic.error.flap, nic.link_lost.briefly: A network link flapped
-- title_of: nic.link_lost.by_several: Network links of several nodes failed at one time
-- title_of: nic.error.cable: A network cable or transceiver failed
-- title_of: nic.error.card: A network card failed
-- title_of: nic.error.queue: A connection of a network card failed
-- rank: 81
-- level: supported
-- needs: nic.error
-- alone: nic.error.*
-- overturned_by: metrics: link state and errors of the network cards
-- overturned_by: kernel: what the kernel logged about the link
-- summary: A network link of {node} failed while {pod} {was} on it: {message}
-- summary_of: nic.error.link: A network link of {node} went down while {pod} {was} on it: {message}
-- summary_of: nic.error.flap, nic.link_lost.briefly: A network link of {node} went down and came up again while {pod} {was} on it: {message}
-- summary_of: nic.link_lost.by_several: A network link of {node} went down while {pod} {was} on it, and one of another node within the same minute, so what both are connected to may have failed: {message}
-- summary_of: nic.error.cable: The cable or transceiver of a network card in {node} failed while {pod} {was} on it: {message}
-- summary_of: nic.error.card: A network card in {node} failed while {pod} {was} on it: {message}
-- summary_of: nic.error.queue: A network card in {node} ended a connection of {pod} with a fatal error: {message}
-- advice_of: nic.error.link: Drain the node, and check the cable, the transceiver and the port of the switch, in this order.
-- advice_of: nic.error.flap, nic.link_lost.briefly: Count how often the link flaps. Drain the node if it does so again, and check the cable, the transceiver and the port of the switch; one flap can be waited out with a longer NCCL_IB_TIMEOUT and more NCCL_IB_RETRY_CNT.
-- advice_of: nic.link_lost.by_several: Look first at the switch that these nodes share, its power and its log, then at their cables.
-- advice_of: nic.error.cable: Drain the node, and replace the cable or the transceiver that the message is about.
-- advice_of: nic.error.card: Drain the node, and have the card reset or replaced, or the whole machine if it is a cloud's; check the versions of its driver and firmware. No cable does that.
-- advice_of: nic.error.queue: Compare with the kernel's log of {node}, and with what the other end of the connection logged: its end may have been first.
-- advice: Drain the node, and check the cable, the transceiver and the switch port.
-- A link that is down ends programs by what they write of it, or by what their peers do; rarely by a crash. One that was
-- up again a minute later has ended what it ends within some minutes, turns no number into NaN, and takes no GPU away. One
-- that somebody took down has not failed (ops.config_change). Links of two machines that fail within a minute, where neither machine goes down, may
-- have failed with what they share: which switch that is, no record of hosts tells.
WITH lost AS (SELECT DISTINCT death, record, fact, machine, time FROM links WHERE signal = 'nic.link_lost.by_several'),
downs AS (
  SELECT DISTINCT machine, time FROM links
  WHERE signal IN ('node.rebooting', 'node.powering_off', 'k8s.node.shutdown', 'k8s.node.rebooted', 'kernel.panic', 'node.power_fault')
),
several AS (
  SELECT DISTINCT a.death, a.record
  FROM lost a
  JOIN lost b ON b.machine <> a.machine AND b.time BETWEEN a.time - 60000000000 AND a.time + 60000000000
  LEFT JOIN downs o ON (o.machine = a.machine OR o.machine = b.machine) AND o.time BETWEEN a.time - 180000000000 AND a.time + 60000000000
  WHERE o.machine IS NULL
),
-- Up again before the end, and within a minute.
flapped AS (
  SELECT DISTINCT d.death, d.record
  FROM links d
  JOIN links u ON u.death = d.death AND u.machine = d.machine AND u.signal = 'nic.link_up'
    AND u.time BETWEEN d.time AND d.time + 60000000000 AND (u.lag_s >= 0 OR u.state IN ('stalled', 'slow', 'lingering'))
  WHERE d.signal = 'nic.link_lost.briefly'
),
kinds AS (SELECT DISTINCT death, record FROM links WHERE signal LIKE 'nic.error.%'),
-- Each record once, as what it tells most closely.
nics AS (
  SELECT n.* FROM links n
  LEFT JOIN kinds k ON k.death = n.death AND k.record = n.record
  LEFT JOIN several s ON s.death = n.death AND s.record = n.record
  LEFT JOIN flapped f ON f.death = n.death AND f.record = n.record
  WHERE n.signal = 'nic.link_lost.by_several' AND s.record IS NOT NULL
    OR n.signal = 'nic.link_lost.briefly' AND s.record IS NULL AND f.record IS NOT NULL
    OR n.signal LIKE 'nic.error.%' AND s.record IS NULL AND f.record IS NULL
    OR n.signal = 'nic.error' AND s.record IS NULL AND f.record IS NULL AND k.record IS NULL
),
taken_down AS (
  SELECT DISTINCT e.death, e.fact, s.fact AS command FROM nics e
  JOIN links s ON s.death = e.death AND s.machine = e.machine AND s.signal = 'node.link_set_down'
    AND e.time - s.time BETWEEN -2000000000 AND 10000000000
)
SELECT e.death, e.fact AS cause, CAST(NULL AS BIGINT) AS effect,
  CASE WHEN e.signal = 'nic.error.queue' OR e.exit_code = 139 OR back.death IS NOT NULL OR own.death IS NOT NULL THEN 'guess' ELSE 'inferred' END AS edge, 'fault' AS role
FROM nics e
-- One that was up again a minute later, and after which steps were made, was got over.
LEFT JOIN (SELECT DISTINCT d.death, d.fact FROM nics d
           JOIN links u ON u.death = d.death AND u.machine = d.machine AND u.signal = 'nic.link_up'
             AND u.time BETWEEN d.time AND d.time + 60000000000
           WHERE d.steps_after) past ON past.death = e.death AND past.fact = e.fact
-- One that was up again ends a program by what that writes of its network, if at all; where no log is known, it may have.
LEFT JOIN (SELECT DISTINCT d.death, d.fact FROM nics d
           JOIN links u ON u.death = d.death AND u.machine = d.machine AND u.signal = 'nic.link_up'
             AND u.time BETWEEN d.time AND d.time + 60000000000
           LEFT JOIN links w ON w.death = d.death AND (w.via = 'pod' OR w.via = 'gang' AND w.signal = 'nccl.timeout') AND w.lag_s BETWEEN -5 AND 900
             AND (w.signal LIKE 'nccl.%' OR w.signal LIKE 'nic.%' OR w.signal LIKE 'ucx.%' OR w.signal LIKE 'gloo.%' OR w.signal LIKE 'mpi.%')
           WHERE w.fact IS NULL AND NOT (d.steps_after IS NULL AND COALESCE(d.desired, 1) > 1 AND COALESCE(d.exit_code, 1) NOT IN (137, 143))) unsaid
  ON unsaid.death = e.death AND unsaid.fact = e.fact
-- Who may lock no memory cannot use a card that is well.
LEFT JOIN (SELECT DISTINCT death FROM links WHERE signal = 'log.limits' AND via = 'pod' AND lag_s BETWEEN -5 AND 60) own ON own.death = e.death
LEFT JOIN (SELECT DISTINCT d.death, d.fact FROM nics d
           JOIN links u ON u.death = d.death AND u.machine = d.machine AND u.signal = 'nic.link_up'
             AND u.time BETWEEN d.time AND d.time + 60000000000
           LEFT JOIN links n ON n.death = d.death AND n.via = 'pod' AND n.lag_s BETWEEN -5 AND 60
             AND n.signal IN ('log.nan_loss', 'log.wrong_result', 'log.wrong_result.persistent')
           LEFT JOIN links g ON g.death = d.death AND g.machine = d.machine AND g.time > u.time AND g.lag_s BETWEEN -5 AND 60
             AND g.signal IN ('gpu.missing', 'gpu.hardware_error', 'gpu.firmware_error', 'kernel.pcie_error.fatal')
           LEFT JOIN links w ON w.death = d.death AND w.via = 'pod' AND w.lag_s BETWEEN -5 AND 60
             AND (w.signal LIKE 'nccl.%' OR w.signal LIKE 'nic.%' OR w.signal LIKE 'ucx.%')
           WHERE d.lag_s > 180 OR d.mode = 'lost' OR n.fact IS NOT NULL OR g.fact IS NOT NULL
               -- What was down for seconds only was tried again until it was up.
               OR u.time <= d.time + 15000000000 AND w.fact IS NULL) back
  ON back.death = e.death AND back.fact = e.fact
WHERE e.via IN ('node', 'pod')
  AND (e.mode = 'lost' OR COALESCE(e.exit_code, 1) <> 0 OR e.mode = 'killed') AND COALESCE(e.reason, '') <> 'OOMKilled' AND e.state IN ('died', 'restarted', 'crash_loop')
  -- What somebody asked to end, for a reason of theirs, did not end of it.
  AND (e.mode <> 'killed' OR e.death NOT IN (SELECT death FROM reactions WHERE person))
  AND e.lag_s BETWEEN -120 AND 900 AND past.fact IS NULL AND unsaid.fact IS NULL
  AND e.death NOT IN (SELECT death FROM own_reason) AND e.fact NOT IN (SELECT fact FROM taken_down)
UNION ALL
SELECT u.death, u.fact AS cause, m.fact AS effect,
  CASE WHEN m.person OR up.death IS NOT NULL THEN 'guess' ELSE 'inferred' END AS edge, 'fault' AS role
FROM nics u
JOIN reactions m ON m.death = u.death AND m.fact <> u.fact AND m.time >= u.time - 5000000000
LEFT JOIN (SELECT DISTINCT d.death, d.fact FROM nics d
           JOIN links u ON u.death = d.death AND u.machine = d.machine AND u.signal = 'nic.link_up'
             AND u.time BETWEEN d.time AND d.time + 60000000000) up
  ON up.death = u.death AND up.fact = u.fact
WHERE u.via IN ('node', 'pod') AND u.lag_s BETWEEN -120 AND 900
  AND u.fact NOT IN (SELECT fact FROM taken_down)
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'context' AS edge, 'state' AS role
FROM links
WHERE signal IN ('metric.nic_errors', 'alert.node_network') AND via = 'node' AND lag_s BETWEEN -120 AND 900
UNION ALL
SELECT DISTINCT s.death, s.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'state' AS role
FROM stuck_in_driver s
JOIN nics k ON k.death = s.death AND k.fact = s.fact AND k.via = 'node'
UNION ALL
-- A program that hangs since its network failed is ended by its time limit, or by whoever notices; a link that was up
-- again within a minute may have been borne.
SELECT DISTINCT o.death, o.fact AS cause, o.effect, CASE WHEN up.death IS NOT NULL THEN 'guess' ELSE o.edge END AS edge, 'fault' AS role
FROM outwaited o
JOIN nics n ON n.death = o.stood AND n.fact = o.fact
LEFT JOIN (SELECT DISTINCT death, time FROM links WHERE via = 'node' AND signal = 'nic.link_up') up
  ON up.death = o.stood AND up.time BETWEEN o.time AND o.time + 60000000000
UNION ALL
-- A rank that another one lost touch with just after its link had failed, and that was taken away with what was left.
SELECT DISTINCT k.death, k.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'state' AS role
FROM nics k
JOIN cut_off c ON c.death = k.death AND c.time - k.time BETWEEN -5000000000 AND 60000000000
LEFT JOIN (SELECT DISTINCT death, time FROM links WHERE via = 'node' AND signal = 'nic.link_up') up
  ON up.death = k.death AND up.time BETWEEN k.time AND c.time
WHERE k.via = 'node' AND k.steps_after IS NOT TRUE AND k.mode = 'killed' AND up.death IS NULL
  AND k.death NOT IN (SELECT death FROM own_reason)
UNION ALL
-- What the kernel says of a link the program's own library then complains of.
SELECT k.death, k.fact AS cause, p.fact AS effect, 'inferred' AS edge, 'fault' AS role
FROM nics k
JOIN nics p ON p.death = k.death AND p.via = 'pod' AND p.record <> k.record
  AND p.time_hi >= k.time - 5000000000 AND p.time - k.time <= 60000000000
WHERE k.via = 'node' AND k.lag_s BETWEEN -5 AND 900
