//! The versions of an object: what it was, from when to when.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::event::{Origin, SourceKind};
use crate::time::Stamp;

/// Which object: by uid where the record has one, else by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ObjectKey {
    /// `Pod`, `Node`, `Job`, `PyTorchJob`, …
    pub kind: String,
    /// Empty for cluster-scoped kinds and where the record leaves it out.
    pub namespace: String,
    /// `metadata.name`.
    pub name: String,
    /// `metadata.uid`; empty where the record has none.
    pub uid: String,
}

/// A reference from an object to the one that owns it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Owner {
    /// The owner's kind.
    pub kind: String,
    /// The owner's name.
    pub name: String,
    /// The owner's uid.
    pub uid: String,
    /// Whether it is the managing controller.
    pub controller: bool,
}

/// A taint of a node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Taint {
    /// The taint's key.
    pub key: String,
    /// The taint's value, often empty.
    pub value: String,
    /// `NoSchedule`, `PreferNoSchedule` or `NoExecute`.
    pub effect: String,
    /// When it was added, where its object tells.
    pub added: Option<Stamp>,
}

impl Taint {
    /// Whether it is the same, whenever it was added.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        (&self.key, &self.value, &self.effect) == (&other.key, &other.value, &other.effect)
    }
}

/// The last writer of a field, from `metadata.managedFields`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct FieldWriter {
    /// The field manager, such as `kubectl-cordon`.
    pub manager: String,
    /// When it last wrote.
    pub time: Option<Stamp>,
}

/// What one container was asked to be.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Container {
    /// The container's name.
    pub name: String,
    /// The image as asked for.
    pub image: String,
    /// `command` then `args`, as written.
    pub command: Vec<String>,
    /// `resources.requests`.
    pub requests: BTreeMap<String, String>,
    /// `resources.limits`.
    pub limits: BTreeMap<String, String>,
    /// Exit codes with which it is meant to be started again, by `restartPolicyRules`.
    #[serde(default)]
    pub restarts_on: Vec<i64>,
}

/// What a Job has counted of its pods' failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retries {
    /// Pods that failed, `status.failed`.
    pub failed: i64,
    /// Failures with which it does not give up yet: `spec.backoffLimit`, or as many as leave one of
    /// its indexes, where each has a limit of its own.
    pub limit: i64,
}

/// What an object was at one version, reduced to what explaining needs.
///
/// Kept bodies may lack fields that were added later.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ObjectBody {
    /// The API group and version.
    pub api_version: String,
    /// `metadata.labels`.
    pub labels: BTreeMap<String, String>,
    /// `metadata.annotations`, without `last-applied-configuration`.
    pub annotations: BTreeMap<String, String>,
    /// `metadata.ownerReferences`.
    pub owners: Vec<Owner>,
    /// `metadata.creationTimestamp`.
    pub created: Option<Stamp>,
    /// When deletion was asked for: `deletionTimestamp` minus the grace period.
    pub deletion_requested: Option<Stamp>,
    /// `deletionGracePeriodSeconds`.
    pub deletion_grace_s: Option<i64>,
    /// `metadata.generation`.
    pub generation: Option<i64>,
    /// `spec.nodeName` of a pod.
    pub node: Option<String>,
    /// `status.phase`, or the state word of a training kind.
    pub phase: Option<String>,
    /// Containers of a pod or of a pod template, main ones first.
    pub containers: Vec<Container>,
    /// Names of the volume claims a pod mounts.
    pub claims: Vec<String>,
    /// `spec.restartPolicy` of a pod.
    pub restart_policy: Option<String>,
    /// `spec.priority`.
    pub priority: Option<i64>,
    /// `spec.priorityClassName`.
    pub priority_class: Option<String>,
    /// `spec.nodeSelector`.
    pub node_selector: BTreeMap<String, String>,
    /// `spec.tolerations`, as JSON.
    pub tolerations: Option<String>,
    /// `spec.providerID` of a node.
    pub provider_id: Option<String>,
    /// `status.nodeInfo.bootID` of a node.
    pub boot_id: Option<String>,
    /// `spec.unschedulable` of a node.
    pub unschedulable: bool,
    /// Who last wrote `spec.unschedulable`.
    pub unschedulable_by: Option<FieldWriter>,
    /// `spec.taints` of a node.
    pub taints: Vec<Taint>,
    /// Fields of the spec that the request named which made this version, where it named some.
    pub written: Vec<String>,
    /// `status.allocatable` of a node.
    pub allocatable: BTreeMap<String, String>,
    /// Devices in `status.capacity` of a node, whose names have a `/`.
    pub devices: BTreeMap<String, String>,
    /// `spec.suspend`.
    pub suspended: bool,
    /// Wanted size: `parallelism`, `replicas`, or the sum over replica groups.
    pub replicas: Option<i64>,
    /// How many pods it wants at a time, where its kind's spec says so.
    pub pods: Option<i64>,
    /// Failures of a Job that has not given up, where their number alone decides whether it does.
    pub retries: Option<Retries>,
    /// The same of a Job that was given up for its failures or its time, where each end of a pod is one of them.
    pub gave_up: Option<Retries>,
    /// Indexes of a Job that have failed for good, as its status has them: `0-2,5`.
    pub failed_indexes: Option<String>,
    /// A started container of a pod, first one: when it started.
    pub started: Option<Stamp>,
    /// Every container has ended or the phase is final: when the last one ended.
    pub ended: Option<Stamp>,
    /// What containers of a pod wait for: `CrashLoopBackOff`, `ImagePullBackOff`, …
    pub waits: Vec<String>,
    /// Whether a pod is ready, and since when, by its own word.
    pub ready: Option<(bool, Stamp)>,
    /// Restart counts by container.
    pub restarts: BTreeMap<String, i64>,
    /// The main containers of a pod that run, by its own word.
    #[serde(default, with = "crate::added")]
    pub running: Vec<String>,
    /// The main containers that are held back, since they had failed (`CrashLoopBackOff`).
    #[serde(default, with = "crate::added")]
    pub held_back: Vec<String>,
    /// Hash of the spec, to tell whether two attempts asked for the same.
    pub spec_hash: String,
}

