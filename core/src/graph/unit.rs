//! Programs that systemd runs as services: what it says of `train.service` is about the program whose log is
//! `train.log` on the same machine.

use std::collections::HashMap;

use whathappened_model::event::Event;
use whathappened_model::time::{Nanos, SECOND, Stamp};

use super::fact::{Fact, NO};
use super::task::{Exit, Progress, Task, TaskKind};
use crate::evidence::{Evidence, SpillError};
use crate::symbols::Symbol;

/// What systemd's own acts, and those of a tool that replaces containers, end a service with.
const STOPS: [&str; 6] = [
    "unit.oom_killed",
    "unit.replaced",
    "unit.stop_requested",
    "unit.stopping",
    "unit.timed_out",
    "unit.watchdog",
];

/// Gives facts about services to the tasks whose logs have their names, with what they tell of their ends.
///
/// # Errors
/// When a fact cannot be read back.
pub(super) fn claim(
    evidence: &Evidence,
    tasks: &mut [Task],
    facts: &mut [Fact],
) -> Result<(), SpillError> {
    let symbols = &evidence.symbols;
    let mut by_unit: HashMap<(Symbol, String), u32> = HashMap::new();
    for (number, task) in (0..).zip(tasks.iter()) {
        // Where no machine is named at all, there is one.
        if task.kind == TaskKind::Log {
            let stem = symbols
                .name(task.name)
                .split('.')
                .next()
                .unwrap_or_default();
            // Of two logs of one name on machines that nothing names it may be either.
            let before = by_unit.insert((task.node, stem.to_owned()), number);
            if before.is_some() && !task.node.is_some() {
                by_unit.insert((task.node, stem.to_owned()), NO);
            }
        }
    }
    if by_unit.is_empty() {
        return Ok(());
    }
    for fact in facts.iter_mut() {
        let signal = symbols.name(fact.signal);
        if !signal.starts_with("unit.") {
            continue;
        }
        let event = evidence.event(fact.row)?;
        // systemd's lines are of a machine, an engine's description of a container may be of any.
        if !fact.node.is_some() && event.attribute("program") != Some("docker") {
            continue;
        }
        let unit = event.attribute("unit").unwrap_or_default().to_owned();
        let Some(number) = by_unit.get(&(fact.node, unit)) else {
            continue;
        };
        let Some(task) = tasks.get_mut(*number as usize) else {
            continue;
        };
        fact.pod = *number;
        if STOPS.contains(&signal) && !had_failed(task, event.time.lo) {
            task.kills.push(event.time);
        }
        if signal == "unit.main_exited" {
            task.exits.push(Exit {
                time: event.time,
                container: Symbol::NONE,
                init: false,
                exit_code: exit_code(&event),
                reason: Symbol::NONE,
            });
        }
    }
    Ok(())
}

/// Whether the program had written long before of why it fails, and nothing after it.
fn had_failed(task: &Task, stopped: Nanos) -> bool {
    const SILENT: Nanos = 60 * SECOND;
    let progress = task.progress.as_deref();
    let silent = Progress::may_be_silent(progress, SILENT);
    let said = task.last_words.filter(|said| *said != Stamp::OPEN);
    said.is_some_and(|said| {
        let went_on = progress.is_some_and(|progress| progress.last.lo > said.hi);
        !went_on && said.lo.saturating_add(silent) < stopped
    })
}

/// The code as a shell would say it: systemd tells how a process ended, and with which code or signal.
fn exit_code(event: &Event) -> Option<i32> {
    let status: i32 = event.attribute("status")?.parse().ok()?;
    match event.attribute("how")? {
        "exited" | "ExitCode" => Some(status),
        _ => Some(128 + status),
    }
}
