//! Pods: what their status says of how they lived and died.

use serde_json::Value;

use super::decode::Context;
use super::{checkup, field, meta, readiness, template};
use crate::event::{Event, SourceKind};
use crate::object::{ObjectBody, ObjectKey, ObjectVersion};
use crate::observation::{Observation, Rejection};
use crate::redact::redact;
use crate::time::{Nanos, SECOND, Stamp};

/// Pod conditions that tell more than the container states do.
const CONDITIONS: [&str; 6] = [
    "DisruptionTarget",
    "PodScheduled",
    "Ready",
    "TerminationTarget",
    "PodReadyToStartContainers",
    "FailureTarget",
];

pub(super) fn decode(
    pod: &Value,
    context: Context<'_>,
    out: &mut Vec<Observation>,
) -> Result<(), Rejection> {
    let key = meta::key("Pod", pod)?;
    let mut body = meta::body(pod);
    // What kubectl prints for people has no creation time; the kubelet took the
    // pod on soon after it.
    if body.created.is_none() {
        body.created = field::time(pod, &["status", "startTime"]);
    }
    if let Some(spec) = pod.get("spec") {
        template::fill(spec, &mut body);
        body.node = field::owned(spec, &["nodeName"]);
        body.spec_hash = spec_hash(spec);
    }
    body.ready = ready(pod);
    let mut facts = Vec::new();
    containers(pod, &key, &mut body, context, &mut facts);
    let version = meta::version(key, pod, body, context);
    conditions(pod, &version, context, &mut facts);
    status(pod, &version, context, &mut facts);
    for mut event in facts {
        if let Some(test) = checkup::failed(&event, &version) {
            out.push(Observation::Event(Box::new(test)));
        }
        event.entities.node = event.entities.node.or_else(|| version.body.node.clone());
        event.rank = version.body.rank();
        event.entities.experiment = version.body.experiment().map(str::to_owned);
        out.push(Observation::Event(Box::new(event)));
    }
    meta::endings(&version, context, out);
    out.push(Observation::Object(Box::new(version)));
    Ok(())
}

/// What was asked for, without what the cluster filled in.
fn spec_hash(spec: &Value) -> String {
    let mut requested = spec.clone();
    if let Value::Object(fields) = &mut requested {
        for filled in [
            "nodeName",
            "volumes",
            "hostname",
            "subdomain",
            "tolerations",
        ] {
            fields.remove(filled);
        }
    }
    field::hash(&requested)
}

fn containers(
    pod: &Value,
    key: &ObjectKey,
    body: &mut ObjectBody,
    context: Context<'_>,
    facts: &mut Vec<Event>,
) {
    let mut all_ended = true;
    let mut last_end: Option<Stamp> = None;
    for (list, init) in [
        ("containerStatuses", false),
        ("initContainerStatuses", true),
    ] {
        for status in field::items(pod, &["status", list]) {
            let name = field::text(status, &["name"]).unwrap_or_default();
            let restarts = field::int(status, &["restartCount"]).unwrap_or(0);
            if !init {
                body.restarts.insert(name.to_owned(), restarts);
                readiness::note_state(status, name, body);
            }
            for (state, before) in [("lastState", 1), ("state", 0)] {
                if let Some(ended) =
                    field::at(status, &[state, "terminated"]).filter(|ended| ended.is_object())
                {
                    let finished = field::time(ended, &["finishedAt"]);
                    // Without its own time it ended somewhere between the pod's start and this.
                    let over = if state == "state" {
                        not_ready_since(pod, body)
                    } else {
                        field::time(status, &["state", "running", "startedAt"])
                    };
                    let event = terminated(
                        key,
                        name,
                        ended,
                        finished.or_else(|| unfinished(over, body, context)),
                        init,
                        restarts - before,
                        context,
                    );
                    facts.push(event);
                    if !init && state == "state" {
                        last_end = last_end.max(finished);
                    }
                }
                if let Some(started) = field::time(status, &[state, "running", "startedAt"])
                    .or_else(|| field::time(status, &[state, "terminated", "startedAt"]))
                {
                    if !init {
                        body.started =
                            Some(body.started.map_or(started, |earlier| earlier.min(started)));
                    }
                    let mut event = meta::fact(
                        "k8s.container.started",
                        key,
                        &[name],
                        started,
                        status,
                        context,
                    );
                    event.entities.container = Some(name.to_owned());
                    event.raw = String::new();
                    mark_init(&mut event, init);
                    facts.push(event);
                }
            }
            if let Some(waiting) =
                field::at(status, &["state", "waiting"]).filter(|waiting| waiting.is_object())
            {
                body.waits.extend(field::owned(waiting, &["reason"]));
                facts.push(self::waiting(
                    (pod, status),
                    key,
                    name,
                    waiting,
                    init,
                    body,
                    context,
                ));
            }
            if !init && field::at(status, &["state", "terminated"]).is_none_or(Value::is_null) {
                all_ended = false;
            }
        }
    }
    if all_ended {
        body.ended = last_end;
    }
}

