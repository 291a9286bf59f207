//! A rank that is slower than the others of its run, as their logs tell.
//!
//! Ranks that train together end each step together, so what a step takes tells nothing of who is slow. Two things do: what
//! each rank says of its own work in a step, and steps that are made without waiting for others. Where no record tells either,
//! nothing is said.

use std::collections::BTreeMap;

use whathappened_model::time::{Nanos, SECOND, Stamp};

use super::own_time::Own;
use super::pace::{Sample, quantile, seconds};
use super::{EntityGraph, Fact, Task};
use crate::evidence::Evidence;
use crate::graph::{Root, TaskRow};
use crate::signals::named;
use crate::symbols::Symbol;

/// Measurements of a rank that must be known.
const ENOUGH: usize = 10;

/// Others that must be alike: of two ranks that differ nobody knows which one is as it should be.
const PEERS: usize = 2;

/// A rank takes so many times as long as the others, as the median goes.
const MEDIAN: f64 = 1.5;

/// And so many times as long in nine of ten measurements.
const MOST: f64 = 1.3;

/// How far the others may be from each other.
const ALIKE: f64 = 1.2;

/// The least time for which it does.
const LASTS: Nanos = 300 * SECOND;

/// The least part of a step by which it is longer: what is small slows nothing down.
const PART: f64 = 0.2;

/// What one rank says of its steps.
struct Stream {
    pod: TaskRow,
    rank: Option<i32>,
    node: Symbol,
    samples: Vec<Sample>,
}

/// What ranks are compared by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    Own(Own),
    Pace,
}

/// A rank that takes longer than its peers, to the end of what is known.
#[derive(Debug, PartialEq)]
struct Apart {
    stream: usize,
    by: By,
    /// Its first such measurement.
    begin: Sample,
    end: Nanos,
    /// Seconds a step: its own, and those of its peers.
    paces: (f64, f64),
    peers: usize,
}

/// Adds facts of ranks that are slower than their peers.
pub(super) fn note(graph: &mut EntityGraph) {
    // A pod without a workload above it is a run of its own, whose log may name several ranks.
    let mut runs: BTreeMap<Root, Vec<Stream>> = BTreeMap::new();
    for (number, pod) in graph.pods.numbered() {
        let streams = streams(number, pod);
        if !streams.is_empty() {
            runs.entry(Root::of(number, pod))
                .or_default()
                .extend(streams);
        }
    }
    for streams in runs.into_values() {
        let streams = of_one_generation(streams);
        for apart in apart(&streams) {
            let found = streams.get(apart.stream);
            let fact = found.and_then(|stream| fact(&apart, stream, &mut graph.evidence));
            graph.facts.extend(fact);
        }
    }
}

fn streams(number: TaskRow, pod: &Task) -> Vec<Stream> {
    let ranks = pod.pace.by_rank().into_iter();
    ranks
        .map(|(rank, samples)| Stream {
            pod: number,
            rank: rank.or(pod.rank),
            node: pod.node,
            samples,
        })
        // Whose rank nobody knows may be no rank at all.
        .filter(|stream| stream.rank.is_some() && !stream.samples.is_empty())
        .collect()
}

/// The streams of the latest generation, one a rank: those that go on to the end of what is known of them.
fn of_one_generation(streams: Vec<Stream>) -> Vec<Stream> {
    let end = |stream: &Stream| stream.samples.last().map_or(Nanos::MIN, |one| one.to);
    let last = streams.iter().map(end).max().unwrap_or(Nanos::MIN);
    let mut of_rank: BTreeMap<Option<i32>, Stream> = BTreeMap::new();
    for stream in streams {
        if last.saturating_sub(end(&stream)) > LASTS {
            continue;
        }
        let later = |known: &Stream| (end(known), known.pod) < (end(&stream), stream.pod);
        if of_rank.get(&stream.rank).is_none_or(later) {
            of_rank.insert(stream.rank, stream);
        }
    }
    of_rank.into_values().collect()
}

