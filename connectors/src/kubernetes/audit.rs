//! Audit records: who did what to which object, and the objects and Events in their bodies.

use serde_json::Value;

use super::decode::{Context, decode_value};
use super::{event, field, status_patch};
use crate::kind;

use crate::event::{Event, EventId, SourceKind};
use crate::observation::{Observation, Rejection};
use crate::redact::{arguments, redact};
use crate::time::{SECOND, Stamp, TimeKind};

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
        || verb.starts_with("delete") && is_of_karpenter(&kind, group);
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
    if done && !dry_run {
        bodies(&record, verb, &kind, context, out);
    }
    Ok(())
}

/// Whether an object is one for which Karpenter keeps a machine: it empties that machine when the object is deleted.
fn is_of_karpenter(kind: &str, group: &str) -> bool {
    matches!(kind, "NodeClaim" | "NodePool") && group == "karpenter.sh"
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
    if let Some(spec) = spec.filter(|_| kind == "Node" && verb == "patch") {
        for one in out.iter_mut().skip(before) {
            if let Observation::Object(version) = one {
                version.body.written = spec.keys().cloned().collect();
            }
        }
    }
}

/// Whose request it was: a proxy such as Rancher's or Teleport's asks in the name of the person before it.
fn user(record: &Value) -> Option<&str> {
    let named = |who: &str| field::text(record, &[who, "username"]);
    named("impersonatedUser").or_else(|| named("user"))
}

/// One act on one object, or on a collection of them.
struct AuditAct<'a> {
    record: &'a Value,
    audit_id: &'a str,
    verb: &'a str,
    kind: &'a str,
    received: Stamp,
    context: Context<'a>,
}

