//! One request as a fact: what was done to what, by whom.

use serde_json::Value;

use super::{command, user};
use crate::event::{Event, EventId, SourceKind};
use crate::kind;
use crate::kubernetes::decode::Context;
use crate::kubernetes::field;
use crate::observation::Observation;
use crate::redact::redact;
use crate::time::{Stamp, TimeKind};

/// One act on one object, or on a collection of them.
pub(super) struct AuditAct<'a> {
    pub(super) record: &'a Value,
    pub(super) audit_id: &'a str,
    pub(super) verb: &'a str,
    pub(super) kind: &'a str,
    pub(super) received: Stamp,
    pub(super) context: Context<'a>,
}

impl AuditAct<'_> {
    pub(super) fn emit(&self, out: &mut Vec<Observation>) {
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
            ("create", None) if self.kind == command::KIND => {
                self.commanded().map(|_| "k8s.audit.command")
            }
            ("create", None) => Some("k8s.audit.create"),
            ("delete", None) => Some("k8s.audit.delete"),
            ("deletecollection", None) => Some("k8s.audit.deletecollection"),
            ("update" | "patch", Some("status")) => {
                if self.reports() {
                    return Some("k8s.audit.report");
                }
                if self.reports_silence() {
                    return Some("k8s.audit.node_not_ready");
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

    /// The controller of nodes writes the status of pods once it has found their node not to be ready, and for nothing else.
    fn reports_silence(&self) -> bool {
        const CONTROLLER: &str = "system:serviceaccount:kube-system:node-controller";
        self.kind == "Pod" && self.verb == "update" && user(self.record) == Some(CONTROLLER)
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
        self.redirect(&mut event);
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
