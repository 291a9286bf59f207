//! What the clouds record of the machines they run.

use serde_json::{Value, json};

use crate::plan::Cloud;
use crate::time::{SEC, Time};
use crate::world::{ActId, CloudRecord, Tag, World, names};

/// Keeps a record; `late` nanoseconds pass before it can be read.
pub(crate) fn record(w: &mut World, time: Time, late: i64, body: Value, tags: &[Tag]) {
    w.cloud.push(CloudRecord {
        time,
        received: time.plus(late),
        body,
        tags: tags.to_vec(),
    });
}

struct Machine {
    name: String,
    instance: String,
    zone: String,
    pool: String,
}

fn machine(w: &World, node: usize) -> Machine {
    let Some(node) = w.nodes.get(node) else {
        return Machine {
            name: String::new(),
            instance: String::new(),
            zone: String::new(),
            pool: String::new(),
        };
    };
    Machine {
        name: node.name.clone(),
        instance: node.instance.trim_start_matches("gone ").to_owned(),
        zone: node.zone.clone(),
        pool: node.pool.clone(),
    }
}

/// The machine no longer exists in the cloud.
pub(crate) fn forget(w: &mut World, node: usize) {
    if let Some(body) = w.nodes.get_mut(node)
        && !body.instance.starts_with("gone ")
    {
        body.instance = format!("gone {}", body.instance);
    }
}

/// A system event of Google's.
pub(crate) fn gcp_system(
    w: &mut World,
    node: usize,
    method: &str,
    message: &str,
    metadata: Value,
    tags: &[Tag],
) {
    let of = machine(w, node);
    let id = format!("systemevent-{}-{}", w.now.0 / 1_000_000, w.rng.hex(12));
    let mut payload = json!({"@type": "type.googleapis.com/google.cloud.audit.AuditLog", "status": {"message": message},
        "authenticationInfo": {"principalEmail": "system@google.com"}, "requestMetadata": {"requestAttributes": {}, "destinationAttributes": {}},
        "serviceName": "compute.googleapis.com", "methodName": method,
        "resourceName": format!("projects/lab-project/zones/{}/instances/{}", of.zone, of.name), "request": {"@type": format!("type.googleapis.com/{method}")}});
    if !metadata.is_null() {
        payload["metadata"] = metadata;
    }
    let late = w.rng.millis(700, 4000);
    let body = json!({"protoPayload": payload, "insertId": w.rng.letters(12),
        "resource": {"type": "gce_instance", "labels": {"project_id": "lab-project", "instance_id": of.instance, "zone": of.zone}},
        "timestamp": w.now.millis(), "severity": "INFO", "logName": "projects/lab-project/logs/cloudaudit.googleapis.com%2Fsystem_event",
        "operation": {"id": id, "producer": method, "first": true, "last": true}, "receiveTimestamp": w.now.plus(late).nanos()});
    record(w, w.now, late, body, tags);
}

/// A call that somebody made to Google: its first record, and its last.
pub(crate) fn gcp_call(
    w: &mut World,
    node: usize,
    method: &str,
    who: &str,
    agent: &str,
    tags: &[Tag],
) {
    let of = machine(w, node);
    let id = format!("operation-{}-{}", w.now.0 / 1_000_000, w.rng.hex(24));
    let took = w.rng.secs(20, 70);
    for (first, at) in [(true, 0), (false, took)] {
        let time = w.now.plus(at);
        let late = w.rng.millis(500, 3000);
        let body = json!({"protoPayload": {"@type": "type.googleapis.com/google.cloud.audit.AuditLog",
            "authenticationInfo": {"principalEmail": who}, "requestMetadata": {"callerIp": "203.0.113.7", "callerSuppliedUserAgent": agent},
            "serviceName": "compute.googleapis.com", "methodName": method,
            "resourceName": format!("projects/lab-project/zones/{}/instances/{}", of.zone, of.name),
            "request": {"@type": format!("type.googleapis.com/{}", method.trim_start_matches("v1."))}},
            "insertId": w.rng.letters(12), "resource": {"type": "gce_instance", "labels": {"project_id": "lab-project", "instance_id": of.instance, "zone": of.zone}},
            "timestamp": time.micros(), "severity": "NOTICE", "logName": "projects/lab-project/logs/cloudaudit.googleapis.com%2Factivity",
            "operation": if first { json!({"id": id, "producer": "compute.googleapis.com", "first": true}) } else { json!({"id": id, "producer": "compute.googleapis.com", "last": true}) },
            "receiveTimestamp": time.plus(late).nanos()});
        record(w, time, late, body, tags);
    }
}

