-- cause: cloud.outage
-- title: The cloud had an outage
-- rank: 40
-- level: supported
-- needs: cloud.service_outage.*
-- overturned_by: audit: whether someone stopped the node
-- overturned_by: kernel: why the machine stopped responding
-- summary: The cloud reported an outage in the zone or region of {node}, and the node stopped responding; {pod} {was} on it.
-- advice: Follow the cloud's status page; run in another zone or region until the outage is over.
--
-- A notice is about a region or zone and names no machine. It explains that a machine fell
-- silent, nothing else, and only one that fell silent after the outage began. The very zone,
-- or several machines of the region at once, whoever's pods were on them, make it likely; one
-- machine of a whole region is silent for other reasons most of the time, and stays with what
-- is known of itself.
WITH silence AS (
  SELECT DISTINCT death, fact, time, time_hi, witnesses FROM links
  WHERE signal IN ('k8s.node.not_ready', 'k8s.node.silent', 'k8s.pod.node_lost', 'k8s.pod.evicted.taint',
                   'slurm.node.not_responding', 'slurm.node.down')
    AND mode IN ('killed', 'lost')
),
hit AS (
  SELECT u.death, u.fact, u.via, u.signal, u.node, s.fact AS effect, s.witnesses
  FROM links u
  JOIN silence s ON s.death = u.death AND s.time >= u.time - 300000000000
  LEFT JOIN silence before ON before.death = u.death AND before.time_hi < u.time - 300000000000
  WHERE u.signal IN ('cloud.service_outage.machines', 'cloud.service_outage.network', 'cloud.service_outage.disks')
    AND u.via IN ('region', 'zone') AND before.fact IS NULL
),
likely AS (
  SELECT DISTINCT death, fact FROM hit
  WHERE (via = 'zone' AND signal = 'cloud.service_outage.machines') OR witnesses > 1
     OR fact IN (SELECT fact FROM hit GROUP BY fact HAVING COUNT(DISTINCT node) > 1)
),
-- What brought the silence about brought about all that tells of it.
sure AS (
  SELECT h.death, h.fact, h.effect FROM hit h
  JOIN likely l ON l.death = h.death AND l.fact = h.fact
)
SELECT death, fact AS cause, effect, 'inferred' AS edge, 'fault' AS role
FROM sure
UNION ALL
SELECT DISTINCT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'fault' AS role
FROM sure
UNION ALL
SELECT DISTINCT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'guess' AS edge, 'fault' AS role
FROM hit WHERE death NOT IN (SELECT death FROM sure)
UNION ALL
-- The control plane is a service of the cloud, too; which of its parts did not answer is told better by itself.
SELECT u.death, u.fact AS cause, CAST(NULL AS BIGINT) AS effect, 'guess' AS edge, 'fault' AS role
FROM links u
JOIN links c ON c.death = u.death AND c.signal = 'k8s.workload.create_failed.control_plane' AND c.via = 'workload'
  AND c.time >= u.time - 300000000000
WHERE u.signal = 'cloud.service_outage.kubernetes' AND u.via IN ('region', 'zone') AND u.state = 'never_created'
