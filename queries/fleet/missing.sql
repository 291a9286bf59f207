-- title: What was missing most often
-- definition: Evidence that would have settled or could overturn a verdict, by how many incidents lacked it.
-- coverage: An incident counts once for each line.
-- chart: incidents
-- incidents: array_has(missing, {missing})
WITH lacking AS (
  SELECT unnest(missing) AS missing FROM incidents WHERE time >= {from} AND time < {to}
)
SELECT missing, count(*) AS incidents
FROM lacking
GROUP BY missing
ORDER BY incidents DESC, missing
LIMIT 15
