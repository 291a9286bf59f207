-- title: By namespace and owner
-- definition: Incidents and GPU-hours lost by the namespace and the owner of the run that they affected.
-- coverage: The owner is known where an audit record shows who created the run, or a label names them.
-- chart: gpu_hours_lost, incidents
-- incidents: (namespace IS NOT DISTINCT FROM {namespace}) AND (owner IS NOT DISTINCT FROM {owner})
SELECT namespace,
       owner,
       count(*) AS incidents,
       round(sum(gpu_hours_lost), 2) AS gpu_hours_lost
FROM incidents
WHERE time >= {from} AND time < {to}
GROUP BY namespace, owner
ORDER BY gpu_hours_lost DESC NULLS LAST, incidents DESC, namespace, owner
LIMIT 50
