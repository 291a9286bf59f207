-- cause: dep.image_pull
-- title: The image could not be pulled
-- rank: 25
-- level: established
-- needs: k8s.container.image_pull_failed*, k8s.pod.sandbox_failed.image
-- summary: {pod} could not start because its image could not be pulled: {message}
-- summary_of: k8s.container.image_pull_failed.not_found: {pod} could not start because the registry does not have its image: {message}
-- summary_of: k8s.container.image_pull_failed.invalid_name: {pod} could not start because the name of its image is not valid: {message}
-- summary_of: k8s.container.image_pull_failed.denied: {pod} could not start because the registry denied access to its image, or does not have it: {message}
-- summary_of: k8s.container.image_pull_failed.rate_limited: {pod} could not start because the registry limits how often images are pulled: {message}
-- summary_of: k8s.container.image_pull_failed.platform: {pod} could not start because its image was not built for the platform of its node: {message}
-- summary_of: k8s.container.image_pull_failed.dns: {pod} could not start because the name of its registry could not be resolved: {message}
-- summary_of: k8s.container.image_pull_failed.unreachable: {pod} could not start because its registry could not be reached: {message}
-- summary_of: k8s.container.image_pull_failed.tls: {pod} could not start because a TLS connection to its registry could not be established: {message}
-- summary_of: k8s.container.image_pull_failed.kubelet_limit: {pod} could not start because its node had reached its limit on image pulls: {message}
-- summary_of: k8s.pod.sandbox_failed.image: {pod} could not start because the image of its sandbox (the pause image) could not be pulled: {message}
-- title_of: k8s.pod.sandbox_failed.image: The sandbox image could not be pulled
-- advice_of: k8s.pod.sandbox_failed.image: Check the sandbox image in the configuration of the container runtime on {node}, and whether its registry can be reached.
-- advice: Check the image name and tag, the registry, and the pull secret.
-- advice_of: k8s.container.image_pull_failed.not_found: Check the image name and tag: the registry has no such image.
-- advice_of: k8s.container.image_pull_failed.invalid_name: Correct the image's name in the pod template: upper case, spaces or a missing tag after a colon are common.
-- advice_of: k8s.container.image_pull_failed.denied: Check the image name, the pull secret, and whether its account may pull this image.
-- advice_of: k8s.container.image_pull_failed.rate_limited: Log in to the registry to pull, or pull through a mirror or cache; the limit resets by itself.
-- advice_of: k8s.container.image_pull_failed.platform: Build the image for the platform of the node, or select nodes of the image's platform.
-- advice_of: k8s.container.image_pull_failed.dns: Check the host name of the registry, and DNS on the node.
-- advice_of: k8s.container.image_pull_failed.unreachable: Check the network between the node and the registry, its proxy settings, and the registry itself.
-- advice_of: k8s.container.image_pull_failed.kubelet_limit: Wait, or raise registryPullQPS and registryBurst in the kubelet configuration of {node}.
-- advice_of: k8s.container.image_pull_failed.tls: Check the registry's certificate and whether it serves TLS at all, the certificate authorities that the node trusts, and the node's clock.
-- A full disk or a dead runtime of the node is told as a failed pull, too (dep.storage, node.runtime).
WITH failed AS (
  SELECT death, fact, record, signal, time FROM links
  WHERE signal LIKE 'k8s.container.image_pull_failed%' AND via = 'pod'
    -- A pod of which another container runs is not ready for it, and counts as such since then.
    AND (state = 'stuck_starting' OR death IN (SELECT death FROM links
      WHERE state = 'not_ready' AND via = 'pod' AND lag_s = 0 AND signal LIKE 'k8s.container.image_pull_failed%'))
    AND signal NOT IN ('k8s.container.image_pull_failed.no_space', 'k8s.container.image_pull_failed.runtime')
), elsewhere AS (
  SELECT DISTINCT death FROM links
  WHERE via = 'pod' AND signal IN ('k8s.container.image_pull_failed.no_space', 'k8s.container.image_pull_failed.runtime')
), why AS (
  -- Of one record the more exact word counts, and of several the last.
  SELECT f.death, f.fact, f.record, f.time, f.time = MAX(f.time) OVER (PARTITION BY f.death) AS is_last FROM failed f
  LEFT JOIN failed e ON e.death = f.death AND e.record = f.record AND f.signal = 'k8s.container.image_pull_failed.unreachable'
    AND e.signal IN ('k8s.container.image_pull_failed.dns', 'k8s.container.image_pull_failed.tls', 'k8s.container.image_pull_failed.rate_limited')
  WHERE f.signal <> 'k8s.container.image_pull_failed' AND e.fact IS NULL
)
SELECT i.death, i.fact AS cause, CAST(NULL AS BIGINT) AS effect,
  -- That it failed, without why, says nothing of the image, the registry or the node.
  CASE WHEN e.death IS NULL AND COALESCE(own.is_last, known.death IS NOT NULL) THEN 'asserted'
       -- Why is known of another that was made of the same template.
       WHEN e.death IS NULL AND s.run IS NOT NULL THEN 'inferred' ELSE 'guess' END AS edge, 'fault' AS role
FROM failed i
LEFT JOIN elsewhere e ON e.death = i.death
LEFT JOIN deaths d ON d.death = i.death
LEFT JOIN (SELECT DISTINCT o.run, o.attempt FROM why JOIN deaths o ON o.death = why.death) s ON s.run = d.run AND s.attempt = d.attempt
LEFT JOIN (SELECT DISTINCT death FROM why) known ON known.death = i.death
LEFT JOIN why own ON own.death = i.death AND own.fact = i.fact
LEFT JOIN why w ON w.death = i.death AND w.record = i.record AND w.fact <> i.fact
WHERE own.fact IS NOT NULL OR i.signal = 'k8s.container.image_pull_failed' AND w.fact IS NULL
UNION ALL
-- That a pull failed is told over and over, and why only once.
SELECT i.death, w.fact AS cause, i.fact AS effect, 'asserted' AS edge, 'fault' AS role
FROM failed i
JOIN why w ON w.death = i.death AND w.record <> i.record AND w.is_last
WHERE i.signal = 'k8s.container.image_pull_failed'
UNION ALL
-- The image of the sandbox is the cluster's, not the pod's; without it nothing starts on the node.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'asserted' AS edge, 'fault' AS role
FROM links
WHERE signal = 'k8s.pod.sandbox_failed.image' AND via = 'pod' AND state = 'stuck_starting'
UNION ALL
-- A deadline only ends the wait of a pod that never started.
SELECT d.death, u.fact AS cause, d.fact AS effect, 'inferred' AS edge, 'fault' AS role
FROM waited_out d
JOIN links u ON u.death = d.death AND u.via = 'pod' AND u.signal LIKE 'k8s.container.image_pull_failed%'
