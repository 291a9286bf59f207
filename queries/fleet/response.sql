-- title: Time to detect and to restart
-- definition: Seconds from the first death of an incident to the first record that shows a reaction to it (the controller reported the failure or replaced, restarted or deleted pods, an alert fired, the run was deleted or suspended), and to the first start of a pod of the same run that was created since or that had died. Half of the known times are at most the median, nine in ten at most the 90th percentile.
-- coverage: Over incidents of the window in which a pod died and that the run's own owner did not cause; "Known" counts those with such a record. Of the others it is not known: there may have been no reaction, or no record of it. A run that was not started again has no time to restart.
-- incidents: died IS NOT NULL AND actor_is_owner IS NOT TRUE
WITH told AS (
  SELECT date_part('epoch', detected) - date_part('epoch', died) AS to_detect,
         date_part('epoch', restarted) - date_part('epoch', died) AS to_restart
  FROM incidents
  WHERE time >= {from} AND time < {to} AND died IS NOT NULL AND actor_is_owner IS NOT TRUE
), measured AS (
  SELECT 'detect' AS time_to, to_detect AS seconds FROM told
  UNION ALL
  SELECT 'restart' AS time_to, to_restart AS seconds FROM told
), ranked AS (
  SELECT time_to, seconds,
         row_number() OVER (PARTITION BY time_to ORDER BY seconds NULLS LAST) AS place,
         count(seconds) OVER (PARTITION BY time_to) AS known
  FROM measured
)
SELECT time_to,
       count(*) AS incidents,
       count(seconds) AS known,
       round(min(seconds) FILTER (WHERE place >= 0.5 * known), 1) AS median_seconds,
       round(min(seconds) FILTER (WHERE place >= 0.9 * known), 1) AS percentile_90_seconds,
       round(max(seconds), 1) AS longest_seconds
FROM ranked
GROUP BY time_to
ORDER BY time_to