fn terminated(
    key: &ObjectKey,
    name: &str,
    ended: &Value,
    finished: Option<Stamp>,
    init: bool,
    restart: i64,
    context: Context<'_>,
) -> Event {
    let exit_code = field::int(ended, &["exitCode"]).and_then(|code| i32::try_from(code).ok());
    let reason = field::owned(ended, &["reason"]);
    let time = finished.unwrap_or(Stamp::OPEN);
    let code = exit_code.map(|code| code.to_string()).unwrap_or_default();
    let what = [name, code.as_str(), reason.as_deref().unwrap_or_default()];
    let mut event = meta::fact("k8s.container.terminated", key, &what, time, ended, context);
    event.exit_code = exit_code;
    event.reason = reason;
    event.message = field::text(ended, &["message"]).map(|text| redact(text).into_owned());
    event.entities.container = Some(name.to_owned());
    event.set_attribute("restart", Some(restart));
    event.set_attribute(
        "signal",
        field::int(ended, &["signal"]).filter(|signal| *signal != 0),
    );
    let started =
        field::time(ended, &["startedAt"]).and_then(|_| field::owned(ended, &["startedAt"]));
    event.set_attribute("started", started);
    mark_init(&mut event, init);
    event
}

/// Between which instants something ended that was over at the latest by `over`, by when its pod was
/// looked at, or by when somebody asked for its end.
fn unfinished(over: Option<Stamp>, body: &ObjectBody, context: Context<'_>) -> Option<Stamp> {
    let lo = body.started.or(body.created)?.lo;
    let known = [over, context.at, body.deletion_requested];
    let hi = known.into_iter().flatten().map(|known| known.hi).min()?;
    Some(Stamp { lo, hi: hi.max(lo) })
}

/// Whether a pod is ready, and since when.
fn ready(pod: &Value) -> Option<(bool, Stamp)> {
    let mut conditions = field::items(pod, &["status", "conditions"]).iter();
    let ready = conditions.find(|one| field::text(one, &["type"]) == Some("Ready"))?;
    let since = field::time(ready, &["lastTransitionTime"])?;
    match field::text(ready, &["status"])? {
        "True" => Some((true, since)),
        "False" => Some((false, since)),
        _ => None,
    }
}

/// Since when a pod is not ready that had been.
fn not_ready_since(pod: &Value, body: &ObjectBody) -> Option<Stamp> {
    let (is_ready, since) = ready(pod)?;
    let begun = body.started.or(body.created)?;
    (!is_ready && since.lo > begun.hi).then_some(since)
}

fn waiting(
    (pod, container): (&Value, &Value),
    key: &ObjectKey,
    name: &str,
    waiting: &Value,
    init: bool,
    body: &ObjectBody,
    context: Context<'_>,
) -> Event {
    let reason = field::text(waiting, &["reason"]).unwrap_or_default();
    // A waiting state carries no time; the pod's own start bounds it from below, and of one that cannot be started again its
    // last end. A back-off is a container's of which each end is known.
    let ended = field::time(container, &["lastState", "terminated", "finishedAt"])
        .filter(|_| reason != "CrashLoopBackOff")
        .map(|ended| Stamp::exact(ended.hi));
    let since = ended
        .or_else(|| field::time(pod, &["status", "startTime"]))
        .or(body.created)
        .or(context.at)
        .unwrap_or(Stamp::OPEN);
    let mut event = meta::fact(
        "k8s.container.waiting",
        key,
        &[name, reason],
        since,
        waiting,
        context,
    );
    event.reason = Some(reason.to_owned());
    event.message = field::text(waiting, &["message"]).map(|text| redact(text).into_owned());
    event.entities.container = Some(name.to_owned());
    mark_init(&mut event, init);
    event
}

fn mark_init(event: &mut Event, init: bool) {
    event.set_attribute("init", init.then_some("true"));
}

