-- title: Time between failures by size of run
-- definition: Hours that runs of a size were alive in the window, divided by the incidents that affected them in the window. A run counts from its creation to the end of its last pod, or to the last record of its cluster; one that is pending does not count. All of its pods over its life are its size.
-- coverage: Rests on the runs whose start is known. A size without incidents has no time between failures.
-- incidents: run_id IN (SELECT run_id FROM runs WHERE coalesce(state, '') <> 'pending' AND start < {to} AND least(coalesce("end", known_until, {to}), {to}) >= {from} AND CASE WHEN pods <= 1 THEN '1' WHEN pods <= 8 THEN '2 to 8' WHEN pods <= 32 THEN '9 to 32' WHEN pods <= 128 THEN '33 to 128' WHEN pods <= 1024 THEN '129 to 1024' ELSE 'more than 1024' END = {pods_of_the_run})
WITH known AS (
  SELECT run_id, pods, start, least(coalesce("end", known_until, {to}), {to}) AS until
  FROM runs
  WHERE coalesce(state, '') <> 'pending'
), lived AS (
  SELECT run_id, pods,
         (date_part('epoch', greatest(until, start, {from})) - date_part('epoch', greatest(start, {from}))) / 3600 AS hours
  FROM known
  WHERE start < {to} AND until >= {from}
), failed AS (
  SELECT run_id, count(*) AS failures FROM incidents WHERE time >= {from} AND time < {to} GROUP BY run_id
)
SELECT CASE WHEN pods <= 1 THEN '1' WHEN pods <= 8 THEN '2 to 8' WHEN pods <= 32 THEN '9 to 32'
            WHEN pods <= 128 THEN '33 to 128' WHEN pods <= 1024 THEN '129 to 1024' ELSE 'more than 1024' END AS pods_of_the_run,
       count(*) AS runs,
       round(sum(hours), 2) AS run_hours,
       coalesce(sum(failures), 0) AS incidents,
       round(sum(hours) / nullif(sum(failures), 0), 2) AS hours_between_failures
FROM lived
LEFT JOIN failed ON failed.run_id = lived.run_id
GROUP BY 1
ORDER BY min(pods)
