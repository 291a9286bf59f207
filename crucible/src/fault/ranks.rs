//! Ranks of a gang: one that is slow while the others wait for it, slowness that passes, and one that is missing in a collective.

use super::{process, victim};
use crate::plan::Fault;
use crate::time::SEC;
use crate::train::timers::{Apart, Form, Timers};
use crate::train::{self, info, say};
use crate::world::{ActId, Measured, Quantity, Relation, Unit, World, claims, names};

/// A workload that tells its ranks' own times from its start, most of the time.
pub(super) fn prepare(w: &mut World, load: usize) {
    let form = *w
        .rng
        .pick(&[Form::Straggler, Form::Own, Form::Own, Form::Scores])
        .unwrap_or(&Form::Own);
    let has_timers = w.rng.chance(80);
    if let Some(load) = w.loads.get_mut(load) {
        load.pace.steady = true;
        load.pace.talks_on = true;
        load.pace.timers = has_timers.then_some(Timers { form, apart: None });
    }
}

/// Lets a rank be slow, or missing.
pub(super) fn strike(w: &mut World, fault: Fault, load: usize) {
    match fault {
        Fault::SlowRank => slow_rank(w, load),
        Fault::SlowPassed => passes(w, load),
        Fault::UnevenRanks => uneven(w, load),
        _ => missing(w, load),
    }
}

/// Why one rank takes longer: in words, its ids, whether it reads slowly, what its kernel writes and what is measured.
struct Reason {
    what: &'static str,
    causes: &'static [&'static str],
    reads: bool,
    lines: &'static [&'static str],
    measured: Option<Quantity>,
}

const REASONS: &[Reason] = &[
    Reason {
        what: "the clocks of a GPU are held down for heat",
        causes: &["slow.machine", "hw.thermal"],
        reads: false,
        lines: &[],
        measured: Some(Quantity::Heat),
    },
    Reason {
        what: "the clocks of a GPU are held down for power",
        causes: &["slow.machine", "hw.power", "hw.thermal"],
        reads: false,
        lines: &[],
        measured: Some(Quantity::Power),
    },
    Reason {
        what: "another program takes the machine's processors",
        causes: &["slow.machine", "node.cpu_starvation"],
        reads: false,
        lines: &[],
        measured: Some(Quantity::Waiting),
    },
    Reason {
        what: "the local disk with the rank's shards answers late",
        causes: &["slow.machine", "hw.disk", "dep.storage"],
        reads: true,
        lines: &[
            "nvme nvme2: I/O tag 114 (0072) opcode 0x2 (I/O Cmd) QID 9 timeout, completion polled",
            "nvme nvme2: I/O tag 871 (0367) opcode 0x2 (I/O Cmd) QID 9 timeout, completion polled",
        ],
        measured: None,
    },
    Reason {
        what: "a loader of one rank has too few workers for its shards",
        causes: &["slow.rank"],
        reads: true,
        lines: &[],
        measured: None,
    },
    Reason {
        what: "a GPU computes slower than its sisters",
        causes: &["slow.rank"],
        reads: false,
        lines: &[],
        measured: None,
    },
];

/// One rank takes longer for its own part, and all wait for it in each step.
fn slow_rank(w: &mut World, load: usize) {
    let Some(pod) = victim(w, load) else { return };
    let Some((rank, node)) = w.pods.get(pod).and_then(|pod| Some((pod.rank, pod.node?))) else {
        return;
    };
    let which = w.rng.below(REASONS.len());
    let Some(reason) = REASONS.get(which) else {
        return;
    };
    let act = w.act(reason.what, reason.causes, None);
    for text in reason.lines {
        w.host_line(node, Unit::Kernel, *text, &names(act));
    }
    if let Some(what) = reason.measured {
        let from = w.now;
        let percent = w.rng.range(65, 95);
        w.measured.push(Measured {
            what,
            node,
            pod: None,
            from,
            percent,
            act: Some(act),
        });
    }
    let percent = w.rng.range(170, 300);
    let step = w.act(
        "each step waits for one rank",
        &["slow.rank", "slow.steps", "slow.machine"],
        Some(act),
    );
    apart(w, load, rank, percent, reason.reads, Some(step));
    super::slow::slow_down(w, load, percent, step);
}

fn apart(w: &mut World, load: usize, rank: u32, percent: i64, reads: bool, act: Option<ActId>) {
    let timers = w
        .loads
        .get_mut(load)
        .and_then(|load| load.pace.timers.as_mut());
    if let Some(timers) = timers {
        timers.apart = Some(Apart {
            rank,
            percent,
            reads,
            act,
        });
    }
}

