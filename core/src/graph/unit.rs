//! Programs that systemd runs as services: what it says of `train.service` is about the program whose log is
//! `train.log` on the same machine.

use std::collections::HashMap;

use whathappened_model::event::Event;
use whathappened_model::time::{Nanos, SECOND, Stamp};

use super::fact::Fact;
use super::task::{Exit, Progress, Task, TaskKind};
use crate::evidence::{Evidence, SpillError};
use crate::symbols::Symbol;

/// What systemd's own acts end a service with.
const STOPS: [&str; 4] = [
    "unit.oom_killed",
    "unit.stop_requested",
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
        if task.kind == TaskKind::Log && task.node.is_some() {
            let stem = symbols
                .name(task.name)
                .split('.')
                .next()
                .unwrap_or_default();
            by_unit.insert((task.node, stem.to_owned()), number);
        }
    }
    if by_unit.is_empty() {
        return Ok(());
    }
    for fact in facts.iter_mut() {
        let signal = symbols.name(fact.signal);
        if !signal.starts_with("unit.") || !fact.node.is_some() {
            continue;
        }
        let event = evidence.event(fact.row)?;
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
        "exited" => Some(status),
        _ => Some(128 + status),
    }
}
