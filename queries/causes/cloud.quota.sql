-- cause: cloud.quota
-- title: The cloud account has reached its quota
-- rank: 33
-- level: supported
-- needs: autoscaler.scale_up.cloud_quota
-- summary: {pod} needs machines that the cloud account's quota does not allow: {message}
-- advice: Request more quota from the cloud, or release machines that are not needed.
SELECT death, fact AS cause, effect, edge, 'fault' AS role
FROM refused_by_cloud
WHERE signal = 'autoscaler.scale_up.cloud_quota'
