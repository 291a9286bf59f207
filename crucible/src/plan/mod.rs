//! What a case will be: drawn from a seed before anything is simulated, so that a
//! smaller case can be made by leaving parts out.

mod aftermath;
mod classes;
mod draw;
mod fault;
mod observe;
mod recent;

use serde::{Deserialize, Serialize};

use crate::time::Time;

pub use aftermath::Aftermath;
pub use draw::draw;
pub use fault::Fault;
pub use observe::{Damage, LogForm, Observe, Policy, When};
pub use recent::is_recent;

/// Everything that is drawn from a seed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Plan {
    /// Where it is all drawn from.
    pub seed: u64,
    /// When the simulation begins.
    pub start: Time,
    /// The cluster.
    pub cluster: Cluster,
    /// What runs in it; the first is the one that is asked for.
    pub loads: Vec<Load>,
    /// What goes wrong.
    pub faults: Vec<Planned>,
    /// What is done to the same machines and names after a death.
    pub deeds: Vec<Aftermath>,
    /// What was recorded of it.
    pub observe: Observe,
    /// What the first workload and its cluster have that many do not.
    #[serde(default)]
    pub more: More,
}

/// What many clusters have, drawn apart so that other seeds stay as they are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct More {
    /// `ttlSecondsAfterFinished` of the Job.
    pub ttl_s: Option<i64>,
    /// Whether the Job has a policy for pods that fail.
    pub policy: bool,
    /// Whether its program is run in a loop of its script, until it succeeds.
    pub looped: bool,
    /// Whether it waits for Kueue.
    pub queued: bool,
    /// Whether it has an init container.
    pub init: bool,
    /// Whether it has a sidecar, which crashes now and then and hurts nobody.
    pub sidecar: bool,
    /// Whether a node problem detector runs.
    pub npd: bool,
    /// Whether the audit log was kept by Google's Cloud Logging.
    pub gke: bool,
}

/// Where the machines stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Cloud {
    Gcp,
    Aws,
    Azure,
    OnPrem,
}

/// The cluster.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Cluster {
    /// Where its machines stand.
    pub cloud: Cloud,
    /// How many nodes it begins with.
    pub nodes: usize,
    /// GPUs of each.
    pub gpus: u32,
    /// Whether its machines may be reclaimed.
    pub spot: bool,
    /// Seconds of silence before a node counts as not ready.
    pub grace_s: i64,
    /// Seconds for which pods bear an unreachable node.
    pub bear_s: i64,
    /// Minor version of Kubernetes; texts differ.
    pub minor: u32,
}

/// Kinds of workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say it")]
pub enum LoadKind {
    Job,
    JobSet,
    Deployment,
    StatefulSet,
    Pod,
    PyTorchJob,
}

impl LoadKind {
    /// As Kubernetes writes it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Job => "Job",
            Self::JobSet => "JobSet",
            Self::Deployment => "Deployment",
            Self::StatefulSet => "StatefulSet",
            Self::Pod => "Pod",
            Self::PyTorchJob => "PyTorchJob",
        }
    }
}

/// One workload.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Load {
    /// Its kind.
    pub kind: LoadKind,
    /// Namespace.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// Value of its label `experiment`, where it has one.
    pub label: Option<String>,
    /// Who made it.
    pub owner: String,
    /// Pods of a gang.
    pub size: u32,
    /// GPUs a pod.
    pub gpus: u32,
    /// When it is made, after the start.
    pub at: i64,
    /// How long it trains; for ever where absent.
    pub trains: Option<i64>,
    /// Retries of a Job, or restarts of a `JobSet`.
    pub retries: u32,
    /// Whether containers are restarted in place.
    pub restarts: bool,
    /// Seconds before a collective counts as stuck.
    pub nccl_s: i64,
    /// Whether peers notice a lost one by its connections at once.
    pub resets: bool,
    /// Whether the program ends at SIGTERM; else it is killed after the grace period.
    pub obeys: bool,
    /// `activeDeadlineSeconds`.
    pub deadline_s: Option<i64>,
    /// Priority class and its value.
    pub priority: Option<(String, i32)>,
    /// Whether it is a gang: one that dies takes the others with it.
    pub gang: bool,
}

impl Load {
    /// A deployment of the cluster's own people, which trains nothing and is there from the beginning.
    #[must_use]
    pub fn service(namespace: &str, name: String, size: u32, gpus: u32) -> Self {
        Self {
            kind: LoadKind::Deployment,
            namespace: namespace.to_owned(),
            name,
            label: None,
            owner: "dave@lab.example".to_owned(),
            size,
            gpus,
            at: 0,
            trains: None,
            retries: 0,
            restarts: true,
            nccl_s: 600,
            resets: true,
            obeys: true,
            deadline_s: None,
            priority: None,
            gang: false,
        }
    }
}

/// Something that will go wrong.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Planned {
    /// What.
    pub fault: Fault,
    /// For which workload, by its place in the plan.
    pub load: usize,
    /// When, after the workload was made.
    pub at: i64,
}
