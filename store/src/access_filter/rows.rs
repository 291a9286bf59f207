//! Facts and versions of objects as one caller may see them.

use serde_json::Value;
use whathappened_model::event::{Entities, Event, Origin, SourceKind};
use whathappened_model::object::ObjectBody;

use super::AccessFilter;
use super::protected_names::{HIDDEN, ProtectedNames};
use crate::record::{Fact, Object};

/// What a text speaks of that belongs to somebody, where nobody says to whom.
const OWNED: [&str; 7] = [
    "pod",
    "namespace",
    "container",
    "cgroup",
    "workload",
    "experiment",
    "cmdline",
];

/// Labels of machines that say what and where they are.
const OF_MACHINES: [&str; 14] = [
    "kubernetes.io/",
    "k8s.io/",
    "cloud.google.com/",
    "eks.amazonaws.com/",
    "kubernetes.azure.com/",
    "karpenter.sh/",
    "karpenter.k8s.aws/",
    "kops.k8s.io/",
    "nvidia.com/",
    "amd.com/",
    "cloud.google",
    "failure-domain.beta",
    "oci.oraclecloud.com/",
    "coreweave",
];

/// Whose a fact is.
enum FactOwner {
    Caller,
    Machine,
    Others,
}

impl AccessFilter {
    /// A fact, if it may be seen.
    pub(crate) fn fact(&self, mut fact: Fact) -> Option<Fact> {
        if self.is_whole() {
            return Some(fact);
        }
        fact.seen_by.retain(|kind| self.source(*kind));
        if fact.seen_by.is_empty() {
            return None;
        }
        if !self.source(fact.event.source_kind) {
            hide_copy(&mut fact);
        }
        let Some(words) = &self.words else {
            return Some(fact);
        };
        match self.owner(&fact.event, words) {
            FactOwner::Caller => own(&mut fact, words),
            FactOwner::Machine => of_machine(&mut fact, words, |name| self.permits_namespace(name)),
            FactOwner::Others => return None,
        }
        Some(fact)
    }

    /// A version of an object, if it may be seen.
    pub(crate) fn object(&self, mut object: Object) -> Option<Object> {
        if self.is_whole() {
            return Some(object);
        }
        let version = &mut object.version;
        if !self.source(version.source_kind) {
            return None;
        }
        if !self.source(SourceKind::KubernetesAudit) {
            version.by = None;
        }
        let Some(words) = &self.words else {
            return Some(object);
        };
        let (kind, namespace) = (version.key.kind.as_str(), version.key.namespace.as_str());
        match kind {
            "Instance" if words.is_member(&version.key.uid) => return None,
            "Node" | "Instance" => {
                machine(&mut version.body, words);
                // As with facts of machines: a file may be named after whose pods were there.
                version.origin = Origin::default();
            }
            "Namespace" if self.permits_namespace(&version.key.name) => {}
            "SlurmJob" => return None,
            _ if namespace.is_empty() || !self.permits_namespace(namespace) => return None,
            _ => own_body(&mut version.body, words),
        }
        if let Some(by) = &mut version.by {
            words.hide_in(by);
        }
        hide_origin(&mut version.origin, words);
        Some(object)
    }

    fn source(&self, kind: SourceKind) -> bool {
        self.access.permits_source(kind.as_str())
    }

    fn owner(&self, event: &Event, words: &ProtectedNames) -> FactOwner {
        let of = &event.entities;
        let subject = of.pod.is_some() || of.workload.is_some() || of.pod_uid.is_some();
        let kind = event.object_kind.as_deref().unwrap_or_default();
        let is_job = event.attributes.contains_key("slurm_job") || kind == "SlurmJob";
        match of.namespace.as_deref().filter(|name| !name.is_empty()) {
            Some(namespace) if self.permits_namespace(namespace) => FactOwner::Caller,
            // An Event about a node lies in a namespace that is not the node's.
            Some(_) if kind == "Node" && !subject => FactOwner::Machine,
            Some(_) => FactOwner::Others,
            None if is_job => FactOwner::Others,
            None if !subject && is_of_machine(event, words) => FactOwner::Machine,
            None if !subject => FactOwner::Others,
            None if kind == "Namespace" => match &of.workload {
                Some(name) if self.permits_namespace(name) => FactOwner::Caller,
                _ => FactOwner::Others,
            },
            None if words.is_own(
                of.pod_uid.as_deref(),
                of.pod.as_deref().or(of.workload.as_deref()),
            ) =>
            {
                FactOwner::Caller
            }
            None => FactOwner::Others,
        }
    }
}

/// Whether a fact that names no pod and no workload is of a machine, or of those
/// who look after machines; what a process said is not, whatever else is known of it.
fn is_of_machine(event: &Event, words: &ProtectedNames) -> bool {
    let of = &event.entities;
    let is_output = event.fact.starts_with("log.") || event.fact.starts_with("nccl.");
    let mut names = [&of.node, &of.instance, &of.host]
        .into_iter()
        .flatten()
        .peekable();
    if names.peek().is_none() {
        return event.fact.starts_with("cloud.") || event.fact == "node.log";
    }
    !is_output && !names.any(|name| words.is_member(name))
}

/// Of a fact whose copy is of a source that may not be seen, what the others witnessed.
fn hide_copy(fact: &mut Fact) {
    let event = &mut fact.event;
    event.raw = String::new();
    event.message = None;
    event.actor = None;
    event.attributes.clear();
    event.origin = Origin::default();
    if let Some(kind) = fact.seen_by.first() {
        event.source_kind = *kind;
    }
    fact.redacted = true;
}

