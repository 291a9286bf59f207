//! What labels say of whose line it is, under the names collectors use.
//!
//! Sources: promtail and Alloy (`namespace`, `pod`, `container`, `node_name`), the
//! k8s-monitoring chart (`cluster`), OpenTelemetry (`k8s.pod.name`), Fluent Bit
//! (`kubernetes.pod_name`, `kubernetes.host`), Elastic Common Schema
//! (`kubernetes.pod.name`), Datadog's Agent (`pod_name`, `kube_namespace`). Dots
//! and dashes are written as `_`.

use crate::event::Entities;

use super::Labels;

/// The names under which labels tell whose line it is, the best first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelNames {
    /// Of the cluster.
    pub cluster: Vec<String>,
    /// Of the namespace.
    pub namespace: Vec<String>,
    /// Of the pod.
    pub pod: Vec<String>,
    /// Of the pod's uid.
    pub pod_uid: Vec<String>,
    /// Of the container.
    pub container: Vec<String>,
    /// Of the node.
    pub node: Vec<String>,
    /// Of the host, where there is no node.
    pub host: Vec<String>,
    /// Of the experiment.
    pub experiment: Vec<String>,
    /// Of the rank.
    pub rank: Vec<String>,
    /// Of the level.
    pub level: Vec<String>,
}

/// Labels that name workloads, and of which kind.
const WORKLOADS: [(&str, &str); 16] = [
    ("k8s_job_name", "Job"),
    ("k8s_statefulset_name", "StatefulSet"),
    ("k8s_deployment_name", "Deployment"),
    ("k8s_daemonset_name", "DaemonSet"),
    ("resource_attributes_k8s_job_name", "Job"),
    ("resource_attributes_k8s_statefulset_name", "StatefulSet"),
    ("resource_attributes_k8s_deployment_name", "Deployment"),
    ("kubernetes_job_name", "Job"),
    ("kubernetes_statefulset_name", "StatefulSet"),
    ("kubernetes_deployment_name", "Deployment"),
    ("kubernetes_daemonset_name", "DaemonSet"),
    ("kube_job", "Job"),
    ("kube_stateful_set", "StatefulSet"),
    ("kube_deployment", "Deployment"),
    ("kube_daemon_set", "DaemonSet"),
    ("kube_replica_set", "ReplicaSet"),
];

/// Labels that name who spoke in a machine's own log: the journal's fields as
/// promtail, Alloy, Fluent Bit, Filebeat and Datadog's Agent name them, and syslog's.
const PROGRAMS: [&str; 9] = [
    "SYSLOG_IDENTIFIER",
    "syslog_identifier",
    "journald_SYSLOG_IDENTIFIER",
    "log_syslog_appname",
    "syslog_appname",
    "appname",
    "app_name",
    "ident",
    "program",
];
const TRANSPORTS: [&str; 5] = [
    "_TRANSPORT",
    "transport",
    "systemd_transport",
    "journald__TRANSPORT",
    "journald_transport",
];
const UNITS: [&str; 4] = [
    "_SYSTEMD_UNIT",
    "systemd_unit",
    "unit",
    "journald__SYSTEMD_UNIT",
];
const BOOTS: [&str; 3] = ["_BOOT_ID", "boot_id", "journald__BOOT_ID"];

/// What some collectors call the machine that a log is of, and others a process.
const INSTANCE: &str = "instance";

/// Labels that name a stream where no pod does.
const STREAM: [&str; 14] = [
    "cluster",
    "namespace",
    "job",
    "app",
    "service_name",
    "service",
    "source",
    "instance",
    "filename",
    "log_stream",
    "unit",
    "container",
    "node_name",
    "host",
];

impl Default for LabelNames {
    fn default() -> Self {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Self {
            cluster: names(&[
                "cluster",
                "k8s_cluster_name",
                "kubernetes_cluster_name",
                "kube_cluster_name",
                "orchestrator_cluster_name",
                "resource_attributes_k8s_cluster_name",
            ]),
            namespace: names(&[
                "namespace",
                "k8s_namespace_name",
                "kubernetes_namespace_name",
                "kubernetes_namespace",
                "kube_namespace",
                "resource_attributes_k8s_namespace_name",
            ]),
            pod: names(&[
                "pod",
                "k8s_pod_name",
                "pod_name",
                "kubernetes_pod_name",
                "resource_attributes_k8s_pod_name",
            ]),
            pod_uid: names(&[
                "pod_uid",
                "k8s_pod_uid",
                "kubernetes_pod_uid",
                "kubernetes_pod_id",
                "resource_attributes_k8s_pod_uid",
            ]),
            container: names(&[
                "container",
                "k8s_container_name",
                "kube_container_name",
                "container_name",
                "kubernetes_container_name",
                "display_container_name",
                "resource_attributes_k8s_container_name",
            ]),
            node: names(&[
                "node_name",
                "node",
                "k8s_node_name",
                "kube_node",
                "kubernetes_node_name",
                "kubernetes_host",
                "resource_attributes_k8s_node_name",
            ]),
            host: names(&[
                "host",
                "hostname",
                "host_name",
                "host_hostname",
                "nodename",
                "_HOSTNAME",
                "journald__HOSTNAME",
            ]),
            experiment: names(&[
                "experiment",
                "experiment_id",
                "experiment_name",
                "kubernetes_labels_experiment",
                "kubernetes_labels_experiment_name",
            ]),
            rank: names(&["rank", "global_rank"]),
            level: names(&[
                "detected_level",
                "level",
                "severity",
                "severity_text",
                "status",
                "log_level",
            ]),
        }
    }
}