/// The ranks that are apart. What a rank says of its own work goes before how fast it makes steps.
fn apart(streams: &[Stream]) -> Vec<Apart> {
    if streams.len() <= PEERS {
        return Vec::new();
    }
    let ways = [By::Own(Own::Compute), By::Own(Own::Data), By::Pace];
    let mut by = ways.into_iter().map(|by| apart_by(streams, by));
    by.find(|found| !found.is_empty()).unwrap_or_default()
}

fn apart_by(streams: &[Stream], by: By) -> Vec<Apart> {
    // Only what was measured while all of them worked can be compared.
    let begin = |stream: &Stream| stream.samples.first().map_or(Nanos::MAX, |one| one.from);
    let from = streams.iter().map(begin).max().unwrap_or(Nanos::MAX);
    let measured: Vec<Vec<(Sample, f64)>> = streams
        .iter()
        .map(|stream| {
            let within = stream.samples.iter().filter(|one| one.from >= from);
            within
                .filter_map(|one| Some((*one, value(one, by)?)))
                .collect()
        })
        .collect();
    // A rank that says nothing may be who the others wait for.
    if measured.iter().any(|one| one.len() < ENOUGH) {
        return Vec::new();
    }
    let late: Vec<f64> = measured.iter().map(|one| median(latest(one))).collect();
    let usual = quantile(&late, 0.5);
    let slow = |number: usize| late.get(number).is_some_and(|one| *one >= MOST * usual);
    let (slow, peers): (Vec<usize>, Vec<usize>) = (0..streams.len()).partition(|one| slow(*one));
    let enough = match slow.len() {
        0 | 1 => PEERS,
        many => 3 * many,
    };
    if slow.is_empty() || peers.len() < enough {
        return Vec::new();
    }
    // A job whose parts do different work has no ranks that are alike.
    let is_alike = |one: &&usize| {
        let one = late.get(**one).copied().unwrap_or_default();
        one <= ALIKE * usual && one * ALIKE >= usual
    };
    let alike: Vec<&usize> = peers.iter().filter(is_alike).collect();
    if alike.len() * 4 < peers.len() * 3 || alike.len() < PEERS {
        return Vec::new();
    }
    let found = slow.into_iter().filter_map(|number| {
        let own = measured.get(number)?;
        since(own, &measured, &peers).and_then(|(first, ours, theirs)| {
            let (begin, _) = own.get(first)?;
            let (end, _) = own.last()?;
            let one = Apart {
                stream: number,
                by,
                begin: *begin,
                end: end.to,
                paces: (ours, theirs),
                peers: peers.len(),
            };
            (counts(&one, own) && waits_least(number, &peers, streams, by)).then_some(one)
        })
    });
    found.collect()
}

/// From which of its measurements on a rank takes longer than its peers, and how long both take since.
fn since(
    own: &[(Sample, f64)],
    measured: &[Vec<(Sample, f64)>],
    peers: &[usize],
) -> Option<(usize, f64, f64)> {
    let last = own.len().checked_sub(ENOUGH)?;
    (0..=last).find_map(|first| {
        let late = own.get(first..)?;
        let (begin, end) = (late.first()?.0.from, late.last()?.0.to);
        if end.saturating_sub(begin) < LASTS {
            return None;
        }
        let then = peers.iter().filter_map(|peer| {
            let since = measured.get(*peer)?.iter();
            let since: Vec<f64> = since
                .filter(|(one, _)| one.from >= begin)
                .map(|one| one.1)
                .collect();
            (since.len() * 2 >= ENOUGH).then(|| quantile(&since, 0.5))
        });
        let then: Vec<f64> = then.collect();
        if then.len() < PEERS {
            return None;
        }
        let usual = quantile(&then, 0.5);
        let values: Vec<f64> = late.iter().map(|one| one.1).collect();
        let begins = values.first().is_some_and(|one| *one >= MOST * usual);
        let slow = begins
            && quantile(&values, 0.5) >= MEDIAN * usual
            && quantile(&values, 0.1) >= MOST * usual;
        slow.then(|| (first, quantile(&values, 0.5), usual))
    })
}

