//! What labels say of whose line it is, under the names collectors use.

use super::answer::Labels;
use crate::event::Entities;

const CLUSTER: &[&str] = &["cluster", "k8s_cluster_name", "kubernetes_cluster_name"];
const NAMESPACE: &[&str] = &[
    "namespace",
    "k8s_namespace_name",
    "kubernetes_namespace_name",
];
const POD: &[&str] = &["pod", "k8s_pod_name", "pod_name", "kubernetes_pod_name"];
const POD_UID: &[&str] = &["pod_uid", "k8s_pod_uid", "kubernetes_pod_uid"];
const CONTAINER: &[&str] = &[
    "container",
    "k8s_container_name",
    "container_name",
    "kubernetes_container_name",
];
const NODE: &[&str] = &["node_name", "node", "k8s_node_name", "kubernetes_host"];
const HOST: &[&str] = &["host", "hostname", "host_name"];
const EXPERIMENT: &[&str] = &["experiment", "experiment_id", "experiment_name"];
const LEVEL: &[&str] = &["detected_level", "level", "severity", "severity_text"];
const WORKLOAD: &[(&str, &str)] = &[
    ("k8s_job_name", "Job"),
    ("k8s_statefulset_name", "StatefulSet"),
    ("k8s_deployment_name", "Deployment"),
    ("k8s_daemonset_name", "DaemonSet"),
];

/// Labels that name a stream where no pod does.
const STREAM: &[&str] = &[
    "cluster",
    "namespace",
    "job",
    "app",
    "service_name",
    "instance",
    "filename",
    "unit",
    "container",
    "host",
];

fn first(labels: &Labels, names: &[&str]) -> Option<String> {
    names
        .iter()
        .find_map(|name| labels.get(*name))
        .filter(|value| !value.is_empty())
        .cloned()
}

/// The entities that labels name.
pub(super) fn entities(labels: &Labels) -> Entities {
    let workload = WORKLOAD
        .iter()
        .find(|(label, _)| labels.contains_key(*label));
    Entities {
        cluster: first(labels, CLUSTER),
        namespace: first(labels, NAMESPACE),
        workload_kind: workload.map(|(_, kind)| (*kind).to_owned()),
        workload: workload.and_then(|(label, _)| labels.get(*label).cloned()),
        pod: first(labels, POD),
        pod_uid: first(labels, POD_UID),
        container: first(labels, CONTAINER),
        node: first(labels, NODE),
        host: first(labels, HOST),
        experiment: first(labels, EXPERIMENT),
        ..Entities::default()
    }
}

/// The level, where one is known.
pub(super) fn level(labels: &Labels) -> Option<String> {
    first(labels, LEVEL).filter(|level| level != "unknown")
}

/// What tells the stream from others: the same names as for logs in files.
pub(super) fn identity(labels: &Labels, entities: &Entities) -> String {
    let text = |part: &Option<String>| part.clone().unwrap_or_default();
    if entities.pod.is_some() {
        return format!(
            "{}/{}/{}",
            text(&entities.namespace),
            text(&entities.pod),
            text(&entities.container)
        );
    }
    let named: Vec<String> = STREAM
        .iter()
        .filter_map(|name| Some(format!("{name}={}", labels.get(*name)?)))
        .collect();
    if named.is_empty() {
        format!("{labels:?}")
    } else {
        named.join(",")
    }
}

/// Labels that are not told as entities or level.
pub(super) fn others(labels: &Labels) -> serde_json::Map<String, serde_json::Value> {
    let known = [
        CLUSTER, NAMESPACE, POD, POD_UID, CONTAINER, NODE, HOST, EXPERIMENT, LEVEL,
    ];
    labels
        .iter()
        .filter(|(name, _)| !known.iter().any(|names| names.contains(&name.as_str())))
        .map(|(name, value)| {
            (
                name.clone(),
                crate::redact::redact(value).into_owned().into(),
            )
        })
        .collect()
}
