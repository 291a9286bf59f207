-- Instances that someone asked their cloud to stop or delete, and since when. What the cloud reports about them after
-- that is the result of the request, not its reason.
SELECT death, MIN(time) AS time
FROM links
WHERE via = 'pod' AND lag_s BETWEEN -5 AND 300
  AND signal IN ('cloud.instance_deleted_by_user', 'cloud.instance_stopped_by_user')
GROUP BY death
