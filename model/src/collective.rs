//! What each rank did last in each process group, as PyTorch's flight recorder dumps it,
//! and which rank the others wait for, from the dumps of several ranks.

use std::collections::{BTreeMap, BTreeSet};

use crate::event::Event;
use crate::time::Nanos;

/// The kind of fact that says how far a rank came in a group.
pub const FACT: &str = "nccl.trace";

/// A collective that a rank entered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CollectiveCall {
    /// Counts the group's collectives, from 1.
    pub seq: i64,
    /// `all_reduce`, without the backend's name.
    pub op: String,
    /// Sizes of the inputs, `[[1024, 8]]`.
    pub inputs: String,
    /// Sizes of the outputs.
    pub outputs: String,
    /// `scheduled`, `started` or `completed`. Without
    /// `TORCH_NCCL_ENABLE_TIMING` torch does not know `started`.
    pub state: String,
    /// When the program entered it.
    pub created: Option<Nanos>,
    /// When torch noticed that it had started on the device.
    pub started: Option<Nanos>,
    /// When torch noticed that it had ended.
    pub completed: Option<Nanos>,
    /// After how long the watchdog gives it up, in milliseconds.
    pub timeout_ms: Option<i64>,
}

/// How far one rank came in one process group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// The global rank.
    pub rank: i32,
    /// The group's name, the same on all its ranks.
    pub pg: String,
    /// What the program calls it, `default_pg`.
    pub desc: String,
    /// The group's global ranks, sorted; empty where the dump does not say.
    pub members: Vec<i32>,
    /// The call it is in: the first that is not completed.
    pub waits_in: Option<CollectiveCall>,
    /// The last that is completed.
    pub completed: Option<CollectiveCall>,
    /// The last that started, where torch knows.
    pub last_started: Option<i64>,
    /// The last that it entered; -1 for none at all, `None` where not known.
    pub last_enqueued: Option<i64>,
}

impl Trace {
    /// Takes the next entry, in the order of recording.
    pub fn enter(&mut self, call: CollectiveCall) {
        self.last_enqueued = self.last_enqueued.max(Some(call.seq));
        if call.started.is_some() || call.completed.is_some() {
            self.last_started = self.last_started.max(Some(call.seq));
        }
        if call.state == "completed" {
            let newer = self
                .completed
                .as_ref()
                .is_none_or(|known| known.seq <= call.seq);
            if newer {
                self.completed = Some(call);
            }
        } else if self
            .waits_in
            .as_ref()
            .is_none_or(|known| call.seq < known.seq)
        {
            self.waits_in = Some(call);
        }
    }

    /// The call that says how the rank stands: the one it is in, else the last.
    #[must_use]
    pub fn stands_in(&self) -> Option<&CollectiveCall> {
        self.waits_in.as_ref().or(self.completed.as_ref())
    }
}

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

/// Compares what was kept of the dumps of one run's ranks, taken at one hang. Findings come by group and rank.
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

/// What a fact of the kind [`FACT`] kept for [`compare_traces`]; `None` for other facts.
#[must_use]
pub fn trace_of(event: &Event) -> Option<Trace> {
    if event.fact != FACT {
        return None;
    }
    let text = |key: &str| event.attribute(key).unwrap_or_default().to_owned();
    let number = |key: &str| {
        event
            .attribute(key)
            .and_then(|text| text.parse::<i64>().ok())
    };
    let call = number("seq").map(|seq| CollectiveCall {
        seq,
        op: text("op"),
        inputs: text("input_sizes"),
        outputs: text("output_sizes"),
        state: text("state"),
        created: number("created_ns"),
        started: number("started_ns"),
        completed: None,
        timeout_ms: number("timeout_ms"),
    });
    let completed = number("last_completed").map(|seq| CollectiveCall {
        seq,
        op: text("last_completed_op"),
        state: "completed".to_owned(),
        completed: number("last_completed_ns"),
        ..CollectiveCall::default()
    });
    Some(Trace {
        rank: event.rank?,
        pg: text("pg"),
        desc: text("pg_desc"),
        members: text("members")
            .split(',')
            .filter_map(|rank| rank.parse().ok())
            .collect(),
        waits_in: call.filter(|call| call.state != "completed"),
        completed,
        last_started: number("last_started"),
        last_enqueued: number("last_enqueued"),
    })
}
