-- cause: cloud.capacity_exhausted
-- title: The cloud is out of capacity for this machine type
-- rank: 34
-- level: supported
-- needs: autoscaler.scale_up.stockout
-- summary: {pod} needs machines that the cloud has no capacity for: {message}
-- advice: Try another zone, region or machine type, or reserve capacity.
SELECT death, fact AS cause, effect, edge, 'fault' AS role
FROM refused_by_cloud
WHERE signal = 'autoscaler.scale_up.stockout'
