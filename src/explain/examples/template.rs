//! The jobs and pods that examples share, each from a few fields. An item `job: { … }` or `pod: { … }`
//! of an example's input, or of a watch line's `object`, stands for the whole object.

use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

/// A Job of one pod that is never retried.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Job {
    name: String,
    #[serde(default = "lab")]
    namespace: String,
    /// Made of namespace and name, unless other records repeat it.
    uid: Option<String>,
    created: Time,
    #[serde(default = "one")]
    pods: u32,
    #[serde(default)]
    indexed: bool,
    /// How many of its pods are running.
    active: Option<u32>,
    /// When it found that it fails, and when its pods were gone as well.
    failing: Option<Time>,
    failed: Option<Time>,
    /// What differs.
    #[serde(default)]
    also: Map<String, Value>,
}

/// A pod of such a Job, or of none, with one container `trainer`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Pod {
    name: String,
    #[serde(default = "lab")]
    namespace: String,
    uid: Option<String>,
    job: Option<String>,
    job_uid: Option<String>,
    /// Which pod of an indexed Job it is.
    index: Option<u32>,
    /// Without a node it is pending.
    node: Option<String>,
    #[serde(default = "image")]
    image: String,
    #[serde(default = "gpus")]
    gpus: u32,
    memory: Option<String>,
    created: Time,
    scheduled: Option<Time>,
    accepted: Option<Time>,
    started: Option<Time>,
    ready: Option<Time>,
    #[serde(default)]
    restarts: u32,
    exited: Option<Exited>,
    unschedulable: Option<Unschedulable>,
    disruption: Option<Disruption>,
    deleted: Option<Time>,
    phase: Option<String>,
    #[serde(default)]
    also: Map<String, Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Exited {
    code: i32,
    at: Time,
    reason: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unschedulable {
    message: String,
    at: Time,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Disruption {
    reason: String,
    message: String,
    at: Time,
}

/// A time, whose mistakes are reported with an example of one.
#[derive(Clone, Copy)]
struct Time(DateTime<Utc>);

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let time = text.parse().map_err(|_| {
            let why = format!("{text:?} is not a time; write it as in 2026-03-04T10:00:00Z");
            serde::de::Error::custom(why)
        })?;
        Ok(Self(time))
    }
}

impl Time {
    /// `None` for times that no clock shows.
    fn plus(self, seconds: i64) -> Option<Self> {
        let later = self.0.checked_add_signed(TimeDelta::seconds(seconds));
        later.map(Self)
    }

    fn text(self) -> String {
        self.0.to_rfc3339_opts(SecondsFormat::AutoSi, true)
    }
}

fn lab() -> String {
    "lab".to_owned()
}

fn one() -> u32 {
    1
}

fn image() -> String {
    "registry.lab/train:41".to_owned()
}

fn gpus() -> u32 {
    8
}

/// The record of an item: what a template stands for, anything else as it is.
///
/// # Errors
/// Says which field is wrong.
pub(super) fn expand(item: Value) -> Result<Value, String> {
    let Value::Object(mut item) = item else {
        return Ok(item);
    };
    if item.len() == 1 {
        if let Some(fields) = item.remove("job") {
            return object_of::<Job>(fields).map_err(|why| format!("job: {why}"));
        }
        if let Some(fields) = item.remove("pod") {
            return object_of::<Pod>(fields).map_err(|why| format!("pod: {why}"));
        }
    }
    // A line of a watch has the object within.
    if let Some(object) = item.get_mut("object") {
        *object = expand(object.take())?;
    }
    Ok(Value::Object(item))
}

trait Template: for<'de> Deserialize<'de> {
    /// The object as the API writes it; `None` for times that no clock shows.
    fn object(&self) -> Option<Value>;

    fn also(self) -> Map<String, Value>;
}

fn object_of<T: Template>(fields: Value) -> Result<Value, String> {
    let template: T =
        serde_json::from_value(fields).map_err(|error| super::misspelt(&error.to_string()))?;
    let mut object = template
        .object()
        .ok_or("`created` is later than any clock shows")?;
    json_patch::merge(&mut object, &Value::Object(template.also()));
    Ok(object)
}

