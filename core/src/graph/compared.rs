//! What one rank writes of the own times of all of them: Megatron's `--log-straggler` names the fastest and the slowest, NVIDIA's
//! resiliency extension scores each and warns of those that are slow. No other rank's log is needed then.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;
use whathappened_model::time::{Nanos, SECOND, Stamp};

use super::pace::{quantile, seconds};
use super::{EntityGraph, Fact, Task, TaskRow};
use crate::evidence::{EvidenceRow, SpillError};
use crate::signals::{SignalClass, named};
use crate::symbols::Symbol;

/// Reports in a row that name the same rank.
const ENOUGH: usize = 5;

/// The least time for which they do.
const LASTS: Nanos = 300 * SECOND;

/// A rank takes so many times as long as the fastest in each report, and as the median goes.
const MOST: f64 = 1.3;
const MEDIAN: f64 = 1.5;

/// Waiting for its data slows a rank down where that is so large a part of what it computes.
const PART: f64 = 0.2;

/// `MxRtt/Rnk: 4975.20ms/1`: which measure, its value, and of which rank it is.
static MEASURES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"\b(?<what>M[nx][A-Za-z]+)/Rnk: (?<value>[0-9.]+)[A-Za-z%]+/(?<rank>[0-9]+)").ok()
});

/// What is slow about a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Work {
    Computes,
    Reads,
}

/// The slowest rank of one report.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Slowest {
    rank: i32,
    work: Work,
    /// Seconds: its own, and those of the fastest.
    own: f64,
    fastest: f64,
}

/// One report of Megatron's.
#[derive(Clone, Debug, PartialEq)]
struct Report {
    /// The highest rank that it names.
    highest: i32,
    slowest: Option<Slowest>,
}

impl Report {
    fn of(line: &str) -> Option<Self> {
        let mut found: BTreeMap<&str, (f64, i32)> = BTreeMap::new();
        let mut highest = 0;
        for words in MEASURES.as_ref()?.captures_iter(line) {
            let (_, [what, value, rank]) = words.extract();
            let rank: i32 = rank.parse().ok()?;
            highest = rank.max(highest);
            found.insert(what, (value.parse().ok()?, rank));
        }
        let times = |least: &str, most: &str| {
            let (fastest, _) = *found.get(least)?;
            let (own, rank) = *found.get(most)?;
            Some((own / 1_000.0, fastest / 1_000.0, rank))
        };
        let (own, fastest, rank) = times("MnRtt", "MxRtt")?;
        let computes = (own >= MOST * fastest).then_some(Slowest {
            rank,
            work: Work::Computes,
            own,
            fastest,
        });
        let reads = || {
            let (waited, least, rank) = times("MnDRtt", "MxDRtt")?;
            let is_slow = waited - least >= PART * fastest && waited >= MOST * least;
            is_slow.then_some(Slowest {
                rank,
                work: Work::Reads,
                own: waited,
                fastest: least,
            })
        };
        Some(Self {
            highest,
            slowest: computes.or_else(reads),
        })
    }
}

/// The rank that the latest reports all name, and since which of them.
fn slow_to_the_end(reports: &[(Nanos, EvidenceRow, Report)]) -> Option<(usize, Slowest)> {
    let last = reports.last()?.2.slowest?;
    let same = |report: &&(Nanos, EvidenceRow, Report)| {
        report
            .2
            .slowest
            .is_some_and(|one| (one.rank, one.work) == (last.rank, last.work))
    };
    let streak = reports.iter().rev().take_while(same).count();
    let from = reports.len() - streak;
    let own: Vec<Slowest> = reports
        .get(from..)?
        .iter()
        .filter_map(|report| report.2.slowest)
        .collect();
    let lasted = reports.last()?.0.saturating_sub(reports.get(from)?.0);
    let of = |value: fn(&Slowest) -> f64| quantile(&own.iter().map(value).collect::<Vec<_>>(), 0.5);
    let usual = Slowest {
        own: of(|one| one.own),
        fastest: of(|one| one.fastest),
        ..last
    };
    (streak >= ENOUGH && lasted >= LASTS && usual.own >= MEDIAN * usual.fastest)
        .then_some((from, usual))
}

