-- title: In all
-- definition: Incidents whose root cause happened in the window, including those that runs survived, the runs and experiments they affected, and the GPU-hours lost: GPUs of the pods that died times how long these had run since the last known checkpoint.
-- coverage: GPU-hours are known only of incidents whose pods' GPUs are known; "With known GPUs" counts those.
-- incidents: true
SELECT count(*) AS incidents,
       count(DISTINCT run_id) AS runs,
       count(DISTINCT experiment) AS experiments,
       round(sum(gpu_hours_lost), 2) AS gpu_hours_lost,
       count(gpu_hours_lost) AS with_known_gpus,
       count(*) FILTER (WHERE level = 'unknown') AS without_a_cause
FROM incidents
WHERE time >= {from} AND time < {to}
