-- title: By day
-- definition: Incidents and GPU-hours lost by the day (UTC) of the root cause; days without incidents are left out.
-- coverage: GPU-hours are sums over the incidents whose pods' GPUs are known.
-- chart: gpu_hours_lost, incidents
-- incidents: to_char(time, '%Y-%m-%d') = {day}
SELECT to_char(time, '%Y-%m-%d') AS day,
       count(*) AS incidents,
       round(sum(gpu_hours_lost), 2) AS gpu_hours_lost
FROM incidents
WHERE time >= {from} AND time < {to}
GROUP BY 1
ORDER BY 1