impl LabelNames {
    /// Puts configured names before the known ones; `false` where there is no
    /// such entity.
    pub fn prefer(&mut self, entity: &str, names: &[String]) -> bool {
        let known = match entity {
            "cluster" => &mut self.cluster,
            "namespace" => &mut self.namespace,
            "pod" => &mut self.pod,
            "pod_uid" => &mut self.pod_uid,
            "container" => &mut self.container,
            "node" => &mut self.node,
            "host" => &mut self.host,
            "experiment" => &mut self.experiment,
            "rank" => &mut self.rank,
            "level" => &mut self.level,
            _ => return false,
        };
        let mut all = names.to_vec();
        all.extend(known.iter().filter(|name| !names.contains(name)).cloned());
        *known = all;
        true
    }

    /// The names of labels that may hold a machine's name, the best first.
    pub(crate) fn machines(&self) -> Vec<String> {
        let all = self.node.iter().chain(&self.host).cloned();
        all.chain([INSTANCE.to_owned()]).collect()
    }

    /// The machine whose own line it is, by labels that name no pod.
    pub(crate) fn machine(&self, labels: &Labels) -> Option<String> {
        if first(labels, &self.pod).is_some() || first(labels, &self.container).is_some() {
            return None;
        }
        first(labels, &self.machines())
    }

    /// The names of labels that hold a workload's name.
    pub(crate) fn workloads() -> impl Iterator<Item = &'static str> {
        WORKLOADS.iter().map(|(label, _)| *label)
    }

    /// The entities that labels name.
    #[must_use]
    pub fn entities(&self, labels: &Labels) -> Entities {
        let workload = WORKLOADS
            .iter()
            .find(|(label, _)| labels.contains_key(*label));
        Entities {
            cluster: first(labels, &self.cluster),
            namespace: first(labels, &self.namespace),
            workload_kind: workload.map(|(_, kind)| (*kind).to_owned()),
            workload: workload.and_then(|(label, _)| labels.get(*label).cloned()),
            pod: first(labels, &self.pod),
            pod_uid: first(labels, &self.pod_uid),
            container: first(labels, &self.container),
            node: first(labels, &self.node),
            host: first(labels, &self.host),
            experiment: first(labels, &self.experiment),
            ..Entities::default()
        }
    }

    /// Who spoke in a machine's own log.
    pub(crate) fn program(labels: &Labels) -> Option<String> {
        let of_kernel = any(labels, &TRANSPORTS).is_some_and(|name| name == "kernel");
        if of_kernel {
            return Some("kernel".to_owned());
        }
        any(labels, &PROGRAMS)
    }

    /// The unit that spoke.
    pub(crate) fn unit(labels: &Labels) -> Option<String> {
        any(labels, &UNITS)
    }

    /// The start of the machine that a line is from.
    pub(crate) fn boot_id(labels: &Labels) -> Option<String> {
        any(labels, &BOOTS)
    }

    /// The level, where one is known.
    #[must_use]
    pub fn level(&self, labels: &Labels) -> Option<String> {
        first(labels, &self.level).filter(|level| level != "unknown")
    }

    /// The worker's rank, where a label tells it.
    #[must_use]
    pub fn rank(&self, labels: &Labels) -> Option<i32> {
        first(labels, &self.rank)?.parse().ok()
    }

    /// What tells the stream from others: the same names as for logs in files.
    #[must_use]
    pub fn identity(&self, labels: &Labels) -> String {
        if let Some(pod) = first(labels, &self.pod) {
            let text = |names: &[String]| first(labels, names).unwrap_or_default();
            return format!("{}/{pod}/{}", text(&self.namespace), text(&self.container));
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
    #[must_use]
    pub fn others(&self, labels: &Labels) -> serde_json::Map<String, serde_json::Value> {
        let known = [
            &self.cluster,
            &self.namespace,
            &self.pod,
            &self.pod_uid,
            &self.container,
            &self.node,
            &self.host,
            &self.experiment,
            &self.level,
        ];
        labels
            .iter()
            .filter(|(name, _)| !known.iter().any(|names| names.contains(name)))
            .map(|(name, value)| {
                (
                    name.clone(),
                    crate::redact::redact(value).into_owned().into(),
                )
            })
            .collect()
    }
}

fn any(labels: &Labels, names: &[&str]) -> Option<String> {
    let mut found = names.iter().filter_map(|name| labels.get(*name));
    found.find(|value| !value.is_empty()).cloned()
}

fn first(labels: &Labels, names: &[String]) -> Option<String> {
    names
        .iter()
        .find_map(|name| labels.get(name))
        .filter(|value| !value.is_empty())
        .cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configured_names_come_first_and_known_ones_still_count() {
        let mut names = LabelNames::default();
        assert!(names.prefer("pod", &["task".to_owned()]));
        assert!(!names.prefer("planet", &["earth".to_owned()]));
        let labels = |pairs: &[(&str, &str)]| -> Labels {
            pairs
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect()
        };
        let both = labels(&[("pod", "a"), ("task", "b")]);
        assert_eq!(names.entities(&both).pod.as_deref(), Some("b"));
        let one = labels(&[("kubernetes_pod_name", "c"), ("kube_namespace", "n")]);
        let entities = names.entities(&one);
        assert_eq!(entities.pod.as_deref(), Some("c"));
        assert_eq!(names.identity(&one), "n/c/");
    }
}
