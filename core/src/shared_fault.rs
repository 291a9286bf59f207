//! Troubles that several saw at one time: what they share failed, not they.
//!
//! A name that does not resolve, a file server that does not answer, a network that
//! cannot be set up: seen once it may be the program's own affair. Seen at one time
//! by pods of several runs on several nodes, or by several machines, it is what they
//! all depend on. Seen by several on one machine alone, it is that machine's. So are
//! machines that fall silent at one time.

use crate::signals::named;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use whathappened_model::table::AtRow as _;
use whathappened_model::time::{Nanos, SECOND};

use crate::graph::{EntityGraph, Fact, TaskRow};
use crate::resolve::Run;
use crate::symbols::Symbol;

/// Alike troubles within this long of each other are one.
const AT_ONE_TIME: Nanos = 300 * SECOND;

/// What machines share that fall silent at one time: their power, their network, their cloud.
pub const MACHINES: &str = "what the machines depend on";

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

/// A pod that saw a trouble.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WitnessPod {
    /// A known one, by number.
    Pod(TaskRow),
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
    pub what: Arc<str>,
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
    /// Whether these are several that have nothing in common but what failed.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        are_several(
            self.runs.len(),
            self.nodes.len(),
            self.pods.len(),
            self.hosts.len(),
        )
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

/// What a fault is, and of which target where that matters.
type Kind = (Arc<str>, String);

/// Everybody who saw something of the kind, by what it is and its target.
#[derive(Debug)]
pub struct SharedFaults {
    by_kind: HashMap<Kind, Vec<Witness>>,
}

/// How many saw one trouble at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaultCount {
    /// Pods and machines that said so.
    pub witnesses: usize,
    /// Whether these are several that have nothing in common but what failed.
    pub is_shared: bool,
}

/// The same of all troubles, counted in one pass over each kind: a gang of thousands sees one
/// trouble a hundred thousand times, and each of these has others around it.
#[derive(Debug)]
pub struct FaultCounts {
    by_kind: HashMap<Kind, Vec<(Nanos, FaultCount)>>,
}

impl FaultCounts {
    /// How many saw the trouble that a fact tells of, the fact's own witness among them;
    /// `None` for what is no dependency's trouble.
    #[must_use]
    pub fn of(&self, graph: &EntityGraph, fact: &Fact) -> Option<FaultCount> {
        let counts = self.by_kind.get(&key(graph, fact)?)?;
        let place = counts
            .binary_search_by_key(&fact.time.lo, |(at, _)| *at)
            .ok()?;
        counts.get(place).map(|(_, count)| *count)
    }
}

/// Things with how often each is in a window.
struct Multiset<T>(HashMap<T, usize>);

impl<T: std::hash::Hash + Eq> Multiset<T> {
    fn new() -> Self {
        Self(HashMap::new())
    }

    fn add(&mut self, one: T) {
        *self.0.entry(one).or_default() += 1;
    }

    fn remove(&mut self, one: &T) {
        if let Some(times) = self.0.get_mut(one) {
            *times -= 1;
            if *times == 0 {
                self.0.remove(one);
            }
        }
    }

    fn len(&self) -> usize {
        self.0.len()
    }
}

/// Counts around each witness's time, in order of time.
fn counted(witnesses: &[Witness]) -> Vec<(Nanos, FaultCount)> {
    let (mut pods, mut runs) = (Multiset::new(), Multiset::new());
    let (mut hosts, mut nodes) = (Multiset::<&str>::new(), Multiset::<&str>::new());
    let (mut from, mut to) = (0, 0);
    let mut counts: Vec<(Nanos, FaultCount)> = Vec::new();
    for Witness { at, .. } in witnesses {
        if counts.last().is_some_and(|(last, _)| last == at) {
            continue;
        }
        while let Some(one) = witnesses
            .get(to)
            .filter(|one| one.at <= at.saturating_add(AT_ONE_TIME))
        {
            let node = one.node.as_deref();
            match one.who {
                Some((pod, run)) => {
                    pods.add(pod);
                    run.into_iter().for_each(|run| runs.add(run));
                }
                None => node.into_iter().for_each(|node| hosts.add(node)),
            }
            node.into_iter().for_each(|node| nodes.add(node));
            to += 1;
        }
        while let Some(one) = witnesses
            .get(from)
            .filter(|one| one.at < at.saturating_sub(AT_ONE_TIME))
        {
            let node = one.node.as_deref();
            match one.who {
                Some((pod, run)) => {
                    pods.remove(&pod);
                    run.iter().for_each(|run| runs.remove(run));
                }
                None => node.iter().for_each(|node| hosts.remove(node)),
            }
            node.iter().for_each(|node| nodes.remove(node));
            from += 1;
        }
        let count = FaultCount {
            witnesses: pods.len() + hosts.len(),
            is_shared: are_several(runs.len(), nodes.len(), pods.len(), hosts.len()),
        };
        counts.push((*at, count));
    }
    counts
}

