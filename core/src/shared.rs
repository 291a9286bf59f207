//! Troubles that several saw at one time: what they share failed, not they.
//!
//! A name that does not resolve, a file server that does not answer, a network that
//! cannot be set up: seen once it may be the program's own affair. Seen at one time
//! by pods of several runs on several nodes, or by several machines, it is what they
//! all depend on. Seen by several on one machine alone, it is that machine's.

use std::collections::{BTreeSet, HashMap};

use whathappened_connectors::time::{Nanos, SECOND};

use crate::resolve::Run;
use crate::symbols::Sym;
use crate::world::{Fact, NO, World};

/// Alike troubles within this long of each other are one.
const AT_ONE_TIME: Nanos = 300 * SECOND;

/// Signals of a dependency's trouble, by the beginning of their names, and what it is
/// that they share. Those that need it are alike only if they name one target.
const TROUBLES: &[(&str, &str, bool)] = &[
    ("log.dns", "name resolution", false),
    ("k8s.node.dns_problem", "name resolution", false),
    ("log.storage_error", "storage", false),
    ("kernel.nfs_not_responding", "storage", false),
    ("kernel.storage_evicted", "storage", false),
    ("k8s.pod.volume_failed", "volumes", false),
    ("k8s.pod.sandbox_failed", "the pod network", false),
    ("k8s.node.network_unavailable", "the pod network", false),
    ("log.redis", "Redis", false),
    ("log.control_plane", "the control plane", false),
    (
        "k8s.workload.create_failed.control_plane",
        "the control plane",
        false,
    ),
    (
        "k8s.container.image_pull_failed.unreachable",
        "the registry",
        false,
    ),
    ("log.connection_refused", "a service", true),
    ("log.service_unreachable", "a service", true),
    ("log.database", "a database", true),
];

/// Who saw one trouble at one time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// What they share, in words.
    pub what: &'static str,
    /// Pods that said so.
    pub pods: BTreeSet<u32>,
    /// Machines that said so themselves.
    pub hosts: BTreeSet<Sym>,
    /// Machines on which it was seen, by pods or themselves.
    pub nodes: BTreeSet<Sym>,
    /// Runs of those pods.
    pub runs: BTreeSet<usize>,
    /// From the first to the last of them.
    pub within: Nanos,
}

impl Seen {
    /// Whether these are several that have nothing in common but what failed. The pods
    /// of one run may all have made the same mistake, and those of one node may all
    /// suffer from that node.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        let runs = self.runs.len() >= 2 && self.nodes.len() >= 2 && self.pods.len() >= 3;
        runs || self.hosts.len() >= 3
    }

    /// Pods and machines that said so.
    #[must_use]
    pub fn witnesses(&self) -> usize {
        self.pods.len() + self.hosts.len()
    }
}

/// One that saw a trouble: when, which pod, which machine.
type Witness = (Nanos, u32, Sym);

/// Everybody who saw something of the kind, by what it is and its target.
#[derive(Debug)]
pub struct Troubles {
    by_kind: HashMap<(&'static str, Sym), Vec<Witness>>,
    run_of_pod: HashMap<u32, usize>,
}

impl Troubles {
    /// Looks through all facts once.
    #[must_use]
    pub fn of(world: &World, runs: &[Run]) -> Self {
        let mut by_kind: HashMap<_, Vec<Witness>> = HashMap::new();
        for fact in &world.facts {
            if let Some(key) = key(world, fact) {
                let pod = world.pods.get(fact.pod as usize);
                let node = pod.map_or(fact.node, |pod| pod.node);
                by_kind
                    .entry(key)
                    .or_default()
                    .push((fact.time.lo, fact.pod, node));
            }
        }
        for witnesses in by_kind.values_mut() {
            witnesses.sort_unstable();
        }
        let numbered = runs.iter().enumerate();
        let run_of_pod = numbered
            .flat_map(|(number, run)| run.pods.iter().map(move |pod| (*pod, number)))
            .collect();
        Self {
            by_kind,
            run_of_pod,
        }
    }

    /// Whether a fact tells of a dependency's trouble.
    #[must_use]
    pub fn is_one(world: &World, fact: &Fact) -> bool {
        key(world, fact).is_some()
    }

    /// Who saw the trouble that a fact tells of, the fact's own witness among them;
    /// `None` for what is no dependency's trouble.
    #[must_use]
    pub fn seen(&self, world: &World, fact: &Fact) -> Option<Seen> {
        let key = key(world, fact)?;
        let all = self.by_kind.get(&key)?;
        let at = fact.time.lo;
        let from = all.partition_point(|one| one.0 < at.saturating_sub(AT_ONE_TIME));
        let to = all.partition_point(|one| one.0 <= at.saturating_add(AT_ONE_TIME));
        let some = all.get(from..to)?;
        let mut seen = Seen {
            what: key.0,
            ..Seen::default()
        };
        for (_, pod, node) in some {
            if *pod == NO {
                seen.hosts.extend(Some(*node).filter(|node| node.is_some()));
            } else {
                seen.pods.insert(*pod);
                seen.runs.extend(self.run_of_pod.get(pod));
            }
            seen.nodes.extend(Some(*node).filter(|node| node.is_some()));
        }
        if let (Some(first), Some(last)) = (some.first(), some.last()) {
            seen.within = last.0.saturating_sub(first.0);
        }
        Some(seen)
    }
}

/// What a fact's trouble is, and of which target where that matters.
fn key(world: &World, fact: &Fact) -> Option<(&'static str, Sym)> {
    if fact.time.lo == Nanos::MIN || fact.time.hi == Nanos::MAX {
        return None;
    }
    let signal = world.name(fact.signal);
    // Of a pod it says that its resolver's settings were cut, which is common.
    if signal == "k8s.node.dns_problem" && fact.pod != NO {
        return None;
    }
    let (_, what, needs_target) = TROUBLES
        .iter()
        .find(|(stem, _, _)| signal.starts_with(stem))?;
    if *needs_target && !fact.target.is_some() {
        return None;
    }
    let target = if *needs_target {
        fact.target
    } else {
        Sym::NONE
    };
    Some((what, target))
}