/// A record of `CloudTrail`; the caller gives what differs.
#[expect(clippy::needless_pass_by_value, reason = "a literal at every call")]
pub(crate) fn trail(
    w: &mut World,
    name: &str,
    identity: Value,
    fields: &[(&str, Value)],
    tags: &[Tag],
) {
    let late = w.rng.secs(60, 840);
    let mut body = json!({"eventVersion": "1.11", "userIdentity": identity, "eventTime": w.now.secs(), "eventSource": "ec2.amazonaws.com", "eventName": name,
        "awsRegion": "eu-west-1", "sourceIPAddress": "203.0.113.7", "userAgent": "aws-cli/2.27.1", "requestParameters": null, "responseElements": null,
        "eventID": w.rng.uuid(), "readOnly": false, "eventType": "AwsApiCall", "managementEvent": true, "recipientAccountId": "123456789012", "eventCategory": "Management"});
    for (key, value) in fields {
        body[*key] = value.clone();
    }
    record(w, w.now, late, body, tags);
}

/// An event of `EventBridge`.
#[expect(clippy::needless_pass_by_value, reason = "a literal at every call")]
pub(crate) fn bridge(
    w: &mut World,
    node: usize,
    kind: &str,
    source: &str,
    detail: Value,
    tags: &[Tag],
) {
    let of = machine(w, node);
    // A trouble of a whole zone names no machine.
    let resources: Vec<String> = if detail["affectedEntities"]
        .as_array()
        .is_some_and(Vec::is_empty)
    {
        Vec::new()
    } else {
        vec![format!(
            "arn:aws:ec2:eu-west-1:123456789012:instance/{}",
            of.instance.trim_start_matches("gone ")
        )]
    };
    let body = json!({"version": "0", "id": w.rng.uuid(), "detail-type": kind, "source": source, "account": "123456789012", "time": w.now.secs(),
        "region": "eu-west-1", "resources": resources, "detail": detail});
    let late = w.rng.secs(1, 4);
    record(w, w.now, late, body, tags);
}

const SUBSCRIPTION: &str = "/subscriptions/0a0a0a0a-1111-2222-3333-444444444444";

fn azure_id(of: &Machine) -> String {
    format!(
        "{SUBSCRIPTION}/resourceGroups/MC_lab_aks_westeurope/providers/Microsoft.Compute/virtualMachineScaleSets/{}/virtualMachines/{}",
        of.pool, of.instance
    )
}

/// A record of Azure's activity log.
#[expect(
    clippy::needless_pass_by_value,
    clippy::too_many_arguments,
    reason = "literals at every call, one for each field"
)]
pub(crate) fn azure(
    w: &mut World,
    node: usize,
    category: &str,
    operation: &str,
    status: &str,
    caller: Option<&str>,
    properties: Value,
    tags: &[Tag],
) {
    let of = machine(w, node);
    let late = w.rng.secs(60, 600);
    let id = match category {
        "ServiceHealth" => SUBSCRIPTION.to_owned(),
        _ if operation.contains("agentPools") => {
            let pool = of.pool.trim_start_matches("aks-").split('-').next();
            format!(
                "{SUBSCRIPTION}/resourceGroups/lab/providers/Microsoft.ContainerService/managedClusters/aks/agentPools/{}",
                pool.unwrap_or("gpu")
            )
        }
        _ => azure_id(&of),
    };
    let group = if id.contains("/resourceGroups/lab/") {
        "lab"
    } else {
        "mc_lab_aks_westeurope"
    };
    let mut body = json!({"channels": "Admin, Operation", "correlationId": w.rng.uuid(), "eventDataId": w.rng.uuid(), "eventName": {"value": "", "localizedValue": ""},
        "category": {"value": category, "localizedValue": category}, "eventTimestamp": format!("{}0Z", w.now.micros().trim_end_matches('Z')),
        "submissionTimestamp": format!("{}0Z", w.now.plus(late).micros().trim_end_matches('Z')), "id": format!("{id}/events/x/ticks/1"),
        "level": if category == "ResourceHealth" {"Critical"} else {"Informational"}, "operationName": {"value": operation, "localizedValue": operation},
        "resourceGroupName": group, "resourceId": id.to_lowercase(), "status": {"value": status, "localizedValue": status},
        "subscriptionId": "0a0a0a0a-1111-2222-3333-444444444444", "properties": properties, "relatedEvents": []});
    if let Some(caller) = caller {
        body["caller"] = json!(caller);
    }
    record(w, w.now, late, body, tags);
}

