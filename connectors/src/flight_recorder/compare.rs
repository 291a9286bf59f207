//! Which rank the others wait for, from the dumps of several ranks.

use std::collections::{BTreeMap, BTreeSet};

use super::dump::{CollectiveCall, Dump, Trace};
use crate::time::Nanos;

/// What several ranks' dumps say together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// A rank never entered a collective that others of its group wait in.
    Missing {
        /// The rank that the others wait for.
        rank: i32,
        /// What they wait in.
        at: PendingCollective,
        /// The group in which that rank itself waits for others, if it does:
        /// where all missing ranks do, they entered groups in different order.
        elsewhere: Option<String>,
    },
    /// A rank is in another collective, or with other sizes, than most.
    Mismatch {
        /// The rank that differs.
        rank: i32,
        /// What it is in itself.
        at: PendingCollective,
        /// What the others are in, `all_reduce [[1024]]`.
        others: String,
    },
    /// Ranks wait, and a rank of their group has left no dump.
    NoDump {
        /// The rank without a dump.
        rank: i32,
        /// What the others wait in.
        at: PendingCollective,
    },
}

/// A collective of a group, and who waits in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PendingCollective {
    /// The group's name.
    pub pg: String,
    /// What the program calls the group.
    pub desc: String,
    /// Which of the group's collectives.
    pub seq: i64,
    /// Its operation.
    pub op: String,
    /// Sizes of the inputs.
    pub sizes: String,
    /// The ranks that wait in it, sorted.
    pub waiting: Vec<i32>,
    /// When the first of them entered it.
    pub since: Option<Nanos>,
}

/// Compares the dumps of one run's ranks, taken at one hang.
#[must_use]
pub fn compare(dumps: &[Dump]) -> Vec<Finding> {
    let traces: Vec<Trace> = dumps.iter().flat_map(|dump| dump.traces.clone()).collect();
    compare_traces(&traces)
}

/// The same from what was kept of each dump. Findings come by group and rank.
#[must_use]
pub fn compare_traces(traces: &[Trace]) -> Vec<Finding> {
    let dumped: BTreeSet<i32> = traces.iter().map(|trace| trace.rank).collect();
    let mut groups = BTreeMap::<(&str, Vec<i32>), BTreeMap<i32, &Trace>>::new();
    for trace in traces {
        // Groups of one name with other members are other groups.
        let key = (trace.pg.as_str(), trace.members.clone());
        groups.entry(key).or_default().insert(trace.rank, trace);
    }
    let mut found = Vec::new();
    for ((_, members), ranks) in &groups {
        group(members, ranks, &dumped, &mut found);
    }
    set_elsewhere(traces, &mut found);
    // Whoever waits itself is held up, unless everyone who is missing does.
    let free = |finding: &Finding| {
        matches!(
            finding,
            Finding::Missing {
                elsewhere: None,
                ..
            }
        )
    };
    if found.iter().any(free) {
        found.retain(|finding| free(finding) || !matches!(finding, Finding::Missing { .. }));
    }
    found
}

fn group(
    members: &[i32],
    ranks: &BTreeMap<i32, &Trace>,
    dumped: &BTreeSet<i32>,
    found: &mut Vec<Finding>,
) {
    let calls: Vec<(i32, &CollectiveCall)> = ranks
        .iter()
        .filter_map(|(rank, trace)| Some((*rank, trace.waits_in.as_ref()?)))
        .collect();
    let Some(seq) = calls.iter().map(|(_, call)| call.seq).min() else {
        return;
    };
    let waiting: Vec<(i32, &CollectiveCall)> = calls
        .into_iter()
        .filter(|(_, call)| call.seq == seq)
        .collect();
    let most = most(&waiting);
    let place = |call: &CollectiveCall| {
        let (pg, desc) = ranks
            .values()
            .next()
            .map(|trace| (trace.pg.clone(), trace.desc.clone()))
            .unwrap_or_default();
        PendingCollective {
            pg,
            desc,
            seq,
            op: call.op.clone(),
            sizes: call.inputs.clone(),
            waiting: waiting.iter().map(|(rank, _)| *rank).collect(),
            since: waiting.iter().filter_map(|(_, call)| call.created).min(),
        }
    };
    let Some((_, shared)) = waiting.iter().find(|(_, call)| form(call) == most) else {
        return;
    };
    for (rank, call) in &waiting {
        if form(call) != most {
            found.push(Finding::Mismatch {
                rank: *rank,
                at: place(call),
                others: most.trim().to_owned(),
            });
        }
    }
    for (rank, trace) in ranks {
        if trace.waits_in.is_none() && trace.last_enqueued.is_some_and(|last| last < seq) {
            found.push(Finding::Missing {
                rank: *rank,
                at: place(shared),
                elsewhere: None,
            });
        }
    }
    // Of one dump alone all others are without; that says nothing.
    if dumped.len() > 1 {
        for rank in members.iter().filter(|rank| !dumped.contains(rank)) {
            found.push(Finding::NoDump {
                rank: *rank,
                at: place(shared),
            });
        }
    }
}

/// What must be the same on all ranks. Sizes differ by right where ranks send
/// or get different parts.
fn form(call: &CollectiveCall) -> String {
    let sized = matches!(
        call.op.as_str(),
        "all_reduce" | "broadcast" | "reduce" | "_all_gather_base" | "_reduce_scatter_base"
    );
    format!(
        "{} {}",
        call.op,
        if sized { call.inputs.as_str() } else { "" }
    )
}

/// What most are in; of equals that of the lowest rank.
fn most(waiting: &[(i32, &CollectiveCall)]) -> String {
    let mut counts: Vec<(String, usize)> = Vec::new();
    for (_, call) in waiting {
        let form = form(call);
        match counts.iter_mut().find(|(known, _)| *known == form) {
            Some((_, count)) => *count += 1,
            None => counts.push((form, 1)),
        }
    }
    let mut best: Option<(String, usize)> = None;
    for (form, count) in counts {
        if best.as_ref().is_none_or(|(_, most)| count > *most) {
            best = Some((form, count));
        }
    }
    best.map(|(form, _)| form).unwrap_or_default()
}

/// Notes which missing rank waits itself, in another group.
fn set_elsewhere(traces: &[Trace], found: &mut [Finding]) {
    for finding in found {
        if let Finding::Missing {
            rank,
            at,
            elsewhere,
        } = finding
        {
            *elsewhere = traces
                .iter()
                .find(|trace| trace.rank == *rank && trace.pg != at.pg && trace.waits_in.is_some())
                .map(|trace| trace.pg.clone());
        }
    }
}
