//! Rows of `kubectl get` as objects: a line of a table shows little of its
//! object, and what it does not show is left out.

use serde_json::{Value, json};

use super::pod_row::{PodRow, StatusMeaning, means};
use super::table::{Heading, Row};
use crate::kind::is_workload;

/// The kind of the objects in a table, by its columns, where neither the
/// command nor the names say.
pub(super) fn kind(heading: &Heading<'_>) -> Option<&'static str> {
    let has = |names: &[&str]| names.iter().all(|name| heading.has(name));
    if has(&["READY", "STATUS", "RESTARTS"]) {
        Some("Pod")
    } else if has(&["STATUS", "ROLES"]) {
        Some("Node")
    } else if has(&["COMPLETIONS"]) {
        Some("Job")
    } else if has(&["UP-TO-DATE", "AVAILABLE", "DESIRED"]) {
        Some("DaemonSet")
    } else if has(&["UP-TO-DATE", "AVAILABLE", "READY"]) {
        Some("Deployment")
    } else if has(&["DESIRED", "CURRENT", "READY"]) {
        Some("ReplicaSet")
    } else if has(&["STATUS", "VOLUME", "STORAGECLASS"]) {
        Some("PersistentVolumeClaim")
    } else {
        None
    }
}

/// The pod of a row. `sure` where nothing else describes the pod, so that what
/// the row only implies may be told as well; `ended_as` is how an earlier row of the same start shows that it ended.
pub(super) fn pod(row: &PodRow, sure: bool, ended_as: Option<&str>) -> Value {
    let word = row.status.strip_prefix("Init:").unwrap_or(&row.status);
    let init = word != row.status;
    let mut status = json!({});
    let mut container = json!({ "name": "", "restartCount": row.restarts });
    let ended = json!({ "terminated": exit(word) });
    match means(&row.status) {
        StatusMeaning::Phase(phase) => {
            status["phase"] = phase.into();
            // The kubelet says so, once the pod is on a node.
            if let Some(waits) = starting(word, init) {
                container["state"] = json!({ "waiting": { "reason": waits } });
            }
        }
        StatusMeaning::Ended => {
            status["phase"] = "Failed".into();
            status["reason"] = word.into();
        }
        StatusMeaning::Exited if row.restarts == 0 => {
            status["phase"] = "Failed".into();
            if sure {
                container["state"] = ended;
            }
        }
        // It has started again before, so it waits for that now.
        StatusMeaning::Exited => {
            status["phase"] = if init { "Pending" } else { "Running" }.into();
            container["state"] = json!({ "waiting": { "reason": "CrashLoopBackOff" } });
            if sure {
                container["lastState"] = ended;
            }
        }
        StatusMeaning::Waits => {
            let starts = !init && word == "CrashLoopBackOff";
            status["phase"] = if starts { "Running" } else { "Pending" }.into();
            container["state"] = json!({ "waiting": { "reason": word } });
            if sure && word == "CrashLoopBackOff" {
                let ended = ended_as.map_or_else(|| json!({}), exit);
                container["lastState"] = json!({ "terminated": ended });
            }
        }
        StatusMeaning::Terminating | StatusMeaning::Unknown => {}
    }
    if container.get("state").is_some() {
        let list = if init {
            "initContainerStatuses"
        } else {
            "containerStatuses"
        };
        status[list] = json!([container]);
    }
    let mut metadata = json!({ "name": row.name });
    if let Some(namespace) = &row.namespace {
        metadata["namespace"] = namespace.as_str().into();
    }
    let mut object = json!({ "kind": "Pod", "metadata": metadata, "status": status });
    if let Some(node) = &row.node {
        object["spec"] = json!({ "nodeName": node });
    }
    if let Some(labels) = labels(row.labels.as_deref()) {
        if let Some(owner) = owner(&row.name, &labels) {
            object["metadata"]["ownerReferences"] = json!([owner]);
        }
        object["metadata"]["labels"] = labels;
    }
    object
}

/// What the containers of a pod wait for that its kubelet is starting: `Init:0/2` counts the init
/// containers that are done.
fn starting(word: &str, init: bool) -> Option<&'static str> {
    match word {
        "ContainerCreating" => Some("ContainerCreating"),
        "PodInitializing" => Some("PodInitializing"),
        _ if init && word.contains('/') => Some("PodInitializing"),
        _ => None,
    }
}

