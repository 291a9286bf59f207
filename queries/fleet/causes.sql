-- title: By cause
-- definition: Incidents and GPU-hours lost by the cause that was found, however sure the verdict is.
-- coverage: GPU-hours are sums over the incidents under "With known GPUs".
-- chart: gpu_hours_lost, incidents
-- incidents: cause = {cause}
SELECT cause,
       min(title) || CASE WHEN count(DISTINCT title) > 1 THEN ' (or similar)' ELSE '' END AS in_words,
       count(*) AS incidents,
       round(sum(gpu_hours_lost), 2) AS gpu_hours_lost,
       count(gpu_hours_lost) AS with_known_gpus
FROM incidents
WHERE time >= {from} AND time < {to}
GROUP BY cause
ORDER BY gpu_hours_lost DESC NULLS LAST, incidents DESC, cause
