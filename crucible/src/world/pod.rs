//! Pods as the API server holds them.

use serde_json::{Value, json};

use super::api::{Ask, Change, Key, Kind};
use super::{ActId, World};
use crate::time::Time;

/// A condition of a pod or node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// Type.
    pub kind: &'static str,
    /// `True`, `False` or `Unknown`.
    pub status: &'static str,
    /// Reason; may be empty.
    pub reason: String,
    /// Message; may be empty.
    pub message: String,
    /// Since when.
    pub since: Time,
}

/// How a container ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Exit code.
    pub code: i32,
    /// `Error`, `OOMKilled`, …
    pub reason: String,
    /// Message; may be empty.
    pub message: String,
    /// When it started.
    pub started: Option<Time>,
    /// When it ended.
    pub finished: Time,
}

/// What a container does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Running {
    /// It waits, with reason and message.
    Waiting(String, String),
    /// Since when it runs.
    Since(Time),
    /// How it ended.
    Ended(Ended),
}

/// The container of a pod.
#[derive(Clone, Debug)]
pub struct Container {
    /// What it does.
    pub state: Running,
    /// How its last run ended.
    pub last: Option<Ended>,
    /// How often it was restarted.
    pub restarts: u32,
    /// Whether it is ready.
    pub ready: bool,
    /// Its id in the runtime.
    pub id: String,
}

/// Phase of a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are Kubernetes' own")]
pub enum Phase {
    Pending,
    Running,
    Succeeded,
    Failed,
}

impl Phase {
    /// As in `status.phase`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Pending => "Pending",
            Self::Running => "Running",
            Self::Succeeded => "Succeeded",
            Self::Failed => "Failed",
        }
    }

    /// Whether nothing more will come of it.
    #[must_use]
    pub fn is_over(self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed)
    }
}

/// A controller's reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// Its `apiVersion`.
    pub api: String,
    /// Kind.
    pub kind: &'static str,
    /// Name.
    pub name: String,
    /// Uid.
    pub uid: String,
}

impl Owner {
    /// As in `ownerReferences`.
    #[must_use]
    pub fn json(&self) -> Value {
        json!([{"apiVersion": self.api, "kind": self.kind, "name": self.name, "uid": self.uid, "controller": true, "blockOwnerDeletion": true}])
    }
}

/// A pod.
#[derive(Clone, Debug)]
pub struct Pod {
    /// Name.
    pub name: String,
    /// Where the name was generated from.
    pub stem: Option<String>,
    /// Namespace.
    pub namespace: String,
    /// Uid.
    pub uid: String,
    /// Labels.
    pub labels: Vec<(String, String)>,
    /// Annotations.
    pub annotations: Vec<(String, String)>,
    /// Its controller.
    pub owner: Option<Owner>,
    /// Whether the Job controller still counts it.
    pub tracked: bool,
    /// When it was created.
    pub created: Time,
    /// When its grace ends, and how many seconds it was given.
    pub deletion: Option<(Time, i64)>,
    /// Where it is.
    pub node: Option<usize>,
    /// Where it will be after a preemption.
    pub nominated: Option<usize>,
    /// Phase.
    pub phase: Phase,
    /// `status.reason` and `status.message`.
    pub status_reason: Option<(String, String)>,
    /// Conditions.
    pub conditions: Vec<Condition>,
    /// When the kubelet took it.
    pub started: Option<Time>,
    /// Its container.
    pub container: Container,
    /// The one that runs before it.
    pub init: Option<Container>,
    /// The one that runs beside it.
    pub sidecar: Option<Container>,
    /// Its generation.
    pub generation: u32,
    /// When the object was removed.
    pub gone: Option<Time>,
    /// Which workload it is of.
    pub load: usize,
    /// Which Job it is of.
    pub job: Option<usize>,
    /// Which generation of the gang.
    pub attempt: u32,
    /// Its rank.
    pub rank: u32,
    /// Its death, where it is dead.
    pub death: Option<ActId>,
    /// Whether its process runs.
    pub alive: bool,
    /// Process id on its machine.
    pub pid: i64,
    /// Whether its Job has counted it.
    pub counted: bool,
    /// Whether the kubelet is done with it.
    pub released: bool,
    /// How its container ended, where its kubelet could not yet say so.
    pub unreported: Option<Ended>,
    /// When the scheduler last looked at it.
    pub tried: Option<Time>,
    /// Whether it has been told to stop.
    pub stopping: bool,
}

