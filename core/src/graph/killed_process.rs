//! Processes that a machine's kernel killed for memory, and of which a launcher on that machine tells that
//! SIGKILL ended them: the number of the process is what both name.

use std::collections::HashMap;

use whathappened_model::time::{Nanos, SECOND};

use super::{EntityGraph, Fact, TaskKind};
use crate::evidence::SpillError;
use crate::symbols::Symbol;

/// A launcher notices the end of a process within this long.
const NOTICED: Nanos = 60 * SECOND;

/// The kernel's records, and what they are called where a process of a task is meant.
const KILLS: [(&str, &str); 2] = [
    ("kernel.oom_kill.node", "kernel.oom_kill.node.process"),
    ("kernel.oom_kill.limit", "kernel.oom_kill.limit.process"),
];

/// Signals of lines with which a launcher or a program tells that a process was killed.
const TOLD: [&str; 3] = ["launcher.worker_failed", "log.host_oom", "log.killed"];

/// Adds the kernel's records to the tasks whose processes it killed.
pub(super) fn note(graph: &mut EntityGraph) -> Result<(), SpillError> {
    let mut kills: HashMap<(Symbol, String), Vec<(&'static str, Fact)>> = HashMap::new();
    for fact in graph.facts.iter().filter(|fact| fact.node.is_some()) {
        let signal = graph.name(fact.signal);
        let Some((_, of_process)) = KILLS.iter().find(|(kill, _)| *kill == signal) else {
            continue;
        };
        let event = graph.evidence.event(fact.row)?;
        if let Some(pid) = event.attribute("pid") {
            let kill = kills.entry((fact.node, pid.to_owned())).or_default();
            kill.push((of_process, *fact));
        }
    }
    if kills.is_empty() {
        return Ok(());
    }
    let mut found = Vec::new();
    for fact in &graph.facts {
        // In a container a process has another number than on its machine.
        let task = graph.pods.get(fact.pod as usize);
        let Some(task) = task.filter(|task| task.kind != TaskKind::Pod) else {
            continue;
        };
        if !TOLD.contains(&graph.name(fact.signal)) {
            continue;
        }
        let event = graph.evidence.event(fact.row)?;
        let Some(pid) = event.attribute("pid") else {
            continue;
        };
        for machine in task.machines() {
            let there = kills.get(&(machine, pid.to_owned()));
            let soon = |kill: &&(&str, Fact)| {
                let since = fact.time.lo.saturating_sub(kill.1.time.lo);
                (-SECOND..=NOTICED).contains(&since)
            };
            let there = there.into_iter().flatten().filter(soon);
            found.extend(there.map(|(signal, kill)| (*signal, fact.pod, *kill)));
        }
    }
    for (signal, pod, kill) in found {
        let signal = graph.evidence.symbols.number(signal);
        graph.facts.push(Fact {
            signal,
            pod,
            ..kill
        });
    }
    Ok(())
}