impl Template for Job {
    fn object(&self) -> Option<Value> {
        let mut job = json!({
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {
                "name": self.name,
                "namespace": self.namespace,
                "uid": uid(self.uid.as_deref(), "Job", &self.namespace, &self.name),
                "creationTimestamp": self.created.text(),
            },
            "spec": { "parallelism": self.pods, "completions": self.pods, "backoffLimit": 0 },
        });
        if self.indexed {
            job["spec"]["completionMode"] = "Indexed".into();
        }
        if let Some(active) = self.active {
            job["status"] = json!({ "active": active, "startTime": self.created.text() });
        }
        let ends = [("FailureTarget", self.failing), ("Failed", self.failed)];
        let conditions: Vec<Value> = ends
            .into_iter()
            .filter_map(|(kind, at)| {
                let message = "Job has reached the specified backoff limit";
                Some(condition(
                    kind,
                    "True",
                    at?,
                    Some(("BackoffLimitExceeded", message)),
                ))
            })
            .collect();
        if !conditions.is_empty() {
            job["status"]["conditions"] = conditions.into();
        }
        Some(job)
    }

    fn also(self) -> Map<String, Value> {
        self.also
    }
}

impl Template for Pod {
    fn object(&self) -> Option<Value> {
        let mut limits = Map::new();
        if self.gpus > 0 {
            limits.insert("nvidia.com/gpu".to_owned(), self.gpus.to_string().into());
        }
        if let Some(memory) = &self.memory {
            limits.insert("memory".to_owned(), memory.as_str().into());
        }
        let mut container = json!({ "name": "trainer", "image": self.image });
        if !limits.is_empty() {
            container["resources"] = json!({ "limits": limits });
        }
        let mut spec = json!({ "restartPolicy": "Never", "containers": [container] });
        if let Some(node) = &self.node {
            spec["nodeName"] = node.as_str().into();
        }
        Some(json!({
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": self.metadata(),
            "spec": spec,
            "status": self.status()?,
        }))
    }

    fn also(self) -> Map<String, Value> {
        self.also
    }
}

impl Pod {
    fn metadata(&self) -> Value {
        let mut metadata = json!({
            "name": self.name,
            "namespace": self.namespace,
            "uid": uid(self.uid.as_deref(), "Pod", &self.namespace, &self.name),
            "creationTimestamp": self.created.text(),
        });
        if let Some(job) = &self.job {
            metadata["ownerReferences"] = json!([{
                "apiVersion": "batch/v1",
                "kind": "Job",
                "name": job,
                "uid": uid(self.job_uid.as_deref(), "Job", &self.namespace, job),
                "controller": true,
            }]);
            metadata["labels"] = json!({ "batch.kubernetes.io/job-name": job });
            if let Some(index) = self.index {
                let index = index.to_string();
                metadata["labels"]["batch.kubernetes.io/job-completion-index"] = index.into();
            }
        }
        if let Some(deleted) = self.deleted {
            metadata["deletionTimestamp"] = deleted.text().into();
            metadata["deletionGracePeriodSeconds"] = 30.into();
        }
        metadata
    }

    fn status(&self) -> Option<Value> {
        let mut status = Map::new();
        let mut conditions = Vec::new();
        let mut phase = "Pending";
        if self.node.is_some() {
            let scheduled = self.scheduled.or(self.created.plus(1))?;
            let accepted = self.accepted.or(scheduled.plus(1))?;
            let started = self.started.or(scheduled.plus(4))?;
            conditions.push(condition("PodScheduled", "True", scheduled, None));
            conditions.extend(self.ready.map(|at| condition("Ready", "True", at, None)));
            status.insert("startTime".to_owned(), accepted.text().into());
            let state;
            (phase, state) = match &self.exited {
                Some(exited) => exited.state(started),
                None => (
                    "Running",
                    json!({ "running": { "startedAt": started.text() } }),
                ),
            };
            let container = json!({
                "name": "trainer",
                "ready": self.ready.is_some(),
                "restartCount": self.restarts,
                "state": state,
            });
            status.insert("containerStatuses".to_owned(), json!([container]));
        } else if let Some(Unschedulable { message, at }) = &self.unschedulable {
            let why = Some(("Unschedulable", message.as_str()));
            conditions.push(condition("PodScheduled", "False", *at, why));
        }
        if let Some(Disruption {
            reason,
            message,
            at,
        }) = &self.disruption
        {
            let why = Some((reason.as_str(), message.as_str()));
            conditions.push(condition("DisruptionTarget", "True", *at, why));
        }
        if !conditions.is_empty() {
            status.insert("conditions".to_owned(), conditions.into());
        }
        let phase = self.phase.as_deref().unwrap_or(phase);
        status.insert("phase".to_owned(), phase.into());
        Some(status.into())
    }
}