/// One version of an object, as one record showed it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ObjectVersion {
    /// Which object.
    pub key: ObjectKey,
    /// `metadata.resourceVersion` as a number, where it is one.
    pub revision: Option<u64>,
    /// A time at which this version was true: the request's for audit records,
    /// else the latest time written in the object itself.
    pub at: Option<Stamp>,
    /// The record says the object is gone (watch DELETED, audit delete of a
    /// finished object).
    pub deleted: bool,
    /// Who made this version, where an audit record of the write says so.
    pub by: Option<String>,
    /// What it was.
    pub body: ObjectBody,
    /// The connector.
    pub source_kind: SourceKind,
    /// Where it was read.
    pub origin: Origin,
}

impl ObjectKey {
    /// The text that identifies the object in hashes: uid, else names.
    #[must_use]
    pub fn identity(&self) -> String {
        if self.uid.is_empty() {
            format!("{}/{}/{}", self.kind, self.namespace, self.name)
        } else {
            self.uid.clone()
        }
    }
}

/// Labels and annotations that carry a rank, the most exact first.
const RANKS: [&str; 6] = [
    "batch.kubernetes.io/job-completion-index",
    "training.kubeflow.org/replica-index",
    "leaderworkerset.sigs.k8s.io/worker-index",
    "jobset.sigs.k8s.io/job-global-index",
    "volcano.sh/task-index",
    "apps.kubernetes.io/pod-index",
];

/// Labels and annotations that name an experiment, the plainest first.
const EXPERIMENTS: [&str; 3] = ["experiment", "experiment-name", "experiment_name"];

impl ObjectBody {
    /// The experiment that a label or annotation names.
    #[must_use]
    pub fn experiment(&self) -> Option<&str> {
        EXPERIMENTS.iter().find_map(|key| {
            let value = self
                .labels
                .get(*key)
                .or_else(|| self.annotations.get(*key))?;
            Some(value.as_str()).filter(|value| !value.is_empty())
        })
    }

    /// The group of pods that nobody owns with which Kueue lets a pod in. Those that serve requests work on without each other.
    #[must_use]
    pub fn pod_group(&self) -> Option<&str> {
        let serves = self.annotations.get("kueue.x-k8s.io/pod-group-serving");
        let alone = !self.owners.is_empty() || serves.is_some_and(|serves| serves == "true");
        let group = self.labels.get("kueue.x-k8s.io/pod-group-name")?.as_str();
        (!alone && !group.is_empty()).then_some(group)
    }

    /// The rank that the launcher wrote on a pod.
    #[must_use]
    pub fn rank(&self) -> Option<i32> {
        RANKS.iter().find_map(|key| {
            self.labels
                .get(*key)
                .or_else(|| self.annotations.get(*key))?
                .parse()
                .ok()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pods_that_somebody_owns_or_that_serve_are_no_gang() {
        let text = |key: &str, value: &str| [(key.to_owned(), value.to_owned())].into();
        let mut body = ObjectBody {
            labels: text("kueue.x-k8s.io/pod-group-name", "sft"),
            ..ObjectBody::default()
        };
        assert_eq!(body.pod_group(), Some("sft"));
        body.annotations = text("kueue.x-k8s.io/pod-group-serving", "true");
        assert_eq!(body.pod_group(), None);
        body.annotations.clear();
        body.owners.push(Owner {
            kind: "StatefulSet".to_owned(),
            name: "sft".to_owned(),
            uid: String::new(),
            controller: true,
        });
        assert_eq!(body.pod_group(), None);
    }
}