/// `ExitCode:3` and `Signal:9` say more than `Error` does.
fn exit(word: &str) -> Value {
    let number = |prefix| {
        word.strip_prefix(prefix)
            .and_then(|text: &str| text.parse::<i64>().ok())
    };
    match (number("ExitCode:"), number("Signal:")) {
        (Some(code), _) => json!({ "reason": "Error", "exitCode": code }),
        (_, Some(signal)) => {
            json!({ "reason": "Error", "exitCode": 128 + signal.clamp(0, 127), "signal": signal })
        }
        _ => json!({ "reason": word }),
    }
}

fn labels(text: Option<&str>) -> Option<Value> {
    let pairs: serde_json::Map<String, Value> = text?
        .split(',')
        .filter_map(|pair| pair.split_once('='))
        .map(|(key, value)| (key.to_owned(), value.into()))
        .collect();
    (!pairs.is_empty()).then_some(Value::Object(pairs))
}

/// Controllers leave their name in labels of their pods.
fn owner(pod: &str, labels: &Value) -> Option<Value> {
    let label = |key: &str| labels.get(key).and_then(Value::as_str);
    let job = label("batch.kubernetes.io/job-name").or_else(|| label("job-name"));
    if let Some(job) = job {
        let uid = label("batch.kubernetes.io/controller-uid").or_else(|| label("controller-uid"));
        return Some(
            json!({ "kind": "Job", "name": job, "uid": uid.unwrap_or_default(), "controller": true }),
        );
    }
    let hash = label("pod-template-hash")?;
    let (set, _) = pod.rsplit_once('-')?;
    set.ends_with(hash)
        .then(|| json!({ "kind": "ReplicaSet", "name": set, "controller": true }))
}

/// The object of a row of another kind; nothing where a row of that kind tells nothing.
pub(super) fn other(kind: &str, row: &Row<'_>, namespace: Option<&str>) -> Option<Value> {
    let name = row.get("NAME")?;
    let name = name.rsplit_once('/').map_or(name, |(_, name)| name);
    let mut object = json!({ "kind": kind, "metadata": { "name": name } });
    if let Some(namespace) = row
        .get("NAMESPACE")
        .or(namespace)
        .filter(|_| kind != "Node")
    {
        object["metadata"]["namespace"] = namespace.into();
    }
    if let Some(labels) = labels(row.get("LABELS")) {
        object["metadata"]["labels"] = labels;
    }
    let state = row.get("STATUS").or(row.get("STATE")).unwrap_or_default();
    match kind {
        "Node" => {
            let words: Vec<&str> = state.split(',').collect();
            if words.contains(&"SchedulingDisabled") {
                object["spec"] = json!({ "unschedulable": true });
            }
            let ready = match words.first() {
                Some(&"Ready") => "True",
                Some(&"NotReady") => "False",
                Some(&"Unknown") => "Unknown",
                _ => return None,
            };
            object["status"] = json!({ "conditions": [{ "type": "Ready", "status": ready }] });
        }
        "PersistentVolumeClaim" => {
            object["status"] =
                json!({ "phase": Some(state).filter(|word| *word != "Terminating") });
        }
        _ if is_workload(kind) => {
            let done = row
                .get("COMPLETIONS")
                .and_then(|text| text.split_once('/'))
                .is_some_and(|(done, wanted)| done == wanted && state.is_empty());
            let condition = match state {
                "Complete" | "Completed" => Some("Complete"),
                "Failed" | "Succeeded" | "Suspended" => Some(state),
                _ if done => Some("Complete"),
                _ => None,
            };
            let condition = condition.map(|kind| json!({ "type": kind, "status": "True" }));
            object["status"] =
                json!({ "conditions": condition.into_iter().collect::<Vec<Value>>() });
            // What has failed, is complete or suspended is not printed as running.
            if kind == "Job" && state == "Running" {
                object["status"]["phase"] = state.into();
            }
            if state == "Suspended" {
                object["spec"] = json!({ "suspend": true });
            }
        }
        _ => return None,
    }
    Some(object)
}