fn conditions(pod: &Value, version: &ObjectVersion, context: Context<'_>, facts: &mut Vec<Event>) {
    unscheduled(pod, version, context, facts);
    facts.extend(untaken(pod, version, context));
    // `Evicted`, `NodeShutdown`, …: the kubelet's own word for how the pod ended.
    let has_verdict = field::text(pod, &["status", "reason"]).is_some();
    for condition in field::items(pod, &["status", "conditions"]) {
        let Some(kind) = field::text(condition, &["type"]) else {
            continue;
        };
        if !CONDITIONS.contains(&kind) {
            continue;
        }
        let status = field::text(condition, &["status"]).unwrap_or_default();
        let since = field::time(condition, &["lastTransitionTime"])
            .or(version.at)
            .or(version.body.created)
            .unwrap_or(Stamp::OPEN);
        let reason = field::text(condition, &["reason"]).unwrap_or_default();
        let Some(since) = disrupted_at(kind, reason, since, has_verdict, version) else {
            continue;
        };
        let fact = if kind == "PodScheduled" && status == "True" {
            "k8s.pod.bound"
        } else {
            "k8s.pod.condition"
        };
        // A pod may be disrupted more than once, each time for another reason.
        let what: &[&str] = if kind == DISRUPTED {
            &[kind, status, reason]
        } else {
            &[kind, status]
        };
        let mut event = meta::fact(fact, &version.key, what, since, condition, context);
        event.reason = Some(reason.to_owned()).filter(|reason| !reason.is_empty());
        event.message = field::text(condition, &["message"]).map(|text| redact(text).into_owned());
        event.set_attribute("condition", Some(kind));
        event.set_attribute("status", Some(status));
        // A pod that had been ready all the time has no reason there; what is printed for people leaves out all of them.
        let is_timed = field::time(condition, &["lastTransitionTime"]).is_some();
        let is_known = reason == "ContainersNotReady" || reason.is_empty() && is_timed;
        if kind == "Ready" && status == "False" && is_known {
            event.set_attribute("containers_ready", readiness::containers_ready(pod));
        }
        // Schedulers write who they are: `koord-scheduler: preempting to accommodate …`.
        if reason == "PreemptionByScheduler" {
            let who = event
                .message
                .as_deref()
                .and_then(|text| text.split_once(": "));
            let who = who.filter(|(who, _)| who.ends_with("scheduler") && !who.contains(' '));
            event.actor = who.map(|(who, _)| who.to_owned());
        }
        facts.push(event);
    }
}

/// A scheduler's first word on a pod is its `PodScheduled` condition: a pod without a
/// node and without that word has not been looked at yet.
fn unscheduled(pod: &Value, version: &ObjectVersion, context: Context<'_>, facts: &mut Vec<Event>) {
    let body = &version.body;
    let conditions = field::items(pod, &["status", "conditions"]);
    let looked_at = conditions
        .iter()
        .any(|condition| field::text(condition, &["type"]) == Some("PodScheduled"));
    let waits = body.phase.as_deref() == Some("Pending")
        && body.node.is_none()
        && body.deletion_requested.is_none()
        && context.source_kind != SourceKind::KubernetesAudit;
    if let (true, false, Some(created)) = (waits, looked_at, body.created) {
        let scheduler = field::text(pod, &["spec", "schedulerName"]).unwrap_or("default-scheduler");
        let raw = serde_json::json!({ "phase": "Pending", "schedulerName": scheduler });
        let what = &["unscheduled"];
        let mut event = meta::fact(
            "k8s.pod.unscheduled",
            &version.key,
            what,
            created,
            &raw,
            context,
        );
        event.set_attribute("detail", Some(scheduler));
        facts.push(event);
    }
}

