//! Three runs of an hour ago, one in each cloud, and what each cloud says of it.

use serde_json::{Value, json};

use super::server::{ReceivedRequest, Reply};

const SUBSCRIPTION: &str = "0a0a0a0a-1111-2222-3333-444444444444";

/// RFC 3339 of so many seconds ago. Clouds forget, so records must be young.
pub(super) fn ago(seconds: i64) -> String {
    let now = i64::try_from(std::time::UNIX_EPOCH.elapsed().unwrap().as_secs()).unwrap();
    whathappened_model::time::rfc3339((now - seconds) * 1_000_000_000)
}

/// Seconds since 1970, so many seconds ago.
fn epoch(seconds: i64) -> f64 {
    let now = std::time::UNIX_EPOCH.elapsed().unwrap().as_secs_f64();
    #[expect(clippy::cast_precision_loss, reason = "some hours")]
    let ago = seconds as f64;
    (now - ago).floor()
}

/// A job of one pod whose node falls silent an hour ago, by the cluster's records.
fn run(name: &str, node: &str, provider: &str) -> Vec<Value> {
    let pod = format!("{name}-0");
    let (job_uid, pod_uid) = (format!("uid-{name}"), format!("uid-{pod}"));
    let node_of = |version: &str, ready: &str, since: &str, taints: Value| {
        json!({"apiVersion": "v1", "kind": "Node",
            "metadata": {"name": node, "uid": format!("uid-{node}"), "creationTimestamp": ago(90_000), "resourceVersion": version},
            "spec": {"providerID": provider, "taints": taints},
            "status": {"allocatable": {"nvidia.com/gpu": "8"}, "conditions": [{"type": "Ready", "status": ready,
                "reason": if ready == "True" { "KubeletReady" } else { "NodeStatusUnknown" }, "message": "", "lastTransitionTime": since}]}})
    };
    let unreachable = json!([{"key": "node.kubernetes.io/unreachable", "effect": "NoExecute", "timeAdded": ago(3550)}]);
    vec![
        json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "namespace": "train", "uid": job_uid, "creationTimestamp": ago(9000)},
            "spec": {"parallelism": 1, "completions": 1, "backoffLimit": 0},
            "status": {"conditions": [{"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded", "message": "Job has reached the specified backoff limit", "lastTransitionTime": ago(3240)}]}}),
        json!({"type": "ADDED", "object": node_of("70", "True", &ago(90_000), json!([]))}),
        json!({"type": "MODIFIED", "object": node_of("80", "Unknown", &ago(3550), unreachable)}),
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": pod, "namespace": "train", "uid": pod_uid, "creationTimestamp": ago(8990),
                "deletionTimestamp": ago(3220), "deletionGracePeriodSeconds": 30, "labels": {"batch.kubernetes.io/job-name": name},
                "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": name, "uid": job_uid, "controller": true}]},
            "spec": {"nodeName": node, "restartPolicy": "Never", "containers": [{"name": "trainer", "image": "registry.lab/train:7"}]},
            "status": {"phase": "Running", "startTime": ago(8990), "conditions": [
                {"type": "DisruptionTarget", "status": "True", "reason": "DeletionByTaintManager", "message": "Taint manager: deleting due to NoExecute taint", "lastTransitionTime": ago(3250)}]}}),
    ]
}

pub(super) const GKE: &str = "gke-lab-gpu-1a2b3c4d-x1y2";
pub(super) const EC2: &str = "i-0a1b2c3d4e5f60711";
const VM: &str =
    "providers/Microsoft.Compute/virtualMachineScaleSets/aks-gpu-24680135-vmss/virtualMachines/3";

