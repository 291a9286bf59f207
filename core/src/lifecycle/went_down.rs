//! Programs of which nothing but a log is known, on a machine that went down while they wrote: they went with it.

use whathappened_model::time::{Nanos, SECOND, Stamp};

use super::{End, Mode, State};
use crate::graph::{EntityGraph, Task, TaskKind};

/// Clocks of a log and of its machine's are this far apart at most.
const CLOCKS: Nanos = 5 * SECOND;

/// A machine takes no longer to stop what runs on it, and to start again.
const BOOTS: Nanos = 900 * SECOND;

/// What writes now and then is silent for as long.
const SILENT: Nanos = 120 * SECOND;

/// A machine going down, or up again.
const DOWN: [&str; 7] = [
    "k8s.node.rebooted",
    "k8s.node.shutdown",
    "kernel.panic",
    "node.crashed",
    "node.powered_off",
    "node.powering_off",
    "node.rebooting",
];

/// The end of a log's program, where its machine went down soon after its last line: between that line and the first
/// word that the machine was down.
pub(super) fn with_machine(graph: &EntityGraph, log: &Task, end: End) -> End {
    let runs = log.kind == TaskKind::Log && end.state == State::Running && end.mode == Mode::None;
    let last = log.last_line.filter(|last| *last != Stamp::OPEN);
    let (true, true, Some(last)) = (runs, log.node.is_some(), last) else {
        return end;
    };
    let Some(progress) = log.progress.as_deref() else {
        return end;
    };
    // What had been silent for long before had ended, or hung, before.
    let paces = progress.usual().saturating_mul(3).max(SILENT);
    let is_down = |fact: &&crate::graph::Fact| {
        let signal = graph.name(fact.signal);
        let after = fact.time.lo.saturating_sub(last.hi);
        // That a machine is up again is told when it is.
        let within = if signal == "k8s.node.rebooted" {
            BOOTS
        } else {
            paces
        };
        fact.node == log.node
            && DOWN.contains(&signal)
            && fact.time != Stamp::OPEN
            && (-CLOCKS..=within).contains(&after)
    };
    let Some(down) = graph.facts.iter().find(is_down) else {
        return end;
    };
    End {
        state: State::Died,
        mode: Mode::Lost,
        time: Stamp {
            lo: last.lo.min(down.time.lo),
            hi: down.time.hi.max(last.hi),
        },
        ..end
    }
}
