-- title: By node pool and GPU
-- definition: Incidents and GPU-hours lost by the node pool and the model of GPU of the first machine that each incident names: that of the root cause, else that of the first pod that died.
-- coverage: Known where the node's labels were read; incidents without a machine, or on one whose labels are not known, are in the row of unknown ones.
-- chart: gpu_hours_lost, incidents
-- incidents: coalesce(machines[1], '') IN (SELECT name FROM objects WHERE kind = 'Node' AND valid_to IS NULL GROUP BY name HAVING (max(coalesce(labels ->> 'cloud.google.com/gke-nodepool', labels ->> 'eks.amazonaws.com/nodegroup', labels ->> 'kubernetes.azure.com/agentpool', labels ->> 'karpenter.sh/nodepool')) IS NOT DISTINCT FROM {node_pool}) AND (max(coalesce(labels ->> 'nvidia.com/gpu.product', labels ->> 'cloud.google.com/gke-accelerator', labels ->> 'node.kubernetes.io/instance-type')) IS NOT DISTINCT FROM {gpu_or_machine_type})) OR {node_pool} IS NULL AND {gpu_or_machine_type} IS NULL AND coalesce(machines[1], '') NOT IN (SELECT name FROM objects WHERE kind = 'Node' AND valid_to IS NULL GROUP BY name)
WITH nodes AS (
  SELECT name,
         max(coalesce(labels ->> 'cloud.google.com/gke-nodepool', labels ->> 'eks.amazonaws.com/nodegroup',
                      labels ->> 'kubernetes.azure.com/agentpool', labels ->> 'karpenter.sh/nodepool')) AS pool,
         max(coalesce(labels ->> 'nvidia.com/gpu.product', labels ->> 'cloud.google.com/gke-accelerator',
                      labels ->> 'node.kubernetes.io/instance-type')) AS gpu
  FROM objects
  WHERE kind = 'Node' AND valid_to IS NULL
  GROUP BY name
)
SELECT nodes.pool AS node_pool,
       nodes.gpu AS gpu_or_machine_type,
       count(*) AS incidents,
       round(sum(gpu_hours_lost), 2) AS gpu_hours_lost
FROM incidents
LEFT JOIN nodes ON nodes.name = incidents.machines[1]
WHERE time >= {from} AND time < {to}
GROUP BY nodes.pool, nodes.gpu
ORDER BY gpu_hours_lost DESC NULLS LAST, incidents DESC, nodes.pool, nodes.gpu
LIMIT 50
