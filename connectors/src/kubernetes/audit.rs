//! Audit records: who did what to which object, and the objects and Events in their bodies.

use serde_json::Value;

use self::act::AuditAct;
use super::decode::{Context, decode_value};
use super::{event, field, status_patch};
use crate::event::SourceKind;
use crate::kind;
use crate::observation::{Observation, Rejection};
use crate::time::Stamp;

mod act;
mod attributes;
mod command;

const MUTATING: [&str; 5] = ["create", "update", "patch", "delete", "deletecollection"];

pub(super) fn decode(
    json: &[u8],
    context: Context<'_>,
    out: &mut Vec<Observation>,
) -> Result<(), Rejection> {
    let record: Value =
        serde_json::from_slice(json).map_err(|error| Rejection::Malformed(error.to_string()))?;
    let Some(audit_id) = field::text(&record, &["auditID"]) else {
        return Err(Rejection::Malformed(
            "an audit record without a text auditID".to_owned(),
        ));
    };
    let stage = field::text(&record, &["stage"]).unwrap_or_default();
    let executes = field::text(&record, &["objectRef", "subresource"]) == Some("exec");
    if matches!(stage, "RequestReceived" | "ResponseStarted") {
        return Err(Rejection::Irrelevant(
            "an audit record of a request not answered yet".to_owned(),
        ));
    }
    let verb = field::text(&record, &["verb"]).unwrap_or_default();
    let resource = field::text(&record, &["objectRef", "resource"]).unwrap_or_default();
    // Whoever runs a command in a container gets a stream, or creates one, as the client's protocol has it.
    if !(MUTATING.contains(&verb) || executes && verb == "get") || resource.is_empty() {
        return Err(Rejection::Irrelevant(
            "an audit record of a request that changes nothing".to_owned(),
        ));
    }
    let Some(received) = field::time(&record, &["requestReceivedTimestamp"])
        .or_else(|| field::time(&record, &["stageTimestamp"]))
    else {
        return Err(Rejection::Malformed(
            "an audit record without requestReceivedTimestamp".to_owned(),
        ));
    };
    let answered = field::time(&record, &["stageTimestamp"])
        .unwrap_or(received)
        .max(received);
    let context = Context {
        source_kind: SourceKind::KubernetesAudit,
        at: Some(Stamp {
            lo: received.lo,
            hi: answered.hi,
        }),
        ..context
    };
    let done = field::int(&record, &["responseStatus", "code"])
        .is_none_or(|code| (200..300).contains(&code));
    let dry_run = is_dry_run(&record);
    if resource == "events" {
        return recovered_event(&record, verb, context, out);
    }

    let group = field::text(&record, &["objectRef", "apiGroup"]).unwrap_or_default();
    let kind = kind::of_resource(resource, group);
    let concerns = matches!(
        kind.as_str(),
        "Pod" | "Node" | "PersistentVolumeClaim" | "Namespace"
    ) || kind::is_workload(&kind)
        || verb.starts_with("delete")
            && (is_of_karpenter(&kind, group) || is_service(&kind, group))
        || matches!(verb, "update" | "patch") && is_queue(&kind, group)
        || verb == "create" && command::is_one(&kind, group);
    if !concerns {
        return Err(Rejection::Irrelevant(format!(
            "an audit record about {resource}"
        )));
    }
    let act = AuditAct {
        record: &record,
        audit_id,
        verb,
        kind: &kind,
        received,
        context,
    };
    act.emit(out);
    if done && !dry_run && !is_service(&kind, group) {
        bodies(&record, verb, &kind, context, out);
    }
    Ok(())
}

/// Whether an object is one for which Karpenter keeps a machine: it empties that machine when the object is deleted.
fn is_of_karpenter(kind: &str, group: &str) -> bool {
    matches!(kind, "NodeClaim" | "NodePool") && group == "karpenter.sh"
}

/// Whether an object is what gives pods a name: who looks for them by it finds nothing once it is gone.
fn is_service(kind: &str, group: &str) -> bool {
    kind == "Service" && group.is_empty()
}

/// Whether an object is one of Kueue's queues, which stops what it let in where somebody has it do so.
fn is_queue(kind: &str, group: &str) -> bool {
    matches!(kind, "ClusterQueue" | "LocalQueue") && group == "kueue.x-k8s.io"
}

