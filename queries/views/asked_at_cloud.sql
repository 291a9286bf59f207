-- Instances whose end somebody asked their cloud for, and since when: what the cloud says of them later ended nothing.
SELECT death, MIN(time) AS time
FROM links
WHERE via = 'pod' AND lag_s BETWEEN -5 AND 300
  AND signal IN ('cloud.instance_deleted_by_user', 'cloud.instance_stopped_by_user')
GROUP BY death
