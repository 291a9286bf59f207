//! What no verdict may say, whatever a rule answers: that something brought about
//! what was over before it, or that what had ended was ended again.
//!
//! Rules are about what brings about what; whether it can have, in time, is
//! decided here once, for all rules, a person's own among them.

use std::collections::HashMap;

use whathappened_connectors::time::{Nanos, SECOND, Stamp};
use whathappened_core::death::Death;
use whathappened_core::life::Mode;
use whathappened_core::world::{Fact, NO, World};

use super::edge::{Edge, Kind, Role};

/// Clocks of two machines, or of a cluster and its cloud, are this far apart at most.
pub const CLOCKS: Nanos = 5 * SECOND;

/// How late a machine's stop can be told of where the machine was seen alive at the
/// death: a shutdown in good order takes no longer.
const IN_SIGHT: Nanos = 120 * SECOND;

/// Requests for the end of a pod that no lost machine brings about by itself: somebody
/// reached the API, and had reasons.
const REQUESTS: [&str; 4] = [
    "k8s.pod.evicted.api",
    "k8s.pod.preempted",
    "k8s.pod.reclaimed",
    "k8s.pod.shuffled",
];

/// When somebody asked for the end of which pod.
pub(super) struct Requests(HashMap<u32, Vec<Stamp>>);

impl Requests {
    pub(super) fn of(world: &World) -> Self {
        let mut found: HashMap<u32, Vec<Stamp>> = HashMap::new();
        for fact in &world.facts {
            if fact.pod != NO && is_request(world.name(fact.signal)) {
                found.entry(fact.pod).or_default().push(fact.time);
            }
        }
        Self(found)
    }

    fn is_asked(&self, death: &Death) -> bool {
        let near = Stamp {
            lo: death.time.lo.saturating_sub(CLOCKS),
            hi: death.time.hi.saturating_add(CLOCKS),
        };
        death.mode == Mode::Killed
            && self
                .0
                .get(&death.pod)
                .is_some_and(|asked| asked.iter().any(|asked| asked.overlaps(near)))
    }
}

fn is_request(signal: &str) -> bool {
    // These act for what befell the node or the object, and confirm what others asked for.
    const FOLLOW: [&str; 3] = ["kubelet", "node_controller", "podgc"];
    let by = signal
        .strip_prefix("k8s.pod.deleted_by_")
        .or_else(|| signal.strip_prefix("k8s.pod.evicted_by_"));
    REQUESTS.contains(&signal) || by.is_some_and(|by| !FOLLOW.contains(&by))
}

/// Whether an edge is possible in time: its cause began before its effect, and both
/// before the death was over, as far as clocks can tell.
///
/// What belongs to the story or speaks against it brings nothing about and always is.
#[must_use]
pub(super) fn is_possible(world: &World, requests: &Requests, death: &Death, edge: &Edge) -> bool {
    if matches!(edge.kind, Kind::Context | Kind::Against) {
        return true;
    }
    let Some(cause) = world.facts.get(edge.cause) else {
        return false;
    };
    // What is stuck or keeps failing goes on, and so does what keeps it there.
    let Some(over) = over(death) else {
        return true;
    };
    let in_sight = ended_by_itself(world, death) || requests.is_asked(death);
    let onset = |fact: &Fact| {
        let latest = fact.time.lo.saturating_sub(IN_SIGHT);
        if in_sight {
            fact.onset.max(latest)
        } else {
            fact.onset
        }
    };
    if onset(cause) > over {
        return false;
    }
    match edge.effect {
        None => true,
        Some(effect) => world.facts.get(effect).is_some_and(|effect| {
            onset(effect) <= over && cause.onset <= effect.time.hi.saturating_add(CLOCKS)
        }),
    }
}

/// Whether a record was made only after the death was over.
#[must_use]
pub(super) fn is_told_after(world: &World, death: &Death, fact: usize) -> bool {
    let fact = world.facts.get(fact);
    matches!((fact, over(death)), (Some(fact), Some(over)) if fact.time.lo > over)
}

/// How sure an edge is: that a machine failed is no reason for an end that somebody
/// asked for at the API, unless a record says how the one led to the other.
#[must_use]
pub(super) fn kind(world: &World, requests: &Requests, death: &Death, edge: &Edge) -> Kind {
    let of_machine = || {
        world
            .facts
            .get(edge.cause)
            .is_some_and(|fact| fact.pod == NO && fact.workload == NO && fact.node.is_some())
    };
    if edge.kind == Kind::Inferred
        && edge.effect.is_none()
        && edge.role == Role::Fault
        && requests.is_asked(death)
        && of_machine()
    {
        return Kind::Guess;
    }
    edge.kind
}

/// Whether the kubelet saw the process end for a reason of its own: the machine ran on.
fn ended_by_itself(world: &World, death: &Death) -> bool {
    death.mode == Mode::Exited
        && match death.exit_code {
            // A machine that goes down sends these, or finds the container gone afterwards.
            Some(137 | 143 | 255) => world.name(death.reason) == "OOMKilled",
            Some(_) => true,
            None => false,
        }
}

/// The last instant at which something can still have brought a death about, `None`
/// where it is none but a state that goes on.
fn over(death: &Death) -> Option<Nanos> {
    (!death.goes_on() && death.time != Stamp::OPEN).then(|| death.time.hi.saturating_add(CLOCKS))
}
