//! Workloads: what their conditions and state words say, for every kind that makes pods.

use serde_json::Value;

use super::decode::Context;
use super::{argo, field, meta, size, template};
use crate::event::{Event, SourceKind};
use crate::object::{ObjectBody, ObjectVersion, Retries};
use crate::observation::{Observation, Rejection};
use crate::redact::redact;
use crate::time::{SECOND, Stamp};

/// A path of keys.
type Path = &'static [&'static str];

/// Where kinds without (only) conditions keep their state word, what says why,
/// and since when.
const STATE_WORDS: &[(&str, Path, Path, Path)] = &[
    (
        "RayJob",
        &["status", "jobDeploymentStatus"],
        &["status", "message"],
        &["status", "endTime"],
    ),
    (
        "RayJob",
        &["status", "jobStatus"],
        &["status", "message"],
        &["status", "endTime"],
    ),
    (
        "RayCluster",
        &["status", "state"],
        &["status", "reason"],
        &["status", "lastUpdateTime"],
    ),
    (
        "VolcanoJob",
        &["status", "state", "phase"],
        &["status", "state", "message"],
        &["status", "state", "lastTransitionTime"],
    ),
    (
        "Workflow",
        &["status", "phase"],
        &["status", "message"],
        &["status", "finishedAt"],
    ),
];

pub(super) fn decode(
    kind: &str,
    object: &Value,
    context: Context<'_>,
    out: &mut Vec<Observation>,
) -> Result<(), Rejection> {
    let key = meta::key(kind, object)?;
    let mut body = meta::body(object);
    if let Some(spec) = object.get("spec") {
        fill(spec, &mut body);
        body.pods = size::pods(kind, spec);
    }
    // A Job has no word of its own for how it stands, but counts its pods that are ready.
    let ready = field::int(object, &["status", "ready"]).unwrap_or(0);
    let wanted = body.replicas.unwrap_or(1).max(1);
    if kind == "Job" && ready >= wanted && body.phase.is_none() {
        body.phase = Some("Running".to_owned());
    }
    body.retries = (kind == "Job").then(|| retries(object)).flatten();
    body.failed_indexes = field::text(object, &["status", "failedIndexes"])
        .filter(|text| kind == "Job" && !text.is_empty())
        .map(str::to_owned);
    body.gave_up = (kind == "Job").then(|| gave_up(object)).flatten();
    let mut version = meta::version(key, object, body, context);
    for condition in field::items(object, &["status", "conditions"]) {
        let (Some(name), Some(status)) = (
            field::text(condition, &["type"]),
            field::text(condition, &["status"]),
        ) else {
            continue;
        };
        // Kueue says with False what a workload still waits for; elsewhere only True tells.
        if status != "True" && kind != "Workload" {
            continue;
        }
        let reason = field::text(condition, &["reason"]).unwrap_or_default();
        let since = field::time(condition, &["lastTransitionTime"])
            .or_else(|| field::time(condition, &["lastUpdateTime"]))
            .or(version.at)
            .unwrap_or(Stamp::OPEN);
        let mut event = meta::fact(
            "k8s.workload.condition",
            &version.key,
            &[name, status, reason],
            since,
            condition,
            context,
        );
        event.reason = Some(reason.to_owned()).filter(|reason| !reason.is_empty());
        event.message = field::text(condition, &["message"]).map(|text| redact(text).into_owned());
        event.set_attribute("condition", Some(name));
        event.set_attribute("status", Some(status));
        if kind == "Workload" {
            let queue = field::text(object, &["status", "admission", "clusterQueue"]);
            event.set_attribute("queue", queue);
        }
        let suspends = name == "Suspended" && status == "True";
        if suspends {
            queueing(&version, &mut event);
        }
        let made = version.body.created.filter(|_| suspends);
        if made.is_some_and(|made| since.lo.saturating_sub(made.hi) <= SECOND) {
            event.set_attribute("since_creation", Some("true"));
        }
        // Which parts of an indexed Job were done when it was over.
        if kind == "Job" && matches!(name, "Complete" | "Failed" | "FailureTarget") {
            event.set_attribute(
                "completed_indexes",
                field::text(object, &["status", "completedIndexes"])
                    .filter(|text| !text.is_empty()),
            );
        }
        out.push(Observation::Event(Box::new(event)));
    }
    for (of, word, why, since) in STATE_WORDS.iter().filter(|(of, ..)| *of == kind) {
        let Some(word) = field::text(object, word) else {
            continue;
        };
        // KubeRay is done with a job whatever became of it.
        let became = field::text(object, &["status", "jobStatus"]);
        if word == "Complete" && matches!(became, Some("FAILED" | "STOPPED")) {
            continue;
        }
        // While it tries again, the word of the job is that of the attempt before.
        let deployed = field::text(object, &["status", "jobDeploymentStatus"]);
        if word == "FAILED" && deployed == Some("Retrying") {
            continue;
        }
        let since = field::time(object, since)
            .or(version.at)
            .or(version.body.created)
            .unwrap_or(Stamp::OPEN);
        let raw = object.get("status").cloned().unwrap_or_default();
        let mut event = meta::fact(
            "k8s.workload.phase",
            &version.key,
            &[of, word],
            since,
            &raw,
            context,
        );
        // What KubeRay calls the job's own status is how the job stands; the rest is how it is deployed.
        if kind == "RayJob" && became == Some(word) {
            version.body.phase = Some(word.to_owned());
        }
        // The word lasts over many versions, each with a later time: one fact.
        event.id =
            crate::event::EventId::of(&["k8s.workload.phase", &version.key.identity(), word]);
        event.reason = Some(word.to_owned());
        event.message = field::text(object, why).map(|text| redact(text).into_owned());
        out.push(Observation::Event(Box::new(event)));
    }
    if kind == "Job" {
        out.extend(untouched(object, &version, context));
    }
    if kind == "Workflow" {
        let ends = argo::ends(object, &version, context);
        out.extend(ends.map(|event| Observation::Event(Box::new(event))));
    }
    let before_ends = out.len();
    meta::endings(&version, context, out);
    if orphans(object) {
        mark_orphans(&mut out[before_ends..]);
    }
    out.push(Observation::Object(Box::new(version)));
    Ok(())
}

