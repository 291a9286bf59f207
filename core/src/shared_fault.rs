//! Troubles that several saw at one time: what they share failed, not they.
//!
//! A name that does not resolve, a file server that does not answer, a network that
//! cannot be set up: seen once it may be the program's own affair. Seen at one time
//! by pods of several runs on several nodes, or by several machines, it is what they
//! all depend on. Seen by several on one machine alone, it is that machine's. So are
//! machines that fall silent at one time.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use whathappened_model::time::{Nanos, SECOND};

use crate::graph::{EntityGraph, Fact, NO};
use crate::resolve::Run;
use crate::symbols::Symbol;

/// Alike troubles within this long of each other are one.
const AT_ONE_TIME: Nanos = 300 * SECOND;

/// What machines share that fall silent at one time: their power, their network, their cloud.
pub const MACHINES: &str = "what the machines depend on";

/// Signals of a dependency's trouble, by the beginning of their names, and what it is
/// that they share. Those that need it are alike only if they name one target.
const TROUBLES: &[(&str, &str, bool)] = &[
    ("k8s.node.not_ready", MACHINES, false),
    ("k8s.node.silent", MACHINES, false),
    ("log.dns", "name resolution", false),
    ("k8s.node.dns_problem", "name resolution", false),
    ("log.storage_error", "storage", false),
    ("kernel.nfs_not_responding", "storage", false),
    ("kernel.storage_evicted", "storage", false),
    ("k8s.pod.volume_failed", "volumes", false),
    ("k8s.pod.sandbox_failed.network", "the pod network", false),
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

/// A trouble of somebody who is not part of the case: counted, and named by nothing
/// but the machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct OutsideFault {
    /// When.
    pub time: Nanos,
    /// What its signal says.
    pub signal: String,
    /// What could not be reached.
    pub target: Option<String>,
    /// What tells the pod from others; `None` where the machine itself said so.
    pub pod: Option<u64>,
    /// What tells its run from others.
    pub run: u64,
    /// What tells its namespace from others.
    pub namespace: u64,
    /// The machine.
    pub node: Option<String>,
}

/// What tells namespaces from others without naming them.
#[must_use]
pub fn namespace_number(name: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    hasher.finish()
}

/// Whether a signal tells of a dependency's trouble.
#[must_use]
pub fn is_trouble(signal: &str) -> bool {
    TROUBLES.iter().any(|(stem, _, _)| signal.starts_with(stem))
}

/// A pod that saw a trouble.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WitnessPod {
    /// A known one, by number.
    Pod(u32),
    /// Another: what tells it and its namespace from others.
    Other(u64, u64),
}

/// A run whose pods saw a trouble.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WitnessRun {
    /// One of the case, by number.
    Run(usize),
    /// Another.
    Other(u64),
}

/// Who saw one trouble at one time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FaultWitnesses {
    /// What they share, in words.
    pub what: &'static str,
    /// Pods that said so.
    pub pods: BTreeSet<WitnessPod>,
    /// Machines that said so themselves.
    pub hosts: BTreeSet<String>,
    /// Machines on which it was seen, by pods or themselves.
    pub nodes: BTreeSet<String>,
    /// Runs of those pods.
    pub runs: BTreeSet<WitnessRun>,
    /// From the first to the last of them.
    pub within: Nanos,
}

impl FaultWitnesses {
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

/// One that saw a trouble.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Witness {
    at: Nanos,
    who: Option<(WitnessPod, Option<WitnessRun>)>,
    node: Option<String>,
}

