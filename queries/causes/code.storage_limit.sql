-- cause: code.storage_limit
-- title: Local storage limit exceeded
-- rank: 51
-- level: established
-- needs: k8s.pod.evicted.storage_limit
-- summary: The kubelet evicted {pod} for using more local storage than its limit: {message}
-- advice: Raise the ephemeral-storage or emptyDir limit, or write checkpoints and caches elsewhere.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'asserted' AS edge, 'act' AS role
FROM links
WHERE signal = 'k8s.pod.evicted.storage_limit' AND via = 'pod' AND mode IN ('killed', 'lost')