/// What may suspend an object beside who wrote it: a queue that it names, or the object that made it.
fn queueing(version: &ObjectVersion, event: &mut Event) {
    let queue = version.body.labels.get("kueue.x-k8s.io/queue-name");
    event.set_attribute("local_queue", queue.map(String::as_str));
    let owner = version.body.owners.iter().find(|owner| owner.controller);
    event.set_attribute("made_by", owner.map(|owner| owner.kind.as_str()));
}

/// Whether an object is deleted in such a way that what it made goes on: the garbage collector takes this finalizer off once it
/// has let that go.
fn orphans(object: &Value) -> bool {
    let finalizers = field::items(object, &["metadata", "finalizers"]);
    finalizers.iter().any(|finalizer| finalizer == "orphan")
}

fn mark_orphans(endings: &mut [Observation]) {
    for one in endings {
        if let Observation::Event(event) = one {
            event.set_attribute("propagation", Some("Orphan"));
        }
    }
}

/// What a Job controller first does with a Job is to write since when it is at it: one without that word, which no other
/// controller was asked to look after, has not been looked at yet.
fn untouched(job: &Value, version: &ObjectVersion, context: Context<'_>) -> Option<Observation> {
    let body = &version.body;
    let status_words = [
        "startTime",
        "conditions",
        "active",
        "failed",
        "succeeded",
        "ready",
    ];
    let status = job.get("status");
    let is_touched = status_words.iter().any(|word| {
        let word = status.and_then(|status| status.get(word));
        word.is_some_and(|word| !word.is_null())
    });
    let managed = field::text(job, &["spec", "managedBy"]);
    let own = managed.is_none_or(|by| by == "kubernetes.io/job-controller");
    // What was printed for people has no uid, nor all of the status.
    let listed = context.source_kind != SourceKind::KubernetesAudit
        && !context.deleted
        && !version.key.uid.is_empty();
    let waits =
        own && listed && !is_touched && !body.suspended && body.deletion_requested.is_none();
    let created = body.created.filter(|_| waits && body.replicas != Some(0))?;
    let raw = serde_json::json!({ "status": status });
    let what = &["untouched"];
    let event = meta::fact(
        "k8s.workload.untouched",
        &version.key,
        what,
        created,
        &raw,
        context,
    );
    Some(Observation::Event(Box::new(event)))
}

fn fill(spec: &Value, body: &mut ObjectBody) {
    let mut specs = Vec::new();
    template::find(spec, 10, &mut specs);
    for spec in specs {
        let mut one = ObjectBody::default();
        template::fill(spec, &mut one);
        body.containers.append(&mut one.containers);
        body.restart_policy = body.restart_policy.take().or(one.restart_policy);
        body.priority_class = body.priority_class.take().or(one.priority_class);
        body.tolerations = body.tolerations.take().or(one.tolerations);
        body.node_selector.append(&mut one.node_selector);
    }
    body.suspended =
        field::flag(spec, &["suspend"]) || field::flag(spec, &["runPolicy", "suspend"]);
    body.replicas = field::int(spec, &["parallelism"])
        .or_else(|| field::int(spec, &["replicas"]))
        .or_else(|| {
            let sum = sum_of_replicas(spec, 6);
            (sum > 0).then_some(sum)
        });
    let mut requested = spec.clone();
    forget_size(&mut requested, 4);
    body.spec_hash = field::hash(&requested);
}

