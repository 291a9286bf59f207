-- title: How sure the verdicts are
-- definition: Incidents by the level of their verdict: established (records prove it), supported (records point to it), hypothesis (nothing contradicts it), unknown.
-- coverage: Counts what was explained: an incident of a run that was not explained yet has no level.
-- chart: incidents
-- incidents: level = {level}
SELECT level,
       count(*) AS incidents,
       round(100.0 * count(*) / sum(count(*)) OVER (), 1) AS percent
FROM incidents
WHERE time >= {from} AND time < {to}
GROUP BY level
ORDER BY CASE level WHEN 'established' THEN 1 WHEN 'supported' THEN 2 WHEN 'hypothesis' THEN 3 ELSE 4 END
