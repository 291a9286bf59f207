//! Logs that name no zone, of programs that write in one of their own.
//!
//! Their lines are read as UTC. Where they do not fit the life of their pod that way, and do so a whole number of hours
//! (or half or quarter hours) beside it, that is their zone: a program begins to write when its container starts, and
//! stops when that ends.

use crate::signals::named;
use std::collections::{BTreeMap, HashMap};

use whathappened_model::event::SourceKind;
use whathappened_model::time::{Nanos, SECOND};

use super::identity::Pods;
use super::task::{Task, TaskKind};
use super::{machine_zones, mixed_zones, pod_log};
use crate::evidence::{Clock, Evidence, EvidenceRow, Row, SpillError};
use crate::symbols::{Symbol, SymbolTable};

/// Zones are so many seconds apart, or several times as many.
pub(super) const QUARTER: Nanos = 900 * SECOND;

/// Zones are this far from UTC at most, in quarters of an hour.
pub(super) const FARTHEST: Nanos = 14 * 4;

/// A program writes its first line this long after its container has started at most.
const BEGINS: Nanos = 600 * SECOND;

/// It writes its last one this long before its container ends, or is looked at, at most.
const ENDS: Nanos = 120 * SECOND;

/// Clocks of a node and of the API server are this far apart at most.
const CLOCKS: Nanos = 30 * SECOND;

/// What ends a container, or tells that it has ended.
const ENDINGS: [&str; 2] = [
    "k8s.container.terminated",
    named::K8S_POD_DELETION_REQUESTED,
];

/// When a pod was there, as Kubernetes tells it.
struct Life {
    namespace: Symbol,
    first: Nanos,
    last: Nanos,
    starts: Vec<Nanos>,
    ends: Vec<Nanos>,
    /// Pods of several namespaces bear the name.
    is_shared: bool,
}

impl Life {
    fn of(pod: &Task) -> Option<Self> {
        let begin = pod.created.or(pod.started)?.lo;
        let known = [pod.created, pod.started, pod.ended, pod.deletion_requested];
        let known = known.into_iter().flatten().map(|one| one.hi);
        let seen = pod.seen.map(|(_, last)| last);
        Some(Self {
            namespace: pod.namespace,
            first: begin,
            last: known.chain(seen).max().unwrap_or(begin),
            starts: pod
                .created
                .iter()
                .chain(&pod.started)
                .map(|one| one.lo)
                .collect(),
            ends: pod.ended.iter().map(|one| one.lo).collect(),
            is_shared: false,
        })
    }

    fn join(&mut self, other: Self) {
        self.is_shared |= self.namespace != other.namespace;
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
        self.starts.extend(other.starts);
        self.ends.extend(other.ends);
    }

    fn holds(&self, lines: Lines) -> bool {
        lines.first.saturating_add(CLOCKS) >= self.first
            && lines.last <= self.last.saturating_add(CLOCKS)
    }

    /// Whether lines begin as the program does, or end as it does.
    fn frames(&self, lines: Lines) -> (bool, bool) {
        let after = |start: &Nanos| (-CLOCKS..=BEGINS).contains(&(lines.first - start));
        let before = |end: &Nanos| (-CLOCKS..=ENDS).contains(&(end - lines.last));
        let begins = self.starts.iter().any(after);
        (begins, self.ends.iter().chain([&self.last]).any(before))
    }

    /// How far lines have to be moved to be of this life, where one zone alone explains them.
    fn zone_of(&self, lines: Lines) -> Option<Nanos> {
        let framed = |by: Nanos| match self.frames(lines.moved(by)) {
            _ if !self.holds(lines.moved(by)) => 0,
            (true, true) => 2,
            (false, false) => 0,
            _ => 1,
        };
        if framed(0) > 0 {
            return None;
        }
        let all = (-FARTHEST..=FARTHEST).filter(|by| *by != 0);
        let known: Vec<(i32, Nanos)> = all
            .map(|quarters| (framed(quarters * QUARTER), quarters))
            .filter(|(framed, _)| *framed > 0)
            .collect();
        let best = known.iter().map(|(framed, _)| *framed).max()?;
        // Most zones are whole hours from UTC, few of them halves.
        [4, 2, 1].into_iter().find_map(|unit| {
            let mut of_unit = known
                .iter()
                .filter(|(framed, quarters)| *framed == best && quarters % unit == 0);
            let (_, quarters) = of_unit.next()?;
            Some(of_unit.next().is_none().then_some(quarters * QUARTER))
        })?
    }
}

/// From when to when the lines of a log that name no zone are.
#[derive(Clone, Copy)]
struct Lines {
    first: Nanos,
    last: Nanos,
}

impl Lines {
    fn moved(self, by: Nanos) -> Self {
        Self {
            first: self.first.saturating_add(by),
            last: self.last.saturating_add(by),
        }
    }
}