/// Whether the server was only asked what it would do: an eviction and a deletion may say so in
/// their bodies.
fn is_dry_run(record: &Value) -> bool {
    let in_uri = field::text(record, &["requestURI"]).is_some_and(|uri| uri.contains("dryRun=All"));
    let bodies = [
        &["requestObject", "deleteOptions", "dryRun"][..],
        &["requestObject", "dryRun"][..],
    ];
    in_uri
        || bodies
            .iter()
            .any(|path| !field::items(record, path).is_empty())
}

/// Events outlive their hour in the audit log.
fn recovered_event(
    record: &Value,
    verb: &str,
    context: Context<'_>,
    out: &mut Vec<Observation>,
) -> Result<(), Rejection> {
    let body = record.get("requestObject").filter(|body| body.is_object());
    match (verb, body) {
        ("create" | "update", Some(body)) => {
            let event = event::decode_value(body, context)?;
            out.push(Observation::Event(Box::new(event)));
            Ok(())
        }
        ("patch", Some(body)) => {
            let (Some(namespace), Some(name)) = (
                field::owned(record, &["objectRef", "namespace"]),
                field::owned(record, &["objectRef", "name"]),
            ) else {
                return Err(Rejection::Malformed(
                    "an audit record of an Event patch without its name".to_owned(),
                ));
            };
            let series = body.get("series");
            out.push(Observation::EventGrew {
                namespace,
                name,
                count: series
                    .and_then(|series| field::int(series, &["count"]))
                    .or_else(|| field::int(body, &["count"]))
                    .and_then(|count| u64::try_from(count).ok()),
                last: series
                    .and_then(|series| field::time(series, &["lastObservedTime"]))
                    .or_else(|| field::time(body, &["lastTimestamp"])),
            });
            Ok(())
        }
        _ => Err(Rejection::Irrelevant(
            "an audit record of an Event without its body".to_owned(),
        )),
    }
}

/// Objects as the API server answered them.
fn bodies(
    record: &Value,
    verb: &str,
    kind: &str,
    context: Context<'_>,
    out: &mut Vec<Observation>,
) {
    let Some(answer) = record
        .get("responseObject")
        .filter(|answer| answer.is_object())
    else {
        if kind == "Pod" && verb == "patch" {
            status_patch::facts(record, context, out);
        }
        return;
    };
    if field::text(answer, &["kind"]) == Some("Status")
        || field::text(record, &["objectRef", "subresource"]).is_some_and(|sub| sub != "status")
    {
        return;
    }
    // A delete answers with the object; it is gone unless it still has time or finalizers to go.
    let lingers = |object: &Value| {
        field::int(object, &["metadata", "deletionGracePeriodSeconds"]).unwrap_or(0) > 0
            || !field::items(object, &["metadata", "finalizers"]).is_empty()
    };
    let deletes = matches!(verb, "delete" | "deletecollection");
    // A patch answers for the fields it names; what else differs was others' work.
    let names = |field| field::at(record, &["requestObject", "spec", field]).is_some();
    let closes = names("unschedulable") || names("taints");
    let wrote = kind != "Node" || verb == "update" || (verb == "patch" && closes);
    let by = user(record).filter(|_| wrote);
    let context = Context {
        deleted: deletes && !lingers(answer),
        by,
        ..context
    };
    let before = out.len();
    // Bodies are read for what they hold; a kind this tool does not explain is no fault of the record.
    let _irrelevant = decode_value(answer, Some(kind), context, out);
    let spec = field::at(record, &["requestObject", "spec"]).and_then(Value::as_object);
    let of_object = field::at(record, &["objectRef", "subresource"]).is_none();
    if let Some(spec) = spec.filter(|_| verb == "patch" && (kind == "Node" || of_object)) {
        for one in out.iter_mut().skip(before) {
            if let Observation::Object(version) = one {
                version.body.written = spec.keys().cloned().collect();
            }
        }
    }
}

/// Whose request it was: a proxy such as Rancher's or Teleport's asks in the name of the person before it. A person who asks in
/// another one's name (`kubectl --as`) did it all the same.
fn user(record: &Value) -> Option<&str> {
    let named = |who: &str| field::text(record, &[who, "username"]);
    let own = named("user");
    named("impersonatedUser")
        .filter(|_| own.is_none_or(is_proxy))
        .or(own)
}

/// Whether a name is that of something that stands between people and the API server.
fn is_proxy(name: &str) -> bool {
    const WORDS: [&str; 10] = [
        "auth",
        "cattle",
        "dashboard",
        "gateway",
        "impersonat",
        "oidc",
        "portal",
        "proxy",
        "rancher",
        "teleport",
    ];
    let name = name.to_ascii_lowercase();
    name.starts_with("system:") || WORDS.iter().any(|word| name.contains(word))
}