impl Exited {
    /// The phase of the pod and the state of its container.
    fn state(&self, started: Time) -> (&'static str, Value) {
        let (phase, reason) = match self.code {
            0 => ("Succeeded", "Completed"),
            _ => ("Failed", "Error"),
        };
        let state = json!({ "terminated": {
            "exitCode": self.code,
            "reason": self.reason.as_deref().unwrap_or(reason),
            "startedAt": started.text(),
            "finishedAt": self.at.text(),
        }});
        (phase, state)
    }
}

fn condition(kind: &str, status: &str, at: Time, why: Option<(&str, &str)>) -> Value {
    let mut condition = json!({ "type": kind, "status": status, "lastTransitionTime": at.text() });
    if let Some((reason, message)) = why {
        condition["reason"] = reason.into();
        condition["message"] = message.into();
    }
    condition
}

/// The uid that is given, else one that every record of an example makes alike.
fn uid(given: Option<&str>, kind: &str, namespace: &str, name: &str) -> String {
    if let Some(given) = given {
        return given.to_owned();
    }
    let hash = Sha256::digest(format!("{kind}/{namespace}/{name}"));
    let hex: String = hash
        .iter()
        .take(16)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let parts = [
        &hex[..8],
        &hex[8..12],
        &hex[12..16],
        &hex[16..20],
        &hex[20..],
    ];
    parts.join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(item: Value) -> Value {
        expand(item).unwrap()
    }

    #[test]
    fn a_pod_belongs_to_its_job() {
        let job = expanded(
            json!({ "job": { "name": "run", "created": "2026-03-04T10:00:00Z", "failed": "2026-03-04T11:00:00Z" } }),
        );
        let pod = expanded(json!({ "pod": {
            "name": "run-0", "job": "run", "index": 0, "node": "gpu-1", "created": "2026-03-04T10:00:00Z",
            "exited": { "code": 137, "at": "2026-03-04T10:59:00Z" },
        }}));
        assert_eq!(
            pod["metadata"]["ownerReferences"][0]["uid"],
            job["metadata"]["uid"]
        );
        assert_eq!(job["metadata"]["uid"].as_str().unwrap().len(), 36);
        assert_eq!(
            job["status"]["conditions"][0]["lastTransitionTime"],
            "2026-03-04T11:00:00Z"
        );
        assert_eq!(
            pod["status"],
            json!({
                "phase": "Failed",
                "startTime": "2026-03-04T10:00:02Z",
                "conditions": [{ "type": "PodScheduled", "status": "True", "lastTransitionTime": "2026-03-04T10:00:01Z" }],
                "containerStatuses": [{ "name": "trainer", "ready": false, "restartCount": 0, "state": { "terminated": {
                    "exitCode": 137, "reason": "Error", "startedAt": "2026-03-04T10:00:05Z", "finishedAt": "2026-03-04T10:59:00Z",
                }}}],
            })
        );
    }

    #[test]
    fn what_differs_is_laid_over_and_null_removes() {
        let pod = expanded(json!({ "type": "ADDED", "object": { "pod": {
            "name": "run-0", "created": "2026-03-04T10:00:00Z",
            "also": { "metadata": { "annotations": { "a": "b" } }, "spec": { "restartPolicy": null } },
        }}}));
        let pod = &pod["object"];
        assert_eq!(pod["metadata"]["annotations"]["a"], "b");
        assert_eq!(pod["metadata"]["name"], "run-0");
        assert_eq!(pod["spec"].get("restartPolicy"), None);
        assert_eq!(pod["status"], json!({ "phase": "Pending" }));
    }

    #[test]
    fn records_stay_as_they_are_and_mistakes_are_named() {
        let record = json!({ "kind": "Pod", "metadata": { "name": "a" } });
        assert_eq!(expanded(record.clone()), record);
        let lines = json!({ "job": "run", "pod": "run-0" });
        assert_eq!(expanded(lines.clone()), lines);
        for (fields, wanted) in [
            (
                json!({ "name": "a", "craeted": "x" }),
                "pod: there is no field `craeted`; did you mean `created`?",
            ),
            (
                json!({ "name": "a", "created": "today" }),
                "pod: \"today\" is not a time; write it as in 2026-03-04T10:00:00Z",
            ),
            (json!({ "name": "a" }), "pod: missing field `created`"),
        ] {
            assert_eq!(expand(json!({ "pod": fields })).unwrap_err(), wanted);
        }
    }
}
