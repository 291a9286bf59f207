//! Who did it.

use whathappened_core::graph::EntityGraph;
use whathappened_core::resolve::{Root, Run};
use whathappened_core::signals::ActorKind;

use crate::answer::Actor;

/// Labels that name whose experiment it is.
const OWNERS: [&str; 6] = [
    "owner",
    "user",
    "username",
    "determined.ai/user",
    "created-by",
    "submitter",
];

/// An actor from the name a record has, and whether it is the run's own owner.
///
/// `class` is the kind of actor that the record's signal names: under one
/// administrator's name only the user agent tells a scheduler from a person.
pub(super) fn actor(graph: &EntityGraph, run: &Run, name: &str, class: Option<&str>) -> Actor {
    if is_of_kueue(name) {
        return Actor {
            name: "Kueue".to_owned(),
            kind: ActorKind::Scheduler,
            is_owner: false,
        };
    }
    let kind = match class {
        Some("scheduler") => ActorKind::Scheduler,
        Some("kubelet") => ActorKind::Kubelet,
        Some("autoscaler") => ActorKind::Autoscaler,
        Some("cloud") => ActorKind::Cloud,
        Some("gc" | "namespace_controller" | "node_controller" | "podgc" | "ttl") => {
            ActorKind::Controller
        }
        Some("controller") if !is_account(name) => ActorKind::Controller,
        _ => kind(name),
    };
    Actor {
        name: name.to_owned(),
        kind,
        is_owner: kind == ActorKind::User && is_owner(graph, run, name),
    }
}

/// Whether a name is that of one of Kueue's recorders of Events, of which each has its own: `kueue-admission`,
/// `batch/job-kueue-controller`.
fn is_of_kueue(name: &str) -> bool {
    let is_bare = !name.contains(['@', ':']);
    // Whoever looks after Kueue may be called after it.
    let is_part = matches!(name, "kueue-admission" | "kueue-reclaimable-pods");
    is_bare
        && (is_part
            || name.starts_with("kueue-") && name.ends_with("controller")
            || name.ends_with("-kueue-controller")
            || name == "workload_controller")
}

/// Whether a name is that of a service account which may be anything: a pipeline's, or somebody's script.
fn is_account(name: &str) -> bool {
    let account = name.strip_prefix("system:serviceaccount:");
    account.is_some_and(|account| {
        let (namespace, last) = account.split_once(':').unwrap_or(("", account));
        let is_of_system = namespace.ends_with("-system") || namespace.ends_with("-operator");
        let controls = [
            "controller",
            "operator",
            "manager",
            "collector",
            "scheduler",
            "autoscaler",
            "karpenter",
        ];
        !is_of_system && !controls.iter().any(|word| last.contains(word))
    })
}

/// Whether a name is an address, as people have them; the robots of projects in a cloud have as well.
fn is_persons(name: &str) -> bool {
    name.contains('@') && !name.contains([':', '/']) && !name.ends_with(".gserviceaccount.com")
}

fn kind(name: &str) -> ActorKind {
    let last = name.rsplit(':').next().unwrap_or(name);
    if let Some(kind) = of_cloud(name) {
        return kind;
    }
    if is_persons(name) {
        return ActorKind::User;
    }
    if last.contains("autoscaler") || last.contains("karpenter") {
        ActorKind::Autoscaler
    } else if name.starts_with("system:node:") || name == "kubelet" {
        ActorKind::Kubelet
    } else if last.ends_with("scheduler") || name == "volcano" {
        ActorKind::Scheduler
    } else if is_account(name) {
        ActorKind::ServiceAccount
    } else if name.starts_with("system:serviceaccount:")
        || last.ends_with("-controller")
        || last.ends_with("-collector")
    {
        ActorKind::Controller
    } else if name == "kernel-monitor" || name == "kernel" {
        ActorKind::Kernel
    } else if name.starts_with("system:") || name == "unattended-upgrades" {
        ActorKind::Component
    } else {
        ActorKind::User
    }
}

/// Who acts for a cloud: its own system accounts, and the service accounts of
/// its controllers.
fn of_cloud(name: &str) -> Option<ActorKind> {
    // `upgrader` is what AKS calls itself in Events of nodes that it images anew.
    const CLOUD: [&str; 4] = [
        "system@google.com",
        "AWS Internal",
        "Microsoft.Compute",
        "upgrader",
    ];
    if name == "autoscaling.amazonaws.com" {
        Some(ActorKind::Autoscaler)
    } else if name.ends_with(".amazonaws.com") || CLOUD.contains(&name) {
        Some(ActorKind::Cloud)
    } else if name.ends_with("@cloudservices.gserviceaccount.com")
        || name.ends_with("@container-engine-robot.iam.gserviceaccount.com")
    {
        Some(ActorKind::Controller)
    } else {
        None
    }
}

/// Who made the run, as the audit log or its labels say.
#[must_use]
pub fn owner(graph: &EntityGraph, run: &Run) -> Option<String> {
    let made_by = match run.root {
        Root::Workload(root) => graph.workloads.get(root).map(|one| one.made_by),
        Root::Pod(pod) => graph.pods.get(pod).map(|one| one.made_by),
    };
    let made_by = made_by.filter(|by| by.is_some() && kind(graph.name(*by)) == ActorKind::User);
    made_by
        .map(|by| graph.name(by).to_owned())
        .or_else(|| labelled(graph, run))
}

fn labelled(graph: &EntityGraph, run: &Run) -> Option<String> {
    let root = match run.root {
        Root::Workload(root) => graph.workloads.get(root).and_then(|one| one.body.as_ref()),
        Root::Pod(_) => None,
    };
    let pods = run
        .pods
        .iter()
        .filter_map(|pod| graph.pods.get(*pod)?.body.as_ref());
    root.into_iter()
        .chain(pods)
        .find_map(|body| OWNERS.iter().find_map(|key| body.labels.get(*key).cloned()))
}

fn is_owner(graph: &EntityGraph, run: &Run, name: &str) -> bool {
    // Labels cannot hold an `@`, so the part before it must do.
    let local = |name: &str| name.split('@').next().unwrap_or(name).to_lowercase();
    owner(graph, run).is_some_and(|owner| owner == name || local(&owner) == local(name))
        || labelled(graph, run).is_some_and(|owner| local(&owner) == local(name))
}
