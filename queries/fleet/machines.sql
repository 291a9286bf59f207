-- title: Machines that fail again and again
-- definition: Machines that were at fault themselves in two or more incidents of the window.
-- coverage: Counts incidents that a fault of the machine explains; faults that affected no run are on the machine's own page.
-- chart: incidents
-- incidents: array_has(faulty_machines, {machine})
WITH faulty AS (
  SELECT unnest(faulty_machines) AS machine, cause, time, gpu_hours_lost
  FROM incidents
  WHERE time >= {from} AND time < {to}
)
SELECT machine,
       count(*) AS incidents,
       array_to_string(array_sort(array_agg(DISTINCT cause)), ', ') AS causes,
       to_char(max(time), '%Y-%m-%d %H:%M:%SZ') AS last,
       round(sum(gpu_hours_lost), 2) AS gpu_hours_lost
FROM faulty
GROUP BY machine
HAVING count(*) >= 2
ORDER BY incidents DESC, machine
LIMIT 50
