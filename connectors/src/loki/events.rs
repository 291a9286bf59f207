//! Where in Loki the Kubernetes Events are that an agent sent there (`log_store/events.rs` reads them).

use super::logql::{Query, as_words, literal};
use super::plan::{Schema, each_once};
use crate::log_store::LineSubject;

/// Labels that name the collector.
const LABELS: [&str; 6] = [
    "job",
    "app",
    "app_kubernetes_io_name",
    "service_name",
    "container",
    "k8s_container_name",
];

/// What collectors of Events are called.
const COLLECTORS: &str =
    "(?i).*(kubernetes[._/-]?events|eventhandler|event-?exporter|eventrouter|k8s-?events).*";

/// Queries for the Events of something, none twice.
pub(super) fn queries(about: &LineSubject, schema: &Schema) -> Vec<Query> {
    let labels: Vec<String> = LABELS
        .iter()
        .filter(|name| schema.labels.contains(**name))
        .map(|name| (*name).to_owned())
        .collect();
    let pattern = match about {
        LineSubject::Pods(pods) => as_words(pods.iter().map(|pod| pod.name.as_str())),
        LineSubject::Nodes(nodes) => as_words(nodes.iter().map(String::as_str)),
        LineSubject::Experiment(name) => literal(name.trim()),
    };
    each_once(&labels, COLLECTORS)
        .map(|streams| Query::of(streams).fitting(&pattern))
        .collect()
}