/// The caller's own: whole, but for what names a pod or a namespace of others.
fn own(fact: &mut Fact, words: &ProtectedNames) {
    let event = &mut fact.event;
    let mut redacted = false;
    // What preempted or took the place of the caller's pod: where its namespace is
    // one of others, so is all of it, also what no catalogue knows.
    let foreign = |reported: &str| words.is_foreign_namespace("namespace", reported);
    // `ns/name`, but a job of another scheduler.
    let is_foreign_pair = |reported: &str| {
        let pair = reported.split_once('/').map(|(namespace, _)| namespace);
        pair.is_some_and(|namespace| namespace != "slurm" && foreign(namespace))
    };
    let is_foreign = event.attribute("other_namespace").is_some_and(foreign)
        || ["preemptor", "other_pod"]
            .into_iter()
            .any(|key| event.attribute(key).is_some_and(is_foreign_pair));
    let keys = [
        "preemptor",
        "other_pod",
        "other_namespace",
        "preemptor_uid",
        "other_uid",
    ];
    for key in keys {
        let hide = event.attribute(key).is_some_and(|reported| {
            let is_whole = key != "preemptor" && is_foreign;
            is_whole || is_foreign_pair(reported) || words.hide_all(reported).is_some()
        });
        if hide {
            event.attributes.remove(key);
            redacted = true;
        }
    }
    for text in [&mut event.message, &mut event.actor].into_iter().flatten() {
        redacted |= replace(text, words.hide_foreign(text));
    }
    let raw = words.hide_foreign(&event.raw);
    redacted |= replace(&mut event.raw, raw);
    for (key, value) in &mut event.attributes {
        redacted |= in_own(key, value, words);
    }
    hide_origin(&mut event.origin, words);
    fact.redacted |= redacted;
}

/// What is told of a machine, without whom it hurt.
fn of_machine(fact: &mut Fact, words: &ProtectedNames, permits: impl Fn(&str) -> bool) {
    let event = &mut fact.event;
    event.raw = String::new();
    event.origin = Origin::default();
    let of = &mut event.entities;
    *of = Entities {
        cluster: of.cluster.take(),
        namespace: of.namespace.take().filter(|name| permits(name)),
        node: of.node.take(),
        instance: of.instance.take(),
        host: of.host.take(),
        zone: of.zone.take(),
        ..Entities::default()
    };
    event.message = event.message.take().filter(|text| !is_owned(text));
    for text in [&mut event.message, &mut event.actor, &mut event.reason]
        .into_iter()
        .flatten()
    {
        let hidden = words.hide_in_machine_text(text);
        replace(text, hidden);
    }
    event
        .attributes
        .retain(|key, value| !is_owned(key) && !value.as_str().is_some_and(is_owned));
    for value in event.attributes.values_mut() {
        in_value(value, &|text| words.hide_in_machine_text(text));
    }
    fact.redacted = true;
}

/// The caller's own object: controllers of the whole cluster write on it as well.
fn own_body(body: &mut ObjectBody, words: &ProtectedNames) {
    let annotations = body.annotations.values_mut();
    let arguments = body.containers.iter_mut().flat_map(|one| &mut one.command);
    for text in annotations.chain(arguments) {
        let hidden = words.hide_foreign(text);
        replace(text, hidden);
    }
}

/// A node or an instance, without what people wrote on it.
fn machine(body: &mut ObjectBody, words: &ProtectedNames) {
    body.annotations.clear();
    body.owners.clear();
    body.labels.retain(|key, value| {
        OF_MACHINES.iter().any(|known| key.contains(known)) && words.hide_all(value).is_none()
    });
    for taint in &mut body.taints {
        words.hide_in(&mut taint.key);
        words.hide_in(&mut taint.value);
    }
}

/// Whether a text speaks of what somebody owns.
fn is_owned(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    OWNED.iter().any(|word| lower.contains(word))
}

/// Where a record was read from, if that names nobody.
fn hide_origin(origin: &mut Origin, words: &ProtectedNames) {
    if words.hide_all(&origin.file).is_some() {
        *origin = Origin::default();
    }
}

fn replace(text: &mut String, by: Option<String>) -> bool {
    let found = by.is_some();
    if let Some(by) = by {
        *text = by;
    }
    found
}

/// Hides names in every text of a value; says whether there were any.
pub(crate) fn in_value(value: &mut Value, hide: &dyn Fn(&str) -> Option<String>) -> bool {
    match value {
        Value::String(text) => {
            let hidden = hide(text);
            replace(text, hidden)
        }
        Value::Array(list) => {
            let mut found = false;
            for one in list {
                found |= in_value(one, hide);
            }
            found
        }
        Value::Object(map) => {
            let mut found = false;
            for one in map.values_mut() {
                found |= in_value(one, hide);
            }
            found
        }
        _ => false,
    }
}

/// Hides what names others in every text of a value of the caller's own, which
/// stands under a key; says whether there was any.
pub(super) fn in_own(key: &str, value: &mut Value, words: &ProtectedNames) -> bool {
    match value {
        Value::String(text) if words.is_foreign_namespace(key, text) => {
            HIDDEN.clone_into(text);
            true
        }
        Value::Object(map) => {
            let mut found = false;
            for (key, one) in map {
                found |= in_own(key, one, words);
            }
            found
        }
        Value::Array(list) => {
            let mut found = false;
            for one in list {
                found |= in_own(key, one, words);
            }
            found
        }
        other => in_value(other, &|text| words.hide_foreign(text)),
    }
}
