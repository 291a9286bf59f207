//! When nodes were lost.

use std::collections::HashMap;

use whathappened_model::time::{Nanos, SECOND, Stamp};

use crate::graph::{EntityGraph, Task};
use crate::signals::{SignalClass, named};
use crate::symbols::Symbol;

/// A stretch in which a node did not answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loss {
    /// When it was found to have stopped.
    pub(super) from: Stamp,
    /// Since when it may have: who watches nodes waits before it says so.
    pub(super) onset: Nanos,
    /// When it answered again.
    pub(super) until: Option<Stamp>,
    /// Whether it was taken off the cluster without having answered again: what was on it is lost.
    pub(super) gone: bool,
    /// Whether it booted meanwhile: what ran on it is lost, too.
    pub(super) booted: bool,
    /// Whether the machine said that it goes down just before.
    pub(super) went_down: bool,
}

/// When nodes stopped answering.
pub(super) type Losses = HashMap<Symbol, Vec<Loss>>;

/// A boot is told of this long before its node is silent, or after it answered again, at most.
const BOOT_RECORDED_WITHIN: Nanos = 180 * SECOND;

/// What is told of one silence is told within this long.
const RECORDED_WITHIN: Nanos = 60 * SECOND;

/// The stretch in which the node of a pod did not answer at a time: where a pod was started since, it did.
pub(super) fn silent_at<'a>(losses: &'a Losses, pod: &Task, time: Stamp) -> Option<&'a Loss> {
    let starts = || pod.starts.iter().chain(&pod.started);
    let silent = |loss: &&Loss| {
        loss.from.lo <= time.hi
            && loss.until.is_none_or(|until| until.lo > time.lo)
            && !starts().any(|start| start.lo > loss.from.hi && start.hi <= time.hi)
    };
    losses.get(&pod.node)?.iter().find(silent)
}

pub(super) fn losses(graph: &EntityGraph) -> Losses {
    let symbols = &graph.evidence.symbols;
    let (down, up) = (
        symbols.find(named::K8S_NODE_NOT_READY),
        symbols.find(named::K8S_NODE_READY),
    );
    let pods_down = symbols.find(named::K8S_POD_NODE_NOT_READY);
    // What tells that a machine stopped or booted, before its node is seen to be silent, meanwhile,
    // or with its first words afterwards.
    let boots = graph.traits.of(SignalClass::Boots).iter();
    let boots: Vec<_> = boots.map(|signal| symbols.find(signal)).collect();
    let goes_down = graph.traits.of(SignalClass::GoesDown).iter();
    let goes_down: Vec<_> = goes_down.map(|signal| symbols.find(signal)).collect();
    let gone_in_cloud = symbols.find(named::K8S_NODE_GONE_IN_CLOUD);
    // Whether its object was seen to be gone, or somebody asked for that.
    let is_gone = |signal: Symbol| {
        Some(signal) == gone_in_cloud || graph.name(signal).starts_with(named::K8S_NODE_DELETED)
    };
    let mut found: Losses = Losses::new();
    let mut booted: HashMap<Symbol, Nanos> = HashMap::new();
    let mut down_since: HashMap<Symbol, Nanos> = HashMap::new();
    // Facts are in time order, so a loss is closed by the next recovery.
    for fact in &graph.facts {
        // Of requests alone that is told of the node's pods.
        let of_pod = graph.pods.get(fact.pod);
        let of_pod = of_pod.filter(|_| Some(fact.signal) == pods_down);
        let node = of_pod.map_or(fact.node, |pod| pod.node);
        if !node.is_some() {
            continue;
        }
        let stretches = found.entry(node).or_default();
        let signal = Some(fact.signal);
        let is_down = of_pod.is_some() || signal == down;
        if goes_down.contains(&signal) && fact.time != Stamp::OPEN {
            down_since.insert(node, fact.time.hi);
        }
        if boots.contains(&signal) {
            booted.insert(node, fact.time.hi);
            if let Some(loss) = stretches.last_mut() {
                let until = loss.until.map_or(Nanos::MAX, |until| until.hi);
                loss.booted |= fact.time.lo.saturating_sub(until) < BOOT_RECORDED_WITHIN;
            }
            continue;
        }
        // Who is told to be silent again has answered meanwhile, or has not: that it did nobody saw.
        let anew = stretches.last().is_none_or(|loss| {
            // Of a silence that nobody knows the time of, one that is dated is another.
            loss.from == Stamp::OPEN || fact.time.lo.saturating_sub(loss.from.hi) > RECORDED_WITHIN
        });
        let is_open = stretches.iter().any(|loss| loss.until.is_none());
        let open = stretches.iter_mut().filter(|loss| loss.until.is_none());
        if is_down && (anew || !is_open) {
            stretches.push(Loss {
                from: fact.time,
                onset: fact.onset,
                until: None,
                gone: false,
                booted: booted
                    .get(&node)
                    .is_some_and(|at| fact.time.lo.saturating_sub(*at) < BOOT_RECORDED_WITHIN),
                went_down: down_since
                    .get(&node)
                    .is_some_and(|at| fact.time.lo.saturating_sub(*at) < BOOT_RECORDED_WITHIN),
            });
        } else if signal == up {
            open.for_each(|loss| loss.until = Some(fact.time));
        } else if is_gone(fact.signal) {
            // Its last version may be of any time before it was gone.
            open.for_each(|loss| loss.gone |= fact.time.hi >= loss.from.lo);
        }
    }
    found
}
