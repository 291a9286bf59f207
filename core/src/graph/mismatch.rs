//! Ranks that waited in different collectives at one place of one process group, from what the watchdogs
//! of each wrote: the program does not do the same on all of them.

use crate::graph::WorkloadRow;
use crate::signals::named;
use std::collections::BTreeMap;

use whathappened_model::time::{Nanos, SECOND};

use super::{EntityGraph, Fact};
use crate::evidence::SpillError;

/// Watchdogs of one hang speak within this long of each other.
const ONE_HANG: Nanos = 900 * SECOND;

/// One rank's report: its group and place there, what it waited in, the fact.
struct Report {
    rank: i32,
    time: Nanos,
    op: String,
    fact: Fact,
}

/// A collective by one name: PyTorch calls variants of one by names of their own. What two ranks send each other
/// has two names, and is none.
fn collective(op: &str) -> Option<String> {
    const PAIRWISE: [&str; 5] = ["COALESCED", "RECV", "RECVANYSOURCE", "SEND", "UNKNOWN"];
    let name = op.trim_start_matches('_').to_uppercase();
    let name = name
        .trim_end_matches("_BASE")
        .trim_end_matches("_COALESCED");
    (!PAIRWISE.contains(&name)).then(|| name.to_owned())
}

/// Adds `nccl.mismatch` for the ranks of one group that waited in different collectives at one place.
pub(super) fn note(graph: &mut EntityGraph) -> Result<(), SpillError> {
    let Some(timeout) = graph.evidence.symbols.find(named::NCCL_TIMEOUT) else {
        return Ok(());
    };
    let Some(state) = graph.evidence.symbols.find(named::NCCL_STATE_AT_TIMEOUT) else {
        return Ok(());
    };
    // The group stands in a line of its own: by run, rank and place.
    let mut groups: BTreeMap<(WorkloadRow, i32, String), String> = BTreeMap::new();
    let mut reports: BTreeMap<(WorkloadRow, String), Vec<Report>> = BTreeMap::new();
    for fact in &graph.facts {
        if fact.signal != timeout && fact.signal != state {
            continue;
        }
        let pod = graph.pods.get(fact.pod);
        let Some((pod, root)) = pod.and_then(|pod| Some((pod, pod.root?))) else {
            continue;
        };
        let event = graph.evidence.event(fact.row)?;
        let rank = event.attribute("rank").and_then(|rank| rank.parse().ok());
        let (Some(rank), Some(seq)) = (event.rank.or(rank).or(pod.rank), event.attribute("seq"))
        else {
            continue;
        };
        if fact.signal == state {
            let group = event.attribute("pg").map(str::to_owned);
            groups.extend(group.map(|group| ((root, rank, seq.to_owned()), group)));
        } else if let Some(op) = event.attribute("op").and_then(collective) {
            let place = (root, seq.to_owned());
            reports.entry(place).or_default().push(Report {
                rank,
                time: fact.time.lo,
                op,
                fact: *fact,
            });
        }
    }
    let mut found = Vec::new();
    for ((root, seq), reports) in reports {
        let group = |report: &Report| groups.get(&(root, report.rank, seq.clone()));
        let Some(first) = reports.iter().find(|report| group(report).is_some()) else {
            continue;
        };
        let together = |report: &&Report| {
            group(report) == group(first)
                && report.time.saturating_sub(first.time).abs() <= ONE_HANG
        };
        let together: Vec<&Report> = reports.iter().filter(together).collect();
        if together.iter().any(|report| report.op != first.op) {
            found.extend(together.iter().map(|report| report.fact));
        }
    }
    if found.is_empty() {
        return Ok(());
    }
    let signal = graph.evidence.symbols.number(named::NCCL_MISMATCH);
    graph
        .facts
        .extend(found.into_iter().map(|fact| Fact { signal, ..fact }));
    Ok(())
}
