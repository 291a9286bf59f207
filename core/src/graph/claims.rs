//! What the texts of a few Events say of who made whom and where it went.

use whathappened_model::event::Event;
use whathappened_model::time::Stamp;

use super::Exit;
use super::identity::{Pods, Workloads};
use super::learn::earlier;
use super::workload_names::workload;
use crate::graph::TaskRow;
use crate::symbols::{Symbol, SymbolTable};

/// What an Event's text claims beside its own object.
enum Claim<'a> {
    /// The pod was bound to a node.
    Placed { node: &'a str },
    /// The workload made a pod.
    Made { pod: &'a str },
    /// The workload deleted a pod.
    Unmade { pod: &'a str },
    /// The operator saw how a pod's process ended.
    Ended { pod: &'a str, code: i32 },
    /// The Deployment scaled a `ReplicaSet` of its own.
    Scaled { replica_set: &'a str },
}

/// Notes what an Event's text claims. `number` is the pod that the Event is about.
pub(super) fn note(
    event: &Event,
    number: Option<TaskRow>,
    symbols: &mut SymbolTable,
    pods: &mut Pods,
    workloads: &mut Workloads,
) {
    let Some(claim) = read(event) else {
        return;
    };
    let namespace = symbols.optional(event.entities.namespace.as_deref());
    match claim {
        Claim::Placed { node } => {
            let node = symbols.number(node);
            if let Some(pod) = pods.all.get_mut(number) {
                pod.node = node;
                pod.bound = earlier(pod.bound, event.time);
            }
        }
        Claim::Made { pod } | Claim::Unmade { pod } if event.object_kind.is_some() => {
            let made = pods.of_name(namespace, symbols.number(pod), event.time.lo);
            let owner = workload(event, symbols, workloads);
            if let Some(pod) = pods.all.get_mut(made) {
                if pod.owner.is_none() {
                    pod.owner = owner;
                }
                if event.reason.as_deref().is_some_and(is_creation) {
                    pod.created = earlier(pod.created, event.time);
                }
                if event
                    .reason
                    .as_deref()
                    .is_some_and(|reason| reason.starts_with("SuccessfulDelete"))
                {
                    pod.deletion_requested = earlier(pod.deletion_requested, event.time);
                    // A table of ages alone tells that it was, and not when.
                    if event.time == Stamp::OPEN {
                        pod.kills.push(event.time);
                    }
                }
                pod.see(event.time.lo, event.time.hi);
            }
        }
        Claim::Ended { pod, code } => {
            let ended = pods.of_name(namespace, symbols.number(pod), event.time.lo);
            let owner = workload(event, symbols, workloads);
            if let Some(pod) = pods.all.get_mut(ended) {
                if pod.owner.is_none() {
                    pod.owner = owner;
                }
                // It was seen a while after it had ended.
                pod.heard.push(Exit {
                    time: event.time,
                    container: Symbol::NONE,
                    init: false,
                    exit_code: Some(code),
                    reason: Symbol::NONE,
                });
            }
        }
        Claim::Made { .. } | Claim::Unmade { .. } => {}
        Claim::Scaled { replica_set } => {
            let (kind, name) = (symbols.number("ReplicaSet"), symbols.number(replica_set));
            let owner = workload(event, symbols, workloads);
            let scaled = workloads.of(kind, Symbol::NONE, namespace, name, event.time);
            if let Some(scaled) = workloads.all.get_mut(scaled)
                && scaled.owner.is_none()
            {
                scaled.owner = owner;
            }
        }
    }
}

/// Reads the claim of an Event, where it makes one.
fn read(event: &Event) -> Option<Claim<'_>> {
    let message = event.message.as_deref()?;
    match event.reason.as_deref()? {
        "Scheduled" => {
            let node = message
                .strip_prefix("Successfully assigned ")?
                .rsplit_once(" to ")?
                .1;
            // YuniKorn says what it is.
            let node = node.strip_prefix("node ").unwrap_or(node);
            Some(Claim::Placed { node })
        }
        "SuccessfulCreate" | "SuccessfulCreatePod" => {
            let pod = message
                .strip_prefix("Created pod: ")
                .or_else(|| message.strip_prefix("Created pod "))?;
            Some(Claim::Made {
                pod: first_word(pod),
            })
        }
        "SuccessfulDelete" | "SuccessfulDeletePod" => {
            let pod = message
                .strip_prefix("Deleted pod: ")
                .or_else(|| message.strip_prefix("Deleted pod "))?;
            Some(Claim::Unmade {
                pod: first_word(pod),
            })
        }
        // KubeRay's own words, each with the namespace before the name.
        "CreatedHeadPod" | "CreatedWorkerPod" => {
            let mut words = message.strip_prefix("Created ")?.split_whitespace();
            let (_, pod) = words.find_map(|word| word.split_once('/'))?;
            Some(Claim::Made { pod })
        }
        "ExitedWithCode" => {
            let (pod, code) = message
                .strip_prefix("Pod: ")?
                .split_once(" exited with code ")?;
            let pod = pod.split_once('.').map_or(pod, |(_, pod)| pod);
            let code = first_word(code).parse().ok()?;
            // What the operator writes where it does not know.
            (code != 0xbeef).then_some(Claim::Ended { pod, code })
        }
        "ScalingReplicaSet" => {
            let replica_set = message.split_once("replica set ")?.1;
            Some(Claim::Scaled {
                replica_set: first_word(replica_set),
            })
        }
        _ => None,
    }
}

/// Reasons of Events that a workload's controller made a pod.
fn is_creation(reason: &str) -> bool {
    reason.starts_with("SuccessfulCreate")
        || matches!(reason, "CreatedHeadPod" | "CreatedWorkerPod")
}

fn first_word(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or_default()
}