/// Everybody who saw something of the kind, by what it is and its target.
#[derive(Debug)]
pub struct SharedFaults {
    by_kind: HashMap<(&'static str, String), Vec<Witness>>,
}

impl SharedFaults {
    /// Looks through all facts once.
    #[must_use]
    pub fn of(graph: &EntityGraph, runs: &[Run]) -> Self {
        let numbered = runs.iter().enumerate();
        let run_of_pod: HashMap<u32, usize> = numbered
            .flat_map(|(number, run)| run.pods.iter().map(move |pod| (*pod, number)))
            .collect();
        let mut by_kind: HashMap<_, Vec<Witness>> = HashMap::new();
        let some = |sym: Symbol| graph.evidence.symbols.some(sym).map(str::to_owned);
        for fact in &graph.facts {
            let Some(key) = key(graph, fact) else {
                continue;
            };
            let pod = graph.pods.get(fact.pod as usize);
            let run = run_of_pod.get(&fact.pod).map(|run| WitnessRun::Run(*run));
            by_kind.entry(key).or_default().push(Witness {
                at: fact.time.lo,
                who: pod.map(|_| (WitnessPod::Pod(fact.pod), run)),
                node: some(pod.map_or(fact.node, |pod| pod.node)),
            });
        }
        for other in &graph.elsewhere {
            let Some(key) = kind_of(&other.signal, other.target.as_deref()) else {
                continue;
            };
            let pod = other.pod.map(|pod| WitnessPod::Other(pod, other.namespace));
            by_kind.entry(key).or_default().push(Witness {
                at: other.time,
                who: pod.map(|pod| (pod, Some(WitnessRun::Other(other.run)))),
                node: other.node.clone(),
            });
        }
        for witnesses in by_kind.values_mut() {
            witnesses.sort_unstable();
        }
        Self { by_kind }
    }

    /// The times around which others may have seen what the known facts tell of.
    #[must_use]
    pub fn times(graph: &EntityGraph) -> Vec<(Nanos, Nanos)> {
        let troubles = graph.facts.iter().filter(|fact| Self::is_one(graph, fact));
        let mut times: Vec<(Nanos, Nanos)> = Vec::new();
        // Facts are in order of time.
        for at in troubles.map(|fact| fact.time.lo) {
            let from = at.saturating_sub(AT_ONE_TIME);
            let to = at.saturating_add(AT_ONE_TIME);
            match times.last_mut() {
                Some(last) if from <= last.1 => last.1 = last.1.max(to),
                _ => times.push((from, to)),
            }
        }
        times
    }

    /// Whether a fact tells of a dependency's trouble.
    #[must_use]
    pub fn is_one(graph: &EntityGraph, fact: &Fact) -> bool {
        key(graph, fact).is_some()
    }

    /// Who saw the trouble that a fact tells of, the fact's own witness among them;
    /// `None` for what is no dependency's trouble.
    #[must_use]
    pub fn seen(&self, graph: &EntityGraph, fact: &Fact) -> Option<FaultWitnesses> {
        let key = key(graph, fact)?;
        let all = self.by_kind.get(&key)?;
        let at = fact.time.lo;
        let from = all.partition_point(|one| one.at < at.saturating_sub(AT_ONE_TIME));
        let to = all.partition_point(|one| one.at <= at.saturating_add(AT_ONE_TIME));
        let some = all.get(from..to)?;
        let mut seen = FaultWitnesses {
            what: key.0,
            ..FaultWitnesses::default()
        };
        let mut known: HashSet<WitnessPod> = HashSet::new();
        for one in some {
            match one.who {
                Some((who, run)) if known.insert(who) => {
                    seen.pods.insert(who);
                    seen.runs.extend(run);
                }
                Some(_) => {}
                None => seen.hosts.extend(one.node.clone()),
            }
            seen.nodes.extend(one.node.clone());
        }
        if let (Some(first), Some(last)) = (some.first(), some.last()) {
            seen.within = last.at.saturating_sub(first.at);
        }
        Some(seen)
    }
}

/// What a fact's trouble is, and of which target where that matters.
fn key(graph: &EntityGraph, fact: &Fact) -> Option<(&'static str, String)> {
    if fact.time.lo == Nanos::MIN || fact.time.hi == Nanos::MAX {
        return None;
    }
    let signal = graph.name(fact.signal);
    // Of a pod it says that its resolver's settings were cut, which is common.
    if signal == "k8s.node.dns_problem" && fact.pod != NO {
        return None;
    }
    kind_of(signal, graph.evidence.symbols.some(fact.target))
}

fn kind_of(signal: &str, target: Option<&str>) -> Option<(&'static str, String)> {
    let (_, what, needs_target) = TROUBLES
        .iter()
        .find(|(stem, _, _)| signal.starts_with(stem))?;
    if *needs_target {
        return Some((what, target?.to_owned()));
    }
    Some((what, String::new()))
}