/// What the cluster told of all three, one record a line.
pub(super) fn cluster() -> String {
    let azure =
        format!("azure:///subscriptions/{SUBSCRIPTION}/resourceGroups/MC_rg_lab_westeurope/{VM}");
    let all = [
        run("on-gke", GKE, &format!("gce://lab/us-central1-a/{GKE}")),
        run(
            "on-eks",
            "ip-10-0-0-4.us-west-2.compute.internal",
            &format!("aws:///us-west-2b/{EC2}"),
        ),
        run("on-aks", "aks-gpu-24680135-vmss000003", &azure),
    ];
    all.iter().flatten().map(|one| format!("{one}\n")).collect()
}

fn ok(body: &Value) -> Reply {
    (200, String::new(), body.to_string())
}

/// Google: the machine was preempted. An empty page with a token comes first.
pub(super) fn google(asked: &ReceivedRequest) -> Reply {
    if !asked.target.starts_with("/v2/entries:list") {
        return ok(&json!({"kind": "compute#instanceAggregatedList", "items": {}}));
    }
    let body: Value = serde_json::from_str(&asked.body).unwrap();
    let filter = body["filter"].as_str().unwrap();
    if body.get("pageToken").is_none() {
        return ok(&json!({"nextPageToken": "next"}));
    }
    if !filter.contains("system_event") || !filter.contains(GKE) {
        return ok(&json!({}));
    }
    ok(&json!({"entries": [{
        "logName": "projects/lab/logs/cloudaudit.googleapis.com%2Fsystem_event", "insertId": "sys-1", "timestamp": ago(3605), "severity": "INFO",
        "resource": {"type": "gce_instance", "labels": {"project_id": "lab", "zone": "us-central1-a", "instance_id": "77"}},
        "operation": {"id": "systemevent-1", "first": true, "last": true},
        "protoPayload": {"@type": "type.googleapis.com/google.cloud.audit.AuditLog", "serviceName": "compute.googleapis.com",
            "methodName": "compute.instances.preempted", "resourceName": format!("projects/lab/zones/us-central1-a/instances/{GKE}"),
            "authenticationInfo": {"principalEmail": "system@google.com"}, "status": {"message": "Instance was preempted."}}}]}))
}

/// AWS: the spot machine was taken back. The first two of `lookups` are throttled.
pub(super) fn amazon(asked: &ReceivedRequest, lookups: usize) -> Reply {
    let xml = |body: &str| {
        (
            200,
            String::new(),
            format!("<?xml version=\"1.0\"?>\n{body}"),
        )
    };
    match asked.action() {
        "GetCallerIdentity" => xml(
            "<GetCallerIdentityResponse><GetCallerIdentityResult><Arn>arn:aws:iam::1:user/ada</Arn><UserId>U</UserId><Account>111122223333</Account></GetCallerIdentityResult></GetCallerIdentityResponse>",
        ),
        "DescribeInstances" => {
            xml("<DescribeInstancesResponse><reservationSet/></DescribeInstancesResponse>")
        }
        "DescribeInstanceStatus" => xml(
            "<DescribeInstanceStatusResponse><instanceStatusSet/></DescribeInstanceStatusResponse>",
        ),
        "DescribeSpotInstanceRequests" => xml(
            "<DescribeSpotInstanceRequestsResponse><spotInstanceRequestSet/></DescribeSpotInstanceRequestsResponse>",
        ),
        "DescribeScalingActivities" => xml(
            "<DescribeScalingActivitiesResponse><DescribeScalingActivitiesResult><Activities/></DescribeScalingActivitiesResult></DescribeScalingActivitiesResponse>",
        ),
        "LookupEvents" if lookups < 2 => refused(
            400,
            &json!({"__type": "ThrottlingException", "message": "Rate exceeded"}),
        ),
        "LookupEvents" if asked.body.contains("BidEvictedEvent") => {
            let event = json!({"eventVersion": "1.08", "eventTime": ago(3605), "eventSource": "ec2.amazonaws.com", "eventName": "BidEvictedEvent",
                "awsRegion": "us-west-2", "eventID": "ev-1", "eventType": "AwsServiceEvent", "recipientAccountId": "111122223333",
                "userIdentity": {"invokedBy": "ec2.amazonaws.com"}, "requestParameters": null, "serviceEventDetails": {"instanceIdSet": [EC2]}});
            ok(
                &json!({"Events": [{"EventId": "ev-1", "EventName": "BidEvictedEvent", "EventTime": epoch(3605), "CloudTrailEvent": event.to_string()}]}),
            )
        }
        "LookupEvents" => ok(&json!({"Events": []})),
        "DescribeEvents" => refused(
            400,
            &json!({"__type": "SubscriptionRequiredException", "message": "no plan"}),
        ),
        other => (400, String::new(), format!("no action {other}")),
    }
}