/// Whether these have nothing in common but what failed. The pods of one run may all have made the
/// same mistake, and those of one node may all suffer from that node.
fn are_several(runs: usize, nodes: usize, pods: usize, hosts: usize) -> bool {
    runs >= 2 && nodes >= 2 && pods >= 3 || hosts >= 3
}

impl SharedFaults {
    /// Looks through all facts once.
    #[must_use]
    pub fn of(graph: &EntityGraph, runs: &[Run]) -> Self {
        let numbered = runs.iter().enumerate();
        let run_of_pod: HashMap<TaskRow, usize> = numbered
            .flat_map(|(number, run)| run.pods.iter().map(move |pod| (*pod, number)))
            .collect();
        let mut by_kind: HashMap<_, Vec<Witness>> = HashMap::new();
        let some = |sym: Symbol| graph.evidence.symbols.some(sym).map(str::to_owned);
        for fact in &graph.facts {
            let Some(key) = key(graph, fact) else {
                continue;
            };
            let pod = graph.pods.get(fact.pod);
            let run = run_of_pod.at(fact.pod);
            let run = run.map(|run| WitnessRun::Run(*run));
            by_kind.entry(key).or_default().push(Witness {
                at: fact.time.lo,
                who: fact.pod.map(|pod| (WitnessPod::Pod(pod), run)),
                node: some(pod.map_or(fact.node, |pod| pod.node)),
            });
        }
        for other in &graph.elsewhere {
            let Some(key) = kind_of(graph, &other.signal, other.target.as_deref()) else {
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
        let faults = graph.facts.iter().filter(|fact| Self::is_one(graph, fact));
        let mut times: Vec<(Nanos, Nanos)> = Vec::new();
        // Facts are in order of time.
        for at in faults.map(|fact| fact.time.lo) {
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

    /// How many saw each trouble: for who asks about all of them.
    #[must_use]
    pub fn counts(&self) -> FaultCounts {
        let kinds = self.by_kind.iter();
        FaultCounts {
            by_kind: kinds
                .map(|(kind, witnesses)| (kind.clone(), counted(witnesses)))
                .collect(),
        }
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
fn key(graph: &EntityGraph, fact: &Fact) -> Option<Kind> {
    if fact.time.lo == Nanos::MIN || fact.time.hi == Nanos::MAX {
        return None;
    }
    let signal = graph.name(fact.signal);
    // Of a pod it says that its resolver's settings were cut, which is common.
    if signal == named::K8S_NODE_DNS_PROBLEM && fact.pod.is_some() {
        return None;
    }
    kind_of(graph, signal, graph.evidence.symbols.some(fact.target))
}

fn kind_of(graph: &EntityGraph, signal: &str, target: Option<&str>) -> Option<Kind> {
    let shared = graph.traits.shared(signal)?;
    if shared.by_target && target.is_none() {
        return None;
    }
    // Two that name different things saw two troubles, however alike.
    Some((
        Arc::clone(&shared.what),
        target.unwrap_or_default().to_owned(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn witness(second: i64, pod: Option<usize>, run: usize, node: &str) -> Witness {
        Witness {
            at: second * SECOND,
            who: pod
                .and_then(TaskRow::at)
                .map(|pod| (WitnessPod::Pod(pod), Some(WitnessRun::Run(run)))),
            node: Some(node.to_owned()),
        }
    }

    #[test]
    fn a_moving_window_counts_what_stands_in_it() {
        let mut witnesses = vec![
            witness(0, Some(1), 1, "a"),
            witness(10, Some(1), 1, "a"),
            witness(10, Some(2), 1, "b"),
            witness(200, Some(3), 2, "b"),
            witness(301, None, 0, "c"),
            witness(900, Some(1), 1, "a"),
        ];
        witnesses.sort_unstable();
        let counts: Vec<(i64, usize, bool)> = counted(&witnesses)
            .into_iter()
            .map(|(at, count)| (at / SECOND, count.witnesses, count.is_shared))
            .collect();
        // Pods 1 to 3 of two runs on two nodes; then the machine c as well, then pod 1 alone.
        let expected = [
            (0, 3, true),
            (10, 4, true),
            (200, 4, true),
            (301, 4, true),
            (900, 1, false),
        ];
        assert_eq!(counts, expected);
    }

    #[test]
    fn a_hundred_thousand_records_of_one_trouble_are_counted() {
        let all: Vec<Witness> = (0..120_000_usize)
            .map(|n| witness(i64::try_from(n / 40).unwrap(), Some(n % 10_000), 1, "a"))
            .collect();
        let counts = counted(&all);
        assert_eq!(counts.len(), 3_000);
        assert!(counts.iter().all(|(_, count)| count.witnesses == 10_000));
    }
}