/// One rank has always been a little slower than the others, which hurts nobody.
fn uneven(w: &mut World, load: usize) {
    let Some(rank) = victim(w, load)
        .and_then(|pod| w.pods.get(pod))
        .map(|pod| pod.rank)
    else {
        return;
    };
    let percent = w.rng.range(104, 112);
    apart(w, load, rank, percent, false, None);
}

/// The steps take longer for a while, and then as long as before.
fn passes(w: &mut World, load: usize) {
    let act = w.act("the steps take longer for a while", &["slow.steps"], None);
    let percent = w.rng.range(180, 350);
    super::slow::slow_down(w, load, percent, act);
    let lasts = w.rng.secs(400, 1100);
    w.after(lasts, move |w| {
        let Some(body) = w.loads.get_mut(load) else {
            return;
        };
        if body.pace.slow.is_none_or(|slow| slow.2 != act) {
            return;
        }
        body.pace.slow = None;
        if body.blocked == Some(act) {
            body.blocked = None;
        }
        body.pace
            .past
            .extend(["slow.steps", "slow.machine", "slow.rank"]);
    });
}

/// Why a rank does not come: in words, its ids, and what its kernel writes, of a task of this id.
const ABSENCES: &[(&str, &[&str], &[&str])] = &[
    (
        "a rank waits for a file server that does not answer",
        &["dep.storage"],
        &[
            "nfs: server 10.9.0.4 not responding, still trying",
            "INFO: task python3:{pid} blocked for more than 122 seconds.",
            "task:python3         state:D stack:0     pid:{pid} tgid:{pid} ppid:1      task_flags:0x400040 flags:0x00004002",
            " rpc_wait_bit_killable+0x11/0x70 [sunrpc]",
        ],
    ),
    (
        "a rank is stuck in its own code",
        &["hang.no_progress", "hang.collective_timeout"],
        &[],
    ),
    (
        "a rank took another way and does not call the collective",
        &[
            "hang.collective_timeout",
            "hang.no_progress",
            "code.exception",
        ],
        &[],
    ),
];

/// One rank does not join a collective; the others wait for it until their watchdogs end them.
fn missing(w: &mut World, load: usize) {
    let Some(absent) = victim(w, load) else {
        return;
    };
    let Some(body) = w.loads.get(load) else {
        return;
    };
    let (nccl, seq, since, attempt) = (body.plan.nccl_s, body.step, body.training, body.attempt);
    if since.is_none() {
        return;
    }
    let which = w.rng.below(ABSENCES.len());
    let Some(&(what, causes, lines)) = ABSENCES.get(which) else {
        return;
    };
    let act = w.act(what, causes, None);
    let (node, pid) = w
        .pods
        .get(absent)
        .map_or((None, 0), |pod| (pod.node, pod.pid));
    for (turn, text) in lines.iter().enumerate() {
        // The first line comes at once, the others when the kernel has waited.
        let lag = if turn == 0 { 0 } else { 124 * SEC };
        let text = text.replace("{pid}", &pid.to_string());
        w.after(lag, move |w| {
            if let Some(node) = node {
                w.host_line(node, Unit::Kernel, text, &names(act));
            }
        });
    }
    if which == 2 {
        let line = info(w.now, "validation loss is best so far, exporting weights");
        say(w, absent, false, line, &claims(act));
    }
    let step = w.act(
        "the others wait for it",
        &["hang.collective_timeout"],
        Some(act),
    );
    if let Some(body) = w.loads.get_mut(load) {
        body.stuck = Some(step);
        body.noticed = Some(attempt);
    }
    let began = w.now;
    for pod in process::crew(w, load) {
        if pod == absent {
            continue;
        }
        let lag = nccl * SEC + w.rng.millis(20, 1500);
        w.after(lag, move |w| {
            let waits = w
                .pods
                .get(pod)
                .is_some_and(|pod| pod.alive && !pod.stopping)
                && w.loads.get(load).is_some_and(|load| load.training == since);
            if waits {
                let rank = w.pods.get(pod).map_or(0, |pod| pod.rank);
                let waited = w.now.since(began) / 1_000_000;
                train::timeout(w, pod, (rank, seq, nccl, waited), step, Relation::Victim);
                process::these_name(w, step);
            }
        });
    }
}