/// Whether what it takes longer is a part of a step that counts.
fn counts(one: &Apart, own: &[(Sample, f64)]) -> bool {
    let (ours, theirs) = one.paces;
    let paces: Vec<f64> = own.iter().map(|one| one.0.pace).collect();
    let step = quantile(&paces, 0.5);
    // What takes longer than the steps that it is a part of is in another unit.
    let ours_fit = one.by == By::Pace || ours <= ALIKE * step;
    ours_fit && ours - theirs >= PART * step
}

/// Whether the rank waits for the others less than they do for it, as far as they tell.
fn waits_least(number: usize, peers: &[usize], streams: &[Stream], by: By) -> bool {
    if by == By::Pace {
        return true;
    }
    let waited = |number: &usize| {
        let samples = streams.get(*number)?.samples.iter();
        let waits: Vec<f64> = samples
            .filter_map(|one| one.own.seconds(Own::Wait))
            .collect();
        (waits.len() >= ENOUGH).then(|| quantile(&waits, 0.5))
    };
    let others: Vec<f64> = peers.iter().filter_map(waited).collect();
    match waited(&number) {
        Some(own) if others.len() >= PEERS => own < quantile(&others, 0.5),
        _ => true,
    }
}

fn value(sample: &Sample, by: By) -> Option<f64> {
    match by {
        By::Own(own) => sample.own.seconds(own),
        By::Pace => Some(sample.pace),
    }
}

fn latest(measured: &[(Sample, f64)]) -> &[(Sample, f64)] {
    let from = measured.len().saturating_sub(ENOUGH);
    measured.get(from..).unwrap_or_default()
}

fn median(measured: &[(Sample, f64)]) -> f64 {
    let values: Vec<f64> = measured.iter().map(|one| one.1).collect();
    quantile(&values, 0.5)
}

fn fact(apart: &Apart, stream: &Stream, evidence: &mut Evidence) -> Option<Fact> {
    let row = evidence.rows().get(apart.begin.row)?;
    let signal = match apart.by {
        By::Own(_) => named::LOG_RANK_SLOW,
        By::Pace => named::LOG_RANK_BEHIND,
    };
    let at = |time| Stamp { lo: time, hi: time };
    let of_row = Fact::of_row(apart.begin.row, row, Symbol::NONE);
    let words = apart.words(stream.rank);
    let symbols = &mut evidence.symbols;
    Some(Fact {
        signal: symbols.number(signal),
        pod: Some(stream.pod),
        node: stream.node,
        rank: stream.rank,
        time: at(apart.begin.from),
        onset: apart.begin.from,
        end: Some(at(apart.end)),
        detail: symbols.number(&words),
        ..of_row
    })
}

