//! What a request says beside who did what: its options, the fields and taints that it sets.

use serde_json::Value;

use super::act::AuditAct;
use super::{is_dry_run, user};
use crate::event::Event;
use crate::kind;
use crate::kubernetes::field;
use crate::redact::arguments;
use crate::time::SECOND;

impl AuditAct<'_> {
    /// The values of a key in the request's address.
    fn asked(&self, key: &'static str) -> impl Iterator<Item = String> + '_ {
        let uri = field::text(self.record, &["requestURI"]).unwrap_or_default();
        let query = uri.split_once('?').map_or("", |(_, query)| query);
        let pairs = url::form_urlencoded::parse(query.as_bytes());
        pairs
            .filter(move |(name, _)| name == key)
            .map(|(_, value)| value.into_owned())
    }

    pub(super) fn attributes(&self, event: &mut Event) {
        event.set_attribute("verb", Some(self.verb));
        event.set_attribute("user_agent", field::owned(self.record, &["userAgent"]));
        let assumed = field::text(self.record, &["impersonatedUser", "username"]);
        let own = field::text(self.record, &["user", "username"]);
        let is_own = assumed.is_some() && event.actor.as_deref() == own;
        event.set_attribute(
            "impersonated_by",
            own.filter(|_| assumed.is_some() && !is_own),
        );
        event.set_attribute("acting_as", assumed.filter(|_| is_own));
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
        if matches!(self.kind, "ClusterQueue" | "LocalQueue") {
            let policy = field::owned(self.record, &["requestObject", "spec", "stopPolicy"]);
            event.set_attribute("stop_policy", policy);
        }
        if self.kind == "Workflow" {
            // How Argo is asked to end a workflow.
            let shutdown = field::owned(self.record, &["requestObject", "spec", "shutdown"]);
            event.set_attribute("shutdown", shutdown.filter(|word| !word.is_empty()));
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
}
