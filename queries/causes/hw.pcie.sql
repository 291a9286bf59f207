-- cause: hw.pcie
-- title: A PCIe link failed
-- rank: 79
-- level: supported
-- needs: kernel.pcie_error.fatal
-- alone: kernel.pcie_error.fatal
-- overturned_by: kernel: what the kernel and the machine's controller logged
-- summary: A PCIe link of {node} failed while {pod} {was} on it: {message}
-- advice: Drain the node, and reseat or replace the card or riser named above.
--
-- A GPU or network card that is gone within the minute is gone because its link is: the driver says so last.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'fault' AS role
FROM links
WHERE signal IN ('kernel.pcie_error.fatal') AND via IN ('node', 'pod')
  AND (mode = 'lost' OR COALESCE(exit_code, 1) <> 0 OR mode = 'killed')
  -- What somebody asked to end, for a reason of theirs, did not end of it.
  AND (mode <> 'killed' OR death NOT IN (SELECT death FROM reactions WHERE person))
  AND (state IN ('died', 'restarted', 'crash_loop') AND lag_s BETWEEN -120 AND 900
       OR state = 'lingering' AND lag_s BETWEEN 0 AND 7200)
  AND death NOT IN (SELECT death FROM own_reason)
UNION ALL
SELECT u.death, u.fact AS cause, m.fact AS effect,
  CASE WHEN m.person THEN 'guess' ELSE 'inferred' END AS edge, 'fault' AS role
FROM links u
JOIN reactions m ON m.death = u.death AND m.fact <> u.fact AND m.time >= u.time - 5000000000
WHERE u.signal IN ('kernel.pcie_error.fatal') AND u.via IN ('node', 'pod') AND u.lag_s BETWEEN -120 AND 900
UNION ALL
-- Elsewhere it belongs to the story.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'context' AS edge, 'state' AS role
FROM links
WHERE signal IN ('kernel.pcie_error') AND via = 'node' AND lag_s BETWEEN -120 AND 3600
UNION ALL
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'state' AS role
FROM stuck_in_driver
WHERE signal = 'kernel.pcie_error.fatal'
UNION ALL
SELECT u.death, u.fact AS cause, g.fact AS effect, 'inferred' AS edge, 'fault' AS role
FROM links u
JOIN links g ON g.death = u.death AND g.machine = u.machine AND g.fact <> u.fact
  AND ((g.signal IN ('gpu.missing', 'gpu.hardware_error', 'gpu.firmware_error', 'gpu.unhealthy') OR g.signal LIKE 'nic.error%' OR g.signal LIKE 'nic.link_lost.%') AND g.time BETWEEN u.time AND u.time + 60000000000
    -- Between which two looks of the device plugin it was, its node does not say, and it says so with its next report.
    OR g.signal = 'gpu.allocatable_dropped' AND g.time BETWEEN u.time - 900000000000 AND u.time + 300000000000)
WHERE u.signal = 'kernel.pcie_error.fatal' AND u.via IN ('node', 'pod')