impl Apart {
    fn words(&self, rank: Option<i32>) -> String {
        let (own, others) = (seconds(self.paces.0), seconds(self.paces.1));
        let rank = rank.map_or_else(|| "one rank".to_owned(), |rank| format!("rank {rank}"));
        let peers = match self.peers {
            0..=99 => format!("the other {} need", self.peers),
            _ => "most others need".to_owned(),
        };
        match self.by {
            By::Own(Own::Data) => {
                format!("{rank} waits {own} a step for its data where {peers} {others}")
            }
            By::Own(_) => {
                format!("{rank} computes for {own} a step where {peers} {others}")
            }
            By::Pace => format!("{rank} needs {own} a step where {peers} {others}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::own_time::OwnTimes;
    use super::*;

    /// The measurements of a rank: a step every so many seconds, and what its lines say of it.
    fn stream(rank: i32, steps: usize, every: f64, line: impl Fn(usize) -> String) -> Stream {
        let at = |step: usize| (step as f64 * every * 1e9) as Nanos;
        let samples = (0..steps).map(|step| Sample {
            from: at(step),
            to: at(step + 1),
            step: i64::try_from(step).unwrap(),
            row: crate::evidence::EvidenceRow::at(0).unwrap(),
            pace: every,
            own: OwnTimes::of(&line(step)),
        });
        Stream {
            pod: TaskRow::at(usize::try_from(rank).unwrap()).unwrap(),
            rank: Some(rank),
            node: Symbol::NONE,
            samples: samples.collect(),
        }
    }

    fn plain(_: usize) -> String {
        String::new()
    }

    fn said(streams: &[Stream]) -> Vec<String> {
        let found = apart(streams).into_iter();
        found
            .map(|one| one.words(streams[one.stream].rank))
            .collect()
    }

    #[test]
    fn a_rank_that_computes_longer_than_the_others_is_told() {
        let line = |ms: u32| move |_: usize| format!("forward_time_ms={ms}");
        let streams = [
            stream(0, 100, 6.0, line(900)),
            stream(1, 100, 6.0, line(950)),
            stream(2, 100, 6.0, line(5_600)),
        ];
        assert_eq!(
            said(&streams),
            ["rank 2 computes for 5.60 s a step where the other 2 need 0.950 s"]
        );
    }

    #[test]
    fn it_began_when_it_became_slow() {
        let line = |from: usize| {
            move |step: usize| format!("compute_time={}", if step < from { 0.9 } else { 5.0 })
        };
        let streams = [
            stream(0, 200, 6.0, line(999)),
            stream(1, 200, 6.0, line(999)),
            stream(2, 200, 6.0, line(999)),
            stream(3, 200, 6.0, line(120)),
        ];
        let found = apart(&streams);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].begin.from, 720 * SECOND);
    }

    #[test]
    fn a_rank_that_makes_steps_by_itself_and_fewer_is_told() {
        let streams = [
            stream(0, 300, 2.0, plain),
            stream(1, 300, 2.0, plain),
            stream(2, 100, 6.0, plain),
        ];
        assert_eq!(
            said(&streams),
            ["rank 2 needs 6.00 s a step where the other 2 need 2.00 s"]
        );
    }

    #[test]
    fn what_does_not_tell_who_is_slow_is_none() {
        let line = |words: &str| {
            let words = words.to_owned();
            move |_: usize| words.clone()
        };
        let all = |lines: [&str; 4]| -> Vec<Stream> {
            let numbered = (0..).zip(lines);
            numbered
                .map(|(rank, words)| stream(rank, 100, 6.0, line(words)))
                .collect()
        };
        // Whole steps, and passes that wait for others, are as long for who waits.
        assert_eq!(said(&all(["step_time=6"; 4])), [""; 0]);
        // Half of them: nobody knows which half is as it should be.
        let halves = [
            "compute_time=5",
            "compute_time=5",
            "compute_time=1",
            "compute_time=1",
        ];
        assert_eq!(said(&all(halves)), [""; 0]);
        // Three wait in their forward pass for one that does not.
        let waiting = [
            "forward_time=5",
            "forward_time=5",
            "forward_time=5",
            "forward_time=1",
        ];
        assert_eq!(said(&all(waiting)), [""; 0]);
        // The one that is apart waits longest.
        let waits = [
            "forward_time=1 wait_time=1",
            "forward_time=1 wait_time=1",
            "forward_time=1 wait_time=1",
            "forward_time=4 wait_time=3",
        ];
        assert_eq!(said(&all(waits)), [""; 0]);
        // It takes three times as long, and yet hardly any time.
        let little = [
            "data_time=0.01",
            "data_time=0.01",
            "data_time=0.01",
            "data_time=0.03",
        ];
        assert_eq!(said(&all(little)), [""; 0]);
        // One rank says nothing of its own: it may be the slow one.
        let silent = ["compute_time=1", "compute_time=1", "compute_time=4", ""];
        assert_eq!(said(&all(silent)), [""; 0]);
        // Parts of different work.
        let parts = [
            "compute_time=0.5",
            "compute_time=1",
            "compute_time=2",
            "compute_time=5",
        ];
        assert_eq!(said(&all(parts)), [""; 0]);
        // Of two, nobody knows.
        let two = [stream(0, 300, 2.0, plain), stream(1, 100, 6.0, plain)];
        assert_eq!(said(&two), [""; 0]);
    }
}