/// Azure: the host of the machine failed.
pub(super) fn microsoft(asked: &ReceivedRequest) -> Reply {
    let target = asked.target.to_lowercase();
    if !target.contains("/eventtypes/management/values") || !target.contains("resourcegroupname") {
        return ok(&json!({"value": []}));
    }
    let resource =
        format!("/subscriptions/{SUBSCRIPTION}/resourcegroups/mc_rg_lab_westeurope/{VM}");
    ok(
        &json!({"value": [{"correlationId": "c-1", "eventDataId": "d-1", "category": {"value": "ResourceHealth"}, "eventTimestamp": ago(3605),
        "level": "Critical", "operationName": {"value": "Microsoft.Resourcehealth/healthevent/Activated/action"}, "resourceId": resource,
        "status": {"value": "Active"}, "subscriptionId": SUBSCRIPTION,
        "properties": {"stage": "Active", "title": "Virtual Machine health status changed to unavailable", "details": "The host under the machine failed",
            "healthStatus": "Unavailable", "healthEventType": "Downtime", "healthEventCause": "PlatformInitiated", "healthEventCategory": "Unplanned"}}]}),
    )
}

/// An error with a code of HTTP.
pub(super) fn refused(code: u16, body: &Value) -> Reply {
    (code, String::new(), body.to_string())
}

/// The variables under which all three are asked; `az` is played by a script in `bin`.
pub(super) fn variables(
    google: &str,
    amazon: &str,
    microsoft: &str,
    bin: &str,
) -> Vec<(&'static str, String)> {
    vec![
        ("PATH", format!("{bin}:/usr/bin:/bin")),
        ("GOOGLE_CLOUD_PROJECT", "lab".to_owned()),
        ("CLOUDSDK_AUTH_ACCESS_TOKEN", "token-g".to_owned()),
        ("CLOUDSDK_API_ENDPOINT_OVERRIDES_LOGGING", google.to_owned()),
        (
            "CLOUDSDK_API_ENDPOINT_OVERRIDES_COMPUTE",
            format!("{google}/compute/v1"),
        ),
        ("NO_GCE_CHECK", "true".to_owned()),
        ("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE".to_owned()),
        ("AWS_SECRET_ACCESS_KEY", "secret".to_owned()),
        ("AWS_REGION", "us-west-2".to_owned()),
        ("AWS_ENDPOINT_URL", amazon.to_owned()),
        ("AWS_EC2_METADATA_DISABLED", "true".to_owned()),
        ("AZURE_SUBSCRIPTION_ID", SUBSCRIPTION.to_owned()),
        ("AZURE_TOKEN_CREDENTIALS", "AzureCliCredential".to_owned()),
        ("AZURE_RESOURCE_MANAGER_URL", microsoft.to_owned()),
        ("AZURE_SCHEDULED_EVENTS", "off".to_owned()),
    ]
}

/// What `az account get-access-token` prints.
pub(super) fn az() -> String {
    let token = json!({"accessToken": "token-a", "expiresOn": "2100-01-01 00:00:00.000000", "expires_on": 4_102_444_800_i64,
        "subscription": SUBSCRIPTION, "tenant": SUBSCRIPTION, "tokenType": "Bearer"});
    format!("#!/bin/sh\necho '{token}'\n")
}