impl Pod {
    /// Names the object.
    #[must_use]
    pub fn key(&self) -> Key {
        Key {
            kind: Kind::Pod,
            namespace: self.namespace.clone(),
            name: self.name.clone(),
            uid: self.uid.clone(),
        }
    }

    /// Sets a condition.
    pub fn condition(
        &mut self,
        kind: &'static str,
        status: &'static str,
        reason: &str,
        message: &str,
        now: Time,
    ) {
        let new = Condition {
            kind,
            status,
            reason: reason.to_owned(),
            message: message.to_owned(),
            since: now,
        };
        match self.conditions.iter_mut().find(|one| one.kind == kind) {
            Some(one) if one.status == status => {
                one.reason = new.reason;
                one.message = new.message;
            }
            Some(one) => *one = new,
            None => self.conditions.push(new),
        }
    }
}

fn pairs(of: &[(String, String)]) -> Value {
    Value::Object(
        of.iter()
            .map(|(name, value)| (name.clone(), json!(value)))
            .collect(),
    )
}

fn ended(end: &Ended, id: &str) -> Value {
    let mut value = json!({"exitCode": end.code, "reason": end.reason, "finishedAt": end.finished.secs(), "startedAt": end.started.map(Time::secs), "containerID": id});
    if !end.message.is_empty() {
        value["message"] = json!(end.message);
    }
    value
}

fn state(running: &Running, id: &str) -> Value {
    match running {
        Running::Waiting(reason, message) if message.is_empty() => {
            json!({"waiting": {"reason": reason}})
        }
        Running::Waiting(reason, message) => {
            json!({"waiting": {"reason": reason, "message": message}})
        }
        Running::Since(time) => json!({"running": {"startedAt": time.secs()}}),
        Running::Ended(end) => json!({"terminated": ended(end, id)}),
    }
}

/// The status of a container that runs before or beside the program's own.
fn beside(name: &str, image: &str, container: &Container) -> Value {
    let id = match container.id.as_str() {
        "" => String::new(),
        id => format!("containerd://{id}"),
    };
    let last = container
        .last
        .as_ref()
        .map_or_else(|| json!({}), |end| json!({"terminated": ended(end, &id)}));
    json!({"name": name, "state": state(&container.state, &id), "lastState": last, "ready": container.ready, "restartCount": container.restarts,
        "image": image, "imageID": "", "containerID": id, "started": matches!(container.state, Running::Since(_))})
}

impl World {
    /// A pod as it is stored.
    #[must_use]
    pub fn pod_json(&self, at: usize) -> Value {
        let Some(pod) = self.pods.get(at) else {
            return Value::Null;
        };
        let mut metadata = json!({"name": pod.name, "namespace": pod.namespace, "uid": pod.uid, "generation": pod.generation,
            "creationTimestamp": pod.created.secs(), "labels": pairs(&pod.labels)});
        if let Some(stem) = &pod.stem {
            metadata["generateName"] = json!(stem);
        }
        if !pod.annotations.is_empty() {
            metadata["annotations"] = pairs(&pod.annotations);
        }
        if let Some(owner) = &pod.owner {
            metadata["ownerReferences"] = owner.json();
        }
        if pod.tracked {
            metadata["finalizers"] = json!(["batch.kubernetes.io/job-tracking"]);
        }
        if let Some((until, grace)) = pod.deletion {
            metadata["deletionTimestamp"] = json!(until.secs());
            metadata["deletionGracePeriodSeconds"] = json!(grace);
        }
        let mut spec = self.pod_spec(pod.load, pod.job.is_some());
        if let Some(node) = pod.node.and_then(|node| self.nodes.get(node)) {
            spec["nodeName"] = json!(node.name);
        }
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": self.pod_status(pod)})
    }

