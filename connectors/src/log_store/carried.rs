//! Records of a Kubernetes API server that an agent sent to a log store as lines: of its audit log, and Events.
//!
//! A program may write such a text into its own log. Only streams that are named for what they carry are believed.

use std::sync::Arc;

use serde_json::Value;

use super::StoredLine;
use super::emit::EmitOptions;
use crate::event::{Origin, SourceKind};
use crate::kubernetes;
use crate::logs::unwrapped;
use crate::observation::Observation;

/// Who collects Events, by the label that names a workload.
const COLLECTORS: [&str; 5] = [
    "event-exporter",
    "eventrouter",
    "kube-event-exporter",
    "kubernetes-event-exporter",
    "kubernetes-events",
];

/// Namespaces in which those who train run nothing.
const OF_OPERATORS: [&str; 5] = [
    "kube-system",
    "logging",
    "monitoring",
    "observability",
    "openshift-logging",
];

/// Jobs of an agent that reads the file of an API server's audit log.
const AUDIT_JOBS: [&str; 6] = [
    "apiserver-audit",
    "k8s-audit",
    "kube-apiserver-audit",
    "kube-audit",
    "kubernetes-audit",
    "kubernetes/audit",
];

/// Labels that an agent gives to the lines of a file of a machine. Whoever runs a pod chooses the values of others.
const OF_A_FILE: [&str; 9] = [
    "cluster",
    "detected_level",
    "filename",
    "host",
    "hostname",
    "job",
    "level",
    "node",
    "service_name",
];

/// Decodes a line that carries a record of the API server; whether it does.
pub(super) fn take(line: &StoredLine, how: &EmitOptions<'_>, out: &mut Vec<Observation>) -> bool {
    let text = unwrapped(&line.text);
    if !text.starts_with('{') {
        return false;
    }
    let record = match text.contains("\"auditID\"") {
        true if is_of_audit_log(line) => text.into_owned(),
        false if is_of_collector(line) => {
            let Some(event) = event(&text) else {
                return false;
            };
            event.to_string()
        }
        _ => return false,
    };
    let origin = Origin {
        file: Arc::clone(&how.file),
        line: line.number,
    };
    let mut carried = Vec::new();
    if kubernetes::decode(record.as_bytes(), None, &origin, &mut carried).is_err() {
        return false;
    }
    for observation in &mut carried {
        if let Observation::Event(fact) = observation
            && fact.source_kind == SourceKind::Kubernetes
        {
            fact.source_kind = how.source_kind;
        }
    }
    out.append(&mut carried);
    true
}

/// Whether a line is of the stream that EKS writes, or of a file of a machine that an agent reads as an audit log.
fn is_of_audit_log(line: &StoredLine) -> bool {
    let label = |name: &str| line.labels.get(name).map(String::as_str);
    if let Some(stream) = label("log_stream") {
        let group = label("log_group").unwrap_or_default();
        let of_eks =
            group.is_empty() || group.starts_with("/aws/eks/") && group.ends_with("/cluster");
        return of_eks && stream.starts_with("kube-apiserver-audit-");
    }
    let mut names = line.labels.keys().chain(line.metadata.keys());
    let of_file = names.all(|name| OF_A_FILE.contains(&name.as_str()));
    let of_pod = label("filename")
        .is_some_and(|file| file.contains("/pods/") || file.contains("/containers/"));
    let job = label("job").or(label("service_name"));
    of_file && !of_pod && job.is_some_and(|job| AUDIT_JOBS.contains(&job))
}

/// Whether a line is of a collector of Events, where only operators run one.
fn is_of_collector(line: &StoredLine) -> bool {
    let all = line.all_labels();
    let names = ["app", "app_kubernetes_io_name", "job", "service_name"];
    let collects = names.iter().filter_map(|name| all.get(*name)).any(|value| {
        let (_, name) = value.rsplit_once('/').unwrap_or(("", value));
        COLLECTORS.contains(&name)
    });
    let mut namespaces = all
        .iter()
        .filter(|(name, _)| name.contains("namespace"))
        .map(|(_, value)| value.as_str())
        .peekable();
    collects && namespaces.peek().is_some() && namespaces.all(|one| OF_OPERATORS.contains(&one))
}

/// The Event in a line that holds all of it: by itself, as eventrouter wraps it, or as a line of a watch.
pub(crate) fn event(text: &str) -> Option<Value> {
    if !text.starts_with('{') {
        return None;
    }
    let record: Value = serde_json::from_str(text).ok()?;
    let is_event =
        |value: &Value| value.get("involvedObject").is_some() || value.get("regarding").is_some();
    if is_event(&record) {
        return Some(record);
    }
    ["event", "object", "body"]
        .iter()
        .filter_map(|key| record.get(*key))
        .flat_map(|inner| [Some(inner), inner.get("object")])
        .flatten()
        .find(|inner| is_event(inner))
        .cloned()
}