/// Moves the lines of logs to where they fit, and what is `of_slurm` to the zone that it is in. Returns by how much, by file.
///
/// # Errors
/// When a record cannot be read again.
pub(super) fn settle(
    evidence: &mut Evidence,
    symbols: &SymbolTable,
    pods: &Pods,
    of_slurm: BTreeMap<Symbol, Nanos>,
) -> Result<BTreeMap<Symbol, Nanos>, SpillError> {
    let mut logs: HashMap<Symbol, (Symbol, Lines)> = HashMap::new();
    for row in evidence.rows() {
        let is_dated = row.time.lo != Nanos::MIN && row.time.hi != Nanos::MAX;
        let of_file = row.source_kind() == SourceKind::ContainerLog;
        let is_open = !of_slurm.contains_key(&row.file());
        if row.clock == Clock::Local && is_dated && of_file && is_open {
            let (_, lines) = logs.entry(row.file()).or_insert((
                row.pod,
                Lines {
                    first: row.time.lo,
                    last: row.time.lo,
                },
            ));
            lines.first = lines.first.min(row.time.lo);
            lines.last = lines.last.max(row.time.lo);
        }
    }
    let mut zones = of_slurm;
    if logs.is_empty() {
        shift(evidence, &zones);
        return Ok(zones);
    }
    let beside = mixed_zones::of_files(evidence.rows());
    let mut of_nobody = HashMap::new();
    let lives = lives(evidence, symbols, pods);
    let names = pod_log::Names::of(
        lives.iter().map(|(name, life)| (*name, life.namespace)),
        symbols,
    );
    for (file, (pod, lines)) in logs {
        if let Some(by) = beside.get(&file) {
            zones.insert(file, *by);
            continue;
        }
        let name = Some(pod).filter(|pod| pod.is_some());
        let name = name.or_else(|| names.of_file(symbols.name(file), symbols));
        let life = name.and_then(|name| lives.get(&name));
        if life.is_none() {
            of_nobody.insert(file, lines.last);
        }
        if let Some(by) = life
            .filter(|life| !life.is_shared)
            .and_then(|life| life.zone_of(lines))
        {
            zones.insert(file, by);
        }
    }
    zones.extend(machine_zones::of_folders(evidence, symbols, &of_nobody)?);
    shift(evidence, &zones);
    Ok(zones)
}

/// The lives of pods by their names.
fn lives(evidence: &Evidence, symbols: &SymbolTable, pods: &Pods) -> HashMap<Symbol, Life> {
    let mut lives: HashMap<Symbol, Life> = HashMap::new();
    for pod in pods.all.iter().filter(|pod| pod.kind == TaskKind::Pod) {
        if let Some(life) = Life::of(pod).filter(|_| pod.name.is_some()) {
            match lives.get_mut(&pod.name) {
                Some(known) => known.join(life),
                None => drop(lives.insert(pod.name, life)),
            }
        }
    }
    let of_kubernetes = |row: &&Row| {
        let kinds = [SourceKind::Kubernetes, SourceKind::KubernetesAudit];
        kinds.contains(&row.source_kind()) && row.time.hi != Nanos::MAX && row.time.lo != Nanos::MIN
    };
    let records = evidence.rows().iter().filter(of_kubernetes);
    for row in records.filter(|row| row.pod.is_some()) {
        // Of one that is gone Events may be all that is left.
        let life = lives.entry(row.pod).or_insert_with(|| Life {
            namespace: row.namespace,
            first: row.time.lo,
            last: row.last(),
            starts: Vec::new(),
            ends: Vec::new(),
            is_shared: false,
        });
        life.first = life.first.min(row.time.lo);
        life.last = life.last.max(row.last());
        if row.ends_pod || ENDINGS.contains(&symbols.name(row.fact)) {
            life.ends.push(row.time.lo);
        }
    }
    for life in lives.values_mut().filter(|life| life.starts.is_empty()) {
        life.starts.push(life.first);
    }
    lives
}

/// Moves the lines of some files, and those that have their time from them.
fn shift(evidence: &mut Evidence, zones: &BTreeMap<Symbol, Nanos>) {
    if zones.is_empty() {
        return;
    }
    let mut lines: Vec<(Symbol, u64, EvidenceRow)> = evidence
        .rows()
        .numbered()
        .filter(|(_, row)| zones.contains_key(&row.file()))
        .map(|(number, row)| (row.file(), row.line(), number))
        .collect();
    lines.sort_unstable();
    let mut before: Option<(Symbol, bool)> = None;
    for (file, _, number) in lines {
        let Some(row) = evidence.rows().get(number) else {
            continue;
        };
        let is_local = match row.clock {
            Clock::Local => true,
            Clock::Named => false,
            // The first lines have theirs from the one that follows.
            Clock::Neighbour => before.is_none_or(|(of, local)| of != file || local),
        };
        before = Some((file, is_local));
        if let Some(by) = zones.get(&file).filter(|_| is_local) {
            evidence.shift(number, *by);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Nanos = 3_600 * SECOND;

    /// A pod that ran from minute 0 to `minutes`.
    fn life(minutes: Nanos) -> Life {
        let end = 60 * minutes * SECOND;
        Life {
            namespace: Symbol::NONE,
            first: 0,
            last: end,
            starts: vec![0],
            ends: vec![end],
            is_shared: false,
        }
    }

    fn lines(first: Nanos, last: Nanos) -> Lines {
        Lines {
            first: 60 * first * SECOND,
            last: 60 * last * SECOND,
        }
    }

    #[test]
    fn the_zone_is_the_one_in_which_a_log_fits() {
        let zone = |minutes, first, last, hours: Nanos| {
            life(minutes).zone_of(lines(first, last).moved(hours * HOUR))
        };
        assert_eq!(zone(30, 1, 29, 0), None);
        assert_eq!(zone(30, 1, 29, 8), Some(-8 * HOUR));
        assert_eq!(zone(30, 1, 29, -5), Some(5 * HOUR));
        let half = lines(1, 29).moved(5 * HOUR + HOUR / 2);
        assert_eq!(life(30).zone_of(half), Some(-5 * HOUR - HOUR / 2));
        // The end of a log of three days, and one that hung for five hours from its 40th minute on.
        assert_eq!(zone(4_320, 4_200, 4_319, -5), Some(5 * HOUR));
        assert_eq!(zone(340, 1, 40, 0), None);
        // Neither its begin nor its end is there.
        assert_eq!(zone(4_320, 1_000, 2_000, 2), None);
    }
}