/// A kubelet's first word on a pod is since when it is at it, before it has done anything else: a pod that was bound and is
/// without that word has not been taken on yet.
fn untaken(pod: &Value, version: &ObjectVersion, context: Context<'_>) -> Option<Event> {
    let body = &version.body;
    let has_status =
        |word: &str| field::at(pod, &["status", word]).is_some_and(|word| !word.is_null());
    let statuses = ["containerStatuses", "initContainerStatuses"];
    let is_taken = has_status("startTime")
        || statuses
            .iter()
            .any(|list| !field::items(pod, &["status", list]).is_empty());
    let waits = body.phase.as_deref() == Some("Pending")
        && body.node.is_some()
        && body.deletion_requested.is_none()
        && !is_taken
        && !context.deleted
        // What was printed for people has no uid, nor all of the status.
        && !version.key.uid.is_empty()
        && context.source_kind != SourceKind::KubernetesAudit;
    let conditions = field::items(pod, &["status", "conditions"]);
    let mut bound = conditions.iter().filter(|condition| {
        field::text(condition, &["type"]) == Some("PodScheduled")
            && field::text(condition, &["status"]) == Some("True")
    });
    let bound = bound
        .next()
        .and_then(|bound| field::time(bound, &["lastTransitionTime"]));
    let bound = bound.or(body.created).filter(|_| waits)?;
    let raw = serde_json::json!({ "phase": "Pending", "nodeName": body.node });
    let what = &["untaken"];
    Some(meta::fact(
        "k8s.pod.untaken",
        &version.key,
        what,
        bound,
        &raw,
        context,
    ))
}

/// The condition of a pod that is being deleted, evicted or preempted.
const DISRUPTED: &str = "DisruptionTarget";

/// Reasons of those who delete the pod through the API just after they set the condition.
const DELETERS: [&str; 5] = [
    "DeletionByDeviceTaintManager",
    "DeletionByPodGC",
    "DeletionByTaintManager",
    "EvictionByEvictionAPI",
    "PreemptionByScheduler",
];

/// A deletion follows its condition within this long.
const AT_ONCE: Nanos = 60 * SECOND;

/// When a condition came to be; `None` for an act on a pod that had ended, at a time
/// that is not known.
///
/// A condition keeps the time of its first transition when its reason changes: that of
/// a pod which the kubelet had evicted, and whose leftover somebody deleted an hour
/// later, names the deletion under the time of the eviction.
fn disrupted_at(
    kind: &str,
    reason: &str,
    since: Stamp,
    has_verdict: bool,
    version: &ObjectVersion,
) -> Option<Stamp> {
    if kind != DISRUPTED || !DELETERS.contains(&reason) {
        return Some(since);
    }
    match version.body.deletion_requested {
        // What its kubelet had ended was cleared away when that was asked for, however soon it was.
        Some(requested) if has_verdict => Some(requested.max(since)),
        Some(requested) if requested.lo > since.hi.saturating_add(AT_ONCE) => Some(requested),
        Some(_) => Some(since),
        // A running pod bears this condition before its deletion is asked for. One that had
        // ended by then, or of which the kubelet says why it ended, did not end of it.
        None => {
            let before = version.body.ended.is_some_and(|ended| ended.hi <= since.lo);
            (!before && !has_verdict).then_some(since)
        }
    }
}

fn status(pod: &Value, version: &ObjectVersion, context: Context<'_>, facts: &mut Vec<Event>) {
    let Some(status) = pod.get("status") else {
        return;
    };
    let phase = version.body.phase.as_deref().unwrap_or_default();
    let ended = version
        .body
        .ended
        .or_else(|| ready_ended(status))
        .or(version.body.deletion_requested)
        .or(version.at)
        .or(version.body.created)
        .unwrap_or(Stamp::OPEN);
    if matches!(phase, "Succeeded" | "Failed") {
        let raw = serde_json::json!({ "phase": phase });
        let mut event = meta::fact(
            "k8s.pod.phase",
            &version.key,
            &[phase],
            ended,
            &raw,
            context,
        );
        event.reason = Some(phase.to_owned());
        facts.push(event);
    }
    if let Some(reason) = field::text(status, &["reason"]) {
        let message = field::text(status, &["message"]);
        let raw = serde_json::json!({ "phase": phase, "reason": reason, "message": message });
        let mut event = meta::fact(
            "k8s.pod.status",
            &version.key,
            &[reason],
            ended,
            &raw,
            context,
        );
        event.reason = Some(reason.to_owned());
        event.message = message.map(|text| redact(text).into_owned());
        event.set_attribute("phase", Some(phase).filter(|phase| !phase.is_empty()));
        facts.push(event);
    }
}

/// When the pod stopped being ready for good.
fn ready_ended(status: &Value) -> Option<Stamp> {
    field::items(status, &["conditions"])
        .iter()
        .filter(|condition| {
            matches!(
                field::text(condition, &["type"]),
                Some("Ready" | "DisruptionTarget")
            )
        })
        .filter(|condition| {
            field::text(condition, &["type"]) == Some("DisruptionTarget")
                || field::text(condition, &["status"]) == Some("False")
        })
        .filter_map(|condition| field::time(condition, &["lastTransitionTime"]))
        .max()
}