/// A person's identity as `CloudTrail` writes it.
pub(crate) fn iam(who: &str) -> Value {
    json!({"type": "IAMUser", "principalId": "AIDAEXAMPLE", "arn": format!("arn:aws:iam::123456789012:user/{who}"), "accountId": "123456789012", "accessKeyId": "AKIAEXAMPLE", "userName": who})
}

/// Amazon's own identity.
pub(crate) fn amazon() -> Value {
    json!({"accountId": "123456789012", "invokedBy": "ec2.amazonaws.com"})
}

/// The parameters of a call about one instance.
pub(crate) fn instances(w: &World, node: usize) -> Value {
    json!({"instancesSet": {"items": [{"instanceId": machine(w, node).instance}]}})
}

/// The id of a node's instance.
pub(crate) fn instance(w: &World, node: usize) -> String {
    machine(w, node).instance
}

/// Somebody deletes the machine behind a node; its records say who.
pub(crate) fn delete_instance(w: &mut World, node: usize, who: &str, act: ActId) {
    let tags = names(act);
    match w.plan.cluster.cloud {
        Cloud::Gcp => {
            let email = if who.contains('@') {
                who.to_owned()
            } else {
                "123456-compute@developer.gserviceaccount.com".to_owned()
            };
            gcp_call(w, node, "v1.compute.instances.delete", &email, who, &tags);
        }
        Cloud::Aws => {
            let (name, identity) = if who.contains('@') {
                (
                    "TerminateInstances",
                    iam(who.split('@').next().unwrap_or(who)),
                )
            } else {
                (
                    "TerminateInstanceInAutoScalingGroup",
                    json!({"type": "AssumedRole", "arn": format!("arn:aws:sts::123456789012:assumed-role/{who}/{who}"), "accountId": "123456789012"}),
                )
            };
            let id = instance(w, node);
            let parameters = if name == "TerminateInstances" {
                instances(w, node)
            } else {
                json!({"instanceId": id, "shouldDecrementDesiredCapacity": true})
            };
            let answer = json!({"instancesSet": {"items": [{"instanceId": id, "currentState": {"code": 32, "name": "shutting-down"}, "previousState": {"code": 16, "name": "running"}}]}});
            trail(
                w,
                name,
                identity,
                &[
                    ("requestParameters", parameters),
                    ("responseElements", answer),
                    ("userAgent", json!(who)),
                ],
                &tags,
            );
        }
        Cloud::Azure => azure(
            w,
            node,
            "Administrative",
            "Microsoft.Compute/virtualMachineScaleSets/delete/action",
            "Accepted",
            Some(who),
            json!({"statusCode": "Accepted"}),
            &tags,
        ),
        Cloud::OnPrem => {}
    }
    forget(w, node);
}

/// A moment as AWS Health writes it.
#[must_use]
pub(crate) fn rfc1123(time: Time) -> String {
    time.format("%a, %d %b %Y %H:%M:%S GMT", 0)
}

/// How long before a maintenance it is announced.
pub(crate) const NOTICE: i64 = 3600 * SEC;