impl AuditAct<'_> {
    fn emit(&self, out: &mut Vec<Observation>) {
        let Some(fact) = self.fact() else { return };
        let answer = self.record.get("responseObject");
        let collected = answer.map_or(&[][..], |answer| field::items(answer, &["items"]));
        if self.verb == "deletecollection" && !collected.is_empty() {
            for object in collected {
                out.push(Observation::Event(Box::new(self.event(fact, Some(object)))));
            }
            return;
        }
        out.push(Observation::Event(Box::new(self.event(fact, answer))));
    }

    /// What kind of fact the act is; `None` for the controllers' bookkeeping.
    fn fact(&self) -> Option<&'static str> {
        let subresource = field::text(self.record, &["objectRef", "subresource"]);
        match (self.verb, subresource) {
            ("create" | "get", Some("exec")) => Some("k8s.audit.exec"),
            ("create", Some("eviction")) => Some("k8s.audit.evict"),
            ("create", Some("binding")) => Some("k8s.audit.bind"),
            ("create", None) => Some("k8s.audit.create"),
            ("delete", None) => Some("k8s.audit.delete"),
            ("deletecollection", None) => Some("k8s.audit.deletecollection"),
            ("update" | "patch", Some("status")) => {
                if self.reports() {
                    return Some("k8s.audit.report");
                }
                let marks_disruption = self.kind == "Pod"
                    && self
                        .body_text()
                        .is_some_and(|body| body.contains("\"DisruptionTarget\""));
                marks_disruption.then_some("k8s.audit.patch")
            }
            ("update" | "patch", None | Some("scale")) => {
                let body = self.record.get("requestObject");
                if self.counts_an_end() {
                    return Some("k8s.audit.untrack");
                }
                let only_metadata = body.and_then(Value::as_object).is_some_and(|body| {
                    body.keys()
                        .all(|key| matches!(key.as_str(), "metadata" | "kind" | "apiVersion"))
                });
                if only_metadata {
                    return None;
                }
                if let Some(cordon) = self.cordon() {
                    // Where the answer holds the node, the difference to the version before tells it.
                    let emitted = field::at(self.record, &["responseObject", "spec"]).is_some();
                    return (!emitted).then_some(cordon);
                }
                Some(if self.verb == "update" {
                    "k8s.audit.update"
                } else {
                    "k8s.audit.patch"
                })
            }
            _ => None,
        }
    }

    /// The Job controller takes its finalizer off a pod once that has ended; it patches
    /// pods for hardly anything else.
    fn counts_an_end(&self) -> bool {
        const CONTROLLER: &str = "system:serviceaccount:kube-system:job-controller";
        let by = user(self.record);
        let names_it = |body: String| body.contains("batch.kubernetes.io/job-tracking");
        self.kind == "Pod"
            && self.verb == "patch"
            && by == Some(CONTROLLER)
            && self.body_text().is_none_or(names_it)
    }

    /// A kubelet reports what became of a pod of its own. Where the log keeps no bodies that is all that is told.
    fn reports(&self) -> bool {
        let kept = ["requestObject", "responseObject"].iter();
        let mut kept = kept.filter_map(|body| self.record.get(body));
        self.kind == "Pod"
            && user(self.record).is_some_and(|user| user.starts_with("system:node:"))
            && !kept.any(Value::is_object)
    }

    /// A patch that makes a node unschedulable or schedulable. null, false and
    /// absent all mean schedulable; kubectl sends null.
    fn cordon(&self) -> Option<&'static str> {
        if self.kind != "Node" || self.verb != "patch" {
            return None;
        }
        let wanted = field::at(self.record, &["requestObject", "spec", "unschedulable"])?;
        Some(if wanted.as_bool() == Some(true) {
            "k8s.node.cordoned"
        } else {
            "k8s.node.uncordoned"
        })
    }

    fn body_text(&self) -> Option<String> {
        self.record
            .get("requestObject")
            .filter(|body| body.is_object())
            .map(Value::to_string)
    }

    fn event(&self, fact: &str, object: Option<&Value>) -> Event {
        let reference = |key: &str| field::owned(self.record, &["objectRef", key]);
        let of = |key: &str| object.and_then(|object| field::owned(object, &["metadata", key]));
        // The answer to a delete may be a Status whose details hold the uid; a
        // binding's and an eviction's uid stands in their own metadata.
        let uid = of("uid")
            .or_else(|| object.and_then(|object| field::owned(object, &["details", "uid"])))
            .or_else(|| reference("uid"))
            .or_else(|| field::owned(self.record, &["responseStatus", "details", "uid"]))
            .or_else(|| field::owned(self.record, &["requestObject", "metadata", "uid"]));
        let name = reference("name").or_else(|| of("name"));
        let namespace = reference("namespace").or_else(|| of("namespace"));
        let distinct = if self.verb == "deletecollection" {
            uid.as_deref().or(name.as_deref())
        } else {
            None
        };
        let id = EventId::of(&["k8s.audit", self.audit_id, distinct.unwrap_or_default()]);
        let mut event = Event::new(id, fact, self.received, SourceKind::KubernetesAudit);
        event.time_kind = TimeKind::Received;
        event.actor = user(self.record).map(str::to_owned);
        event.object_kind = Some(self.kind.to_owned());
        event.object_uid.clone_from(&uid);
        event.reason = field::owned(self.record, &["responseStatus", "reason"]);
        event.message = field::text(self.record, &["responseStatus", "message"])
            .map(|text| redact(text).into_owned());
        event.origin = self.context.origin.clone();
        let target = field::owned(self.record, &["requestObject", "target", "name"]);
        let bound_to = (fact == "k8s.audit.bind").then_some(target).flatten();
        match self.kind {
            "Pod" => {
                event.entities.namespace = namespace;
                event.entities.pod = name;
                event.entities.pod_uid = uid;
                event.entities.node = bound_to.or_else(|| {
                    object.and_then(|object| field::owned(object, &["spec", "nodeName"]))
                });
            }
            "Node" => event.entities.node = name,
            "NodeClaim" => {
                event.entities.node = object
                    .and_then(|object| field::owned(object, &["status", "nodeName"]))
                    .filter(|node| !node.is_empty());
                event.set_attribute("node_claim", name);
            }
            "NodePool" => event.set_attribute("group", name),
            kind => {
                event.entities.namespace = namespace;
                event.entities.workload_kind = Some(kind.to_owned());
                event.entities.workload = name;
            }
        }
        self.attributes(&mut event);
        self.refused(&mut event);
        event.raw = redact(&self.excerpt().to_string()).into_owned();
        event
    }

    /// A pod that its controller was not allowed to make never was: what was refused
    /// was refused to the controller's object, which the request names as its owner.
    fn refused(&self, event: &mut Event) {
        let code = field::int(self.record, &["responseStatus", "code"]).unwrap_or_default();
        let subresource = field::text(self.record, &["objectRef", "subresource"]);
        if self.kind != "Pod" || self.verb != "create" || subresource.is_some() || code < 400 {
            return;
        }
        let owners = field::at(self.record, &["requestObject"])
            .map(|pod| field::items(pod, &["metadata", "ownerReferences"]));
        let Some(owner) = owners.and_then(|owners| {
            let controls = |owner: &&Value| field::flag(owner, &["controller"]);
            owners.iter().find(controls)
        }) else {
            return;
        };
        let of = |key: &str| field::owned(owner, &[key]);
        let api_version = field::text(owner, &["apiVersion"]).unwrap_or_default();
        let kind = of("kind").map(|name| kind::normal_kind(&name, api_version));
        event.object_kind.clone_from(&kind);
        event.object_uid = of("uid");
        event.entities.pod = None;
        event.entities.pod_uid = None;
        event.entities.workload_kind = kind;
        event.entities.workload = of("name");
        event.set_attribute("refused", Some("Pod"));
    }

    /// The values of a key in the request's address.
    fn asked(&self, key: &'static str) -> impl Iterator<Item = String> + '_ {
        let uri = field::text(self.record, &["requestURI"]).unwrap_or_default();
        let query = uri.split_once('?').map_or("", |(_, query)| query);
        let pairs = url::form_urlencoded::parse(query.as_bytes());
        pairs
            .filter(move |(name, _)| name == key)
            .map(|(_, value)| value.into_owned())
    }

    fn attributes(&self, event: &mut Event) {
        event.set_attribute("verb", Some(self.verb));
        event.set_attribute("user_agent", field::owned(self.record, &["userAgent"]));
        let through = field::text(self.record, &["impersonatedUser", "username"])
            .and_then(|_| field::text(self.record, &["user", "username"]));
        event.set_attribute("impersonated_by", through);
        event.set_attribute(
            "subresource",
            field::owned(self.record, &["objectRef", "subresource"]),
        );
        event.set_attribute(
            "code",
            field::int(self.record, &["responseStatus", "code"]).map(|code| code.to_string()),
        );
        let uri = field::text(self.record, &["requestURI"]).unwrap_or_default();
        if field::text(self.record, &["objectRef", "subresource"]) == Some("exec") {
            event.entities.container = self.asked("container").next();
            let words = arguments(self.asked("command").collect());
            event.set_attribute("command", Some(words.join(" ")));
        }
        if self.verb == "delete" {
            // What stays behind goes on: its pods are given up, not deleted.
            let body = field::text(self.record, &["requestObject", "propagationPolicy"]);
            let mut query = self.asked("propagationPolicy");
            let orphans = body == Some("Orphan") || query.any(|policy| policy == "Orphan");
            event.set_attribute("propagation", orphans.then_some("Orphan"));
        }
        event.set_attribute("dry_run", is_dry_run(self.record).then_some("true"));
        if self.verb == "deletecollection" {
            event.set_attribute("selector", uri.split_once('?').map(|(_, query)| query));
            event.set_attribute("label_selector", self.asked("labelSelector").last());
            event.set_attribute("field_selector", self.asked("fieldSelector").last());
        }
        if self.kind == "Workload" {
            // Kueue's switch: what is not active is stopped.
            let active = field::at(self.record, &["requestObject", "spec", "active"]);
            event.set_attribute("active", active.and_then(field::scalar));
        }
        if self.kind == "Node" || kind::is_workload(self.kind) {
            let spec =
                field::at(self.record, &["requestObject", "spec"]).and_then(Value::as_object);
            if let Some(spec) = spec.filter(|_| self.verb != "create") {
                let mut fields: Vec<_> = spec.keys().map(String::as_str).collect();
                fields.sort_unstable();
                event.set_attribute("fields", Some(fields.join(",")));
            }
            event.set_attribute("taints", self.taints_added());
            const SUSPEND: [&[&str]; 2] = [
                &["requestObject", "spec", "suspend"],
                &["requestObject", "spec", "runPolicy", "suspend"],
            ];
            let suspend = SUSPEND.iter().find_map(|path| field::at(self.record, path));
            if let Some(suspend) = suspend {
                event.set_attribute("suspend", field::scalar(suspend));
            }
        }
    }

    /// The taints that a request of which no answer is kept may have added: it names all that are to be
    /// there. What is dated was added when it says, and a request that adds such a one is no reason to
    /// believe that it added others; the node lifecycle's controller dates all of its own.
    fn taints_added(&self) -> Option<String> {
        const LIFECYCLE: [&str; 2] = [
            "system:kube-controller-manager",
            "system:serviceaccount:kube-system:node-controller",
        ];
        let answered = field::at(self.record, &["responseObject", "spec"]).is_some();
        let taints = field::items(self.record, &["requestObject", "spec", "taints"]);
        if answered || taints.is_empty() {
            return None;
        }
        let now = |taint: &&Value| {
            let added = field::time(taint, &["timeAdded"]);
            added.is_some_and(|added| added.lo.saturating_sub(self.received.lo).abs() <= 2 * SECOND)
        };
        let mut dated = taints.iter().filter(now).peekable();
        let by = user(self.record).unwrap_or_default();
        let added: Vec<&Value> = if dated.peek().is_some() || LIFECYCLE.contains(&by) {
            dated.collect()
        } else {
            let undated = |taint: &&Value| field::time(taint, &["timeAdded"]).is_none();
            taints.iter().filter(undated).collect()
        };
        (!added.is_empty()).then(|| Value::from_iter(added.into_iter().cloned()).to_string())
    }

    /// The record without the answer's body, which is kept as an object version.
    fn excerpt(&self) -> Value {
        let mut record = self.record.clone();
        if let Value::Object(fields) = &mut record {
            fields.remove("responseObject");
            let large = fields
                .get("requestObject")
                .is_some_and(|body| body.to_string().len() > 2_000);
            if large {
                fields.remove("requestObject");
            }
        }
        record
    }
}