    fn pod_status(&self, pod: &Pod) -> Value {
        let mut status = json!({"phase": pod.phase.name(), "qosClass": "Guaranteed"});
        if !pod.conditions.is_empty() {
            status["conditions"] = pod
                .conditions
                .iter()
                .map(|one| {
                    let mut value = json!({"type": one.kind, "status": one.status, "lastProbeTime": null, "lastTransitionTime": one.since.secs()});
                    if !one.reason.is_empty() {
                        value["reason"] = json!(one.reason);
                    }
                    if !one.message.is_empty() {
                        value["message"] = json!(one.message);
                    }
                    value
                })
                .collect();
        }
        if let Some((reason, message)) = &pod.status_reason {
            status["reason"] = json!(reason);
            status["message"] = json!(message);
        }
        if let Some(node) = pod.nominated.and_then(|node| self.nodes.get(node)) {
            status["nominatedNodeName"] = json!(node.name);
        }
        if let Some(started) = pod.started {
            status["startTime"] = json!(started.secs());
            if let Some(node) = pod.node.and_then(|node| self.nodes.get(node)) {
                status["hostIP"] = json!(node.ip);
            }
            let id = if pod.container.id.is_empty() {
                String::new()
            } else {
                format!("containerd://{}", pod.container.id)
            };
            let last = match &pod.container.last {
                Some(end) => json!({"terminated": ended(end, &id)}),
                None => json!({}),
            };
            status["containerStatuses"] = json!([{
                "name": "trainer", "state": state(&pod.container.state, &id), "lastState": last, "ready": pod.container.ready,
                "restartCount": pod.container.restarts, "image": self.image(pod.load), "imageID": "", "containerID": id,
                "started": matches!(pod.container.state, Running::Since(_)),
            }]);
        }
        let before = [
            ("fetch-data", "registry.lab.example/fetch:2.1", &pod.init),
            (
                "log-shipper",
                "registry.lab.example/fluent-bit:4.0",
                &pod.sidecar,
            ),
        ];
        let before: Vec<Value> = before
            .iter()
            .filter_map(|(name, image, container)| {
                let container = container.as_ref().filter(|_| pod.started.is_some())?;
                Some(beside(name, image, container))
            })
            .collect();
        if !before.is_empty() {
            status["initContainerStatuses"] = json!(before);
        }
        status
    }

    /// Stores a pod as it is now.
    pub fn put_pod(&mut self, at: usize, ask: Ask) {
        let gone = self.pods.get(at).is_none_or(|pod| pod.gone.is_some());
        if gone {
            return;
        }
        self.store_pod(at, Change::Modified, ask);
    }

    /// Stores a new pod.
    pub fn new_pod(&mut self, pod: Pod, ask: Ask) -> usize {
        self.pods.push(pod);
        let at = self.pods.len() - 1;
        self.store_pod(at, Change::Added, ask);
        at
    }

    /// Removes a pod's object.
    pub fn drop_pod(&mut self, at: usize, ask: Ask) {
        let now = self.now;
        let Some(pod) = self.pods.get_mut(at) else {
            return;
        };
        if pod.gone.is_some() {
            return;
        }
        pod.gone = Some(now);
        pod.alive = false;
        if let Some((until, grace)) = &mut pod.deletion {
            *until = (*until).min(now);
            *grace = 0;
        }
        self.store_pod(at, Change::Deleted, ask);
    }

    fn store_pod(&mut self, at: usize, change: Change, ask: Ask) {
        let json = self.pod_json(at);
        let Some(key) = self.pods.get(at).map(Pod::key) else {
            return;
        };
        self.put(change, &key, json, ask);
    }
}