/// Adds facts of ranks that are the slowest by far in what one of them writes of all.
pub(super) fn note(graph: &mut EntityGraph) -> Result<(), SpillError> {
    let mut by_writer: BTreeMap<TaskRow, Vec<(Nanos, EvidenceRow, Report)>> = BTreeMap::new();
    for fact in &graph.facts {
        let compares = graph
            .traits
            .is(graph.name(fact.signal), SignalClass::ComparesRanks);
        let Some(pod) = fact.pod.filter(|_| compares && fact.time != Stamp::OPEN) else {
            continue;
        };
        let event = graph.evidence.event(fact.row)?;
        let report = Report::of(event.message.as_deref().unwrap_or_default());
        if let Some(report) = report {
            let own = by_writer.entry(pod).or_default();
            own.push((fact.time.lo, fact.row, report));
        }
    }
    let mut found = Vec::new();
    for (by, mut reports) in by_writer {
        reports.sort_by_key(|(time, row, _)| (*time, *row));
        let Some((from, slow)) = slow_to_the_end(&reports) else {
            continue;
        };
        let highest = reports.iter().map(|report| report.2.highest).max();
        let Some(pod) = pod_of(graph, by, slow.rank, highest.unwrap_or(slow.rank)) else {
            continue;
        };
        let (Some((begin, line, _)), Some((end, ..))) = (reports.get(from), reports.last()) else {
            continue;
        };
        found.push((pod, slow, *begin, *line, *end));
    }
    for (pod, slow, begin, line, end) in found {
        let Some(row) = graph.evidence.rows().get(line) else {
            continue;
        };
        let at = |time| Stamp { lo: time, hi: time };
        let of_row = Fact::of_row(line, row, Symbol::NONE);
        let node = graph.pods.get(pod).map(|pod| pod.node);
        let symbols = &mut graph.evidence.symbols;
        graph.facts.push(Fact {
            signal: symbols.number(named::LOG_RANK_SLOW),
            pod: Some(pod),
            node: node.unwrap_or(of_row.node),
            rank: Some(slow.rank),
            time: at(begin),
            onset: begin,
            end: Some(at(end)),
            detail: symbols.number(&words(slow)),
            ..of_row
        });
    }
    Ok(())
}

/// The pod of a rank, where each pod of the run is one rank: a rank beyond their number says that each has several.
fn pod_of(graph: &EntityGraph, by: TaskRow, rank: i32, highest: i32) -> Option<TaskRow> {
    let root = graph.pods.get(by)?.root?;
    let is_own = |pod: &Task| pod.root == Some(root);
    let own = || graph.pods.numbered().filter(|(_, pod)| is_own(pod));
    let ranks = own().filter_map(|(_, pod)| pod.rank).max()?;
    let of_rank = own().filter(|(_, pod)| pod.rank == Some(rank));
    let last = of_rank.max_by_key(|(number, pod)| (pod.begin(), *number));
    last.filter(|_| highest <= ranks).map(|(number, _)| number)
}

fn words(slow: Slowest) -> String {
    let Slowest {
        rank, own, fastest, ..
    } = slow;
    let (own, fastest) = (seconds(own), seconds(fastest));
    match slow.work {
        Work::Computes => {
            format!("rank {rank} computes for {own} where the fastest needs {fastest}")
        }
        Work::Reads => {
            format!("rank {rank} waits {own} for its data where the fastest waits {fastest}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(most: f64, data: f64, highest: i32) -> String {
        format!(
            "INFO:megatron.core.utils:[2026-03-01 10:00:00] | MnRtt/Rnk: 1702.08ms/0 | MxRtt/Rnk: {most:.2}ms/1 | MnPwr/Rnk: \
             601796.00W/{highest} | MnUtl/Rnk: 97.00%/1 | MnDRtt/Rnk: 14.27ms/0 | MxDRtt/Rnk: {data:.2}ms/1 | MnEtpt/Rnk: 296.02TF/1"
        )
    }

    fn reports(of: impl Fn(usize) -> String) -> Vec<(Nanos, EvidenceRow, Report)> {
        let one = |number: usize| {
            let report = Report::of(&of(number)).unwrap();
            (
                number as Nanos * 100 * SECOND,
                EvidenceRow::at(0).unwrap(),
                report,
            )
        };
        (0..12).map(one).collect()
    }

    #[test]
    fn the_rank_that_all_late_reports_name_is_the_slow_one() {
        let slow = |from: usize| {
            move |number: usize| line(if number < from { 1716.0 } else { 4975.2 }, 34.0, 1)
        };
        let (from, slowest) = slow_to_the_end(&reports(slow(4))).unwrap();
        assert_eq!((from, slowest.rank, slowest.work), (4, 1, Work::Computes));
        assert_eq!(
            words(slowest),
            "rank 1 computes for 4.98 s where the fastest needs 1.70 s"
        );
        assert_eq!(slow_to_the_end(&reports(slow(9))), None);
    }

    #[test]
    fn a_rank_that_waits_for_its_data_is_told() {
        let (_, slowest) = slow_to_the_end(&reports(|_| line(1716.0, 900.0, 1))).unwrap();
        assert_eq!((slowest.rank, slowest.work), (1, Work::Reads));
    }

    #[test]
    fn some_rank_is_always_the_slowest() {
        assert_eq!(slow_to_the_end(&reports(|_| line(1716.0, 34.0, 1))), None);
    }

    #[test]
    fn each_rank_that_is_named_counts() {
        assert_eq!(Report::of(&line(1716.0, 34.0, 15)).unwrap().highest, 15);
        assert_eq!(Report::of("MnRtt/Rnk: of nothing"), None);
    }
}