/// Leaves out how many pods are wanted, and whether any are: kinds that have groups, or a policy of how they run, say so there.
fn forget_size(spec: &mut Value, depth: u8) {
    match spec {
        Value::Object(fields) if depth > 0 => {
            for word in ["suspend", "replicas", "parallelism", "scaleStrategy"] {
                fields.remove(word);
            }
            for (_, below) in fields.iter_mut().filter(|(word, _)| *word != "template") {
                forget_size(below, depth - 1);
            }
        }
        Value::Array(items) if depth > 0 => {
            for item in items {
                forget_size(item, depth - 1);
            }
        }
        _ => {}
    }
}

/// The failures that a Job has counted, unless it is over or something else than their number ends it.
fn retries(job: &Value) -> Option<Retries> {
    const OVER: [&str; 4] = ["Complete", "Failed", "FailureTarget", "SuccessCriteriaMet"];
    let mut conditions = field::items(job, &["status", "conditions"]).iter();
    let is_over = conditions.any(|one| {
        let is_true = field::text(one, &["status"]) == Some("True");
        is_true && field::text(one, &["type"]).is_some_and(|word| OVER.contains(&word))
    });
    let mut policy = field::items(job, &["spec", "podFailurePolicy", "rules"]).iter();
    let fails_at_once = policy.any(|rule| field::text(rule, &["action"]) == Some("FailJob"));
    let count = |word| field::int(job, &["status", word]).unwrap_or(0);
    let (active, failed) = (count("active"), count("failed"));
    // One that no controller has looked at yet counts nothing.
    if is_over || fails_at_once || active.max(failed) < 1 {
        return None;
    }
    let limit = match field::at(job, &["spec", "backoffLimitPerIndex"]) {
        Some(_) if active < 1 => return None,
        Some(_) => failed.saturating_add(active - 1),
        None => field::int(job, &["spec", "backoffLimit"])?,
    };
    Some(Retries { failed, limit })
}

/// The failures that a Job had counted when it was given up, for their number or for its time. A pod that is started again in place
/// fails more than once, a policy may leave some out, and where each index has a limit of its own their number says nothing.
fn gave_up(job: &Value) -> Option<Retries> {
    let conditions = field::items(job, &["status", "conditions"]);
    let is_given_up = conditions.iter().any(|one| {
        let is = |word, values: &[&str]| {
            field::text(one, &[word]).is_some_and(|found| values.contains(&found))
        };
        is("status", &["True"])
            && is("type", &["Failed", "FailureTarget"])
            && is("reason", &["BackoffLimitExceeded", "DeadlineExceeded"])
    });
    let pod = ["spec", "template", "spec", "restartPolicy"];
    let is_plain = field::text(job, &pod) == Some("Never")
        && field::at(job, &["spec", "backoffLimitPerIndex"]).is_none()
        && field::items(job, &["spec", "podFailurePolicy", "rules"]).is_empty();
    (is_given_up && is_plain).then_some(Retries {
        failed: field::int(job, &["status", "failed"])?,
        limit: field::int(job, &["spec", "backoffLimit"])?,
    })
}

/// Replicas of all groups of a kind that has groups.
fn sum_of_replicas(value: &Value, depth: u8) -> i64 {
    match value {
        Value::Object(map) if depth > 0 => {
            let own = map.get("replicas").and_then(Value::as_i64).unwrap_or(0);
            let below: i64 = map
                .values()
                .map(|value| sum_of_replicas(value, depth - 1))
                .sum();
            own.saturating_add(below)
        }
        Value::Array(items) if depth > 0 => items
            .iter()
            .map(|item| sum_of_replicas(item, depth - 1))
            .sum(),
        _ => 0,
    }
}

/// A volume claim: whether it found a volume.
pub(super) fn decode_claim(
    object: &Value,
    context: Context<'_>,
    out: &mut Vec<Observation>,
) -> Result<(), Rejection> {
    let key = meta::key("PersistentVolumeClaim", object)?;
    let version = meta::version(key, object, meta::body(object), context);
    if let Some(phase) = version.body.phase.as_deref() {
        let since = version.body.created.or(version.at).unwrap_or(Stamp::OPEN);
        let raw = object.get("status").cloned().unwrap_or_default();
        let mut event = meta::fact(
            "k8s.pvc.phase",
            &version.key,
            &[phase],
            since,
            &raw,
            context,
        );
        event.reason = Some(phase.to_owned());
        out.push(Observation::Event(Box::new(event)));
    }
    meta::endings(&version, context, out);
    out.push(Observation::Object(Box::new(version)));
    Ok(())
}

/// A namespace: whether it was asked to go, and what is in it with it.
pub(super) fn decode_namespace(
    object: &Value,
    context: Context<'_>,
    out: &mut Vec<Observation>,
) -> Result<(), Rejection> {
    let key = meta::key("Namespace", object)?;
    let version = meta::version(key, object, meta::body(object), context);
    let Some(event) = meta::deletion_requested(&version, context) else {
        return Err(Rejection::Irrelevant("a namespace that stays".to_owned()));
    };
    out.push(Observation::Event(Box::new(event)));
    Ok(())
}
