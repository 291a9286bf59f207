-- When the node of a pod was first found to be silent: at the earliest 40 s after its last status.
SELECT death, MIN(time) AS time FROM links
WHERE via = 'node' AND (signal = 'k8s.node.silent' OR signal = 'k8s.node.unreachable' AND COALESCE(detail, '') LIKE '%/unreachable')
GROUP BY death
