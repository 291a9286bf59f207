//! What is read of a cluster, and what each of it tells.

/// A resource as the API serves it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Resource {
    /// Empty for the core group.
    pub(super) group: String,
    pub(super) version: String,
    pub(super) plural: String,
    pub(super) kind: String,
    pub(super) namespaced: bool,
}

/// The resources of every cluster, the ones that tell most first, so that a
/// deadline cuts off what tells least. Pods come before Events and Nodes: who
/// was there is what all else hangs on.
const BUILT_IN: &[(&str, &str, &str, &str, bool)] = &[
    ("", "v1", "pods", "Pod", true),
    ("", "v1", "events", "Event", true),
    ("", "v1", "nodes", "Node", false),
    ("batch", "v1", "jobs", "Job", true),
    ("apps", "v1", "statefulsets", "StatefulSet", true),
    ("apps", "v1", "deployments", "Deployment", true),
    ("apps", "v1", "replicasets", "ReplicaSet", true),
    ("apps", "v1", "daemonsets", "DaemonSet", true),
    ("batch", "v1", "cronjobs", "CronJob", true),
    (
        "",
        "v1",
        "replicationcontrollers",
        "ReplicationController",
        true,
    ),
    (
        "",
        "v1",
        "persistentvolumeclaims",
        "PersistentVolumeClaim",
        true,
    ),
];

impl Resource {
    fn of((group, version, plural, kind, namespaced): (&str, &str, &str, &str, bool)) -> Self {
        Self {
            group: group.to_owned(),
            version: version.to_owned(),
            plural: plural.to_owned(),
            kind: kind.to_owned(),
            namespaced,
        }
    }

    /// What every cluster serves.
    pub(super) fn built_in() -> Vec<Self> {
        BUILT_IN.iter().copied().map(Self::of).collect()
    }

    /// Events through their own group, which shows the same ones.
    pub(super) fn events_v1() -> Self {
        Self::of(("events.k8s.io", "v1", "events", "Event", true))
    }

    pub(super) fn is_events(&self) -> bool {
        self.kind == "Event"
    }

    pub(super) fn is_pods(&self) -> bool {
        self.kind == "Pod" && self.group.is_empty()
    }

    pub(super) fn is_nodes(&self) -> bool {
        self.kind == "Node" && self.group.is_empty()
    }

    /// `pods`, `rayjobs.ray.io`: the name in coverage rows and cursors.
    pub(super) fn name(&self) -> String {
        let plain = self.group.is_empty()
            || self.is_events()
            || BUILT_IN
                .iter()
                .any(|row| row.2 == self.plural && row.0 == self.group);
        if plain {
            self.plural.clone()
        } else {
            format!("{}.{}", self.plural, self.group)
        }
    }

    pub(super) fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.clone()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }

    /// The path of the collection, in one namespace or in all.
    pub(super) fn path(&self, namespace: Option<&str>) -> String {
        let root = if self.group.is_empty() { "api" } else { "apis" };
        let api = self.api_version();
        match namespace.filter(|_| self.namespaced) {
            Some(namespace) => format!("/{root}/{api}/namespaces/{namespace}/{}", self.plural),
            None => format!("/{root}/{api}/{}", self.plural),
        }
    }

    /// `nodes at cluster scope (apiGroup "")`: what a rule has to name.
    pub(super) fn permission(&self, verbs: &str, namespace: Option<&str>) -> String {
        let place = match namespace.filter(|_| self.namespaced) {
            Some(namespace) => format!("in namespace {namespace}"),
            None => "at cluster scope".to_owned(),
        };
        format!(
            "{verbs} {} {place} (apiGroup {:?})",
            self.plural, self.group
        )
    }

    /// What is missing where it is missing.
    pub(super) fn shows(&self) -> &'static str {
        match self.kind.as_str() {
            "Pod" => {
                "which pods there were, on which nodes, how each container ended, and whether a disruption was announced to them"
            }
            "Event" => {
                "why pods were scheduled, preempted, evicted, killed or not started, and what happened to nodes, for about the last hour"
            }
            "Node" => "whether nodes were ready, cordoned, tainted, rebooted or short of GPUs",
            "PersistentVolumeClaim" => "whether volumes were bound",
            "Job" | "CronJob" => "when and why jobs failed, ran into a deadline or were suspended",
            "ReplicaSet" | "ReplicationController" | "Deployment" | "StatefulSet" | "DaemonSet" => {
                "who owns the pods, and whether they were scaled or changed"
            }
            "Workload" => "whether the queue admitted, evicted or preempted the run",
            _ => "the state of the training job and why it failed, restarted or waited",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_permissions() {
        let all = Resource::built_in();
        assert_eq!(all[0].path(None), "/api/v1/pods");
        assert_eq!(all[3].path(Some("ml")), "/apis/batch/v1/namespaces/ml/jobs");
        assert_eq!(all[2].path(Some("ml")), "/api/v1/nodes");
        assert_eq!(
            all[2].permission("list", Some("ml")),
            "list nodes at cluster scope (apiGroup \"\")"
        );
        assert_eq!(
            all[3].permission("list", Some("ml")),
            "list jobs in namespace ml (apiGroup \"batch\")"
        );
        assert_eq!(all[3].name(), "jobs");
        assert_eq!(Resource::events_v1().name(), "events");
    }
}
