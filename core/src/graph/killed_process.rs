//! Processes that a machine's kernel killed for memory, and of which a launcher on that machine tells that
//! SIGKILL ended them: the number of the process is what both name. A shell's `Killed` names none: of a program that
//! is the only one on its machine to end so then, it is the one that the kernel killed.

use crate::graph::TaskRow;
use crate::signals::named;
use std::collections::{BTreeSet, HashMap, HashSet};

use whathappened_model::time::{Nanos, SECOND, Stamp};

use super::{EntityGraph, Fact, Progress, TaskKind};
use crate::evidence::SpillError;
use crate::symbols::Symbol;

/// A launcher notices the end of a process within this long.
const NOTICED: Nanos = 60 * SECOND;

/// The kernel's records, and what they are called where a process of a task is meant.
const KILLS: [(&str, &str); 2] = [
    (
        named::KERNEL_OOM_KILL_NODE,
        named::KERNEL_OOM_KILL_NODE_PROCESS,
    ),
    (
        named::KERNEL_OOM_KILL_LIMIT,
        named::KERNEL_OOM_KILL_LIMIT_PROCESS,
    ),
];

/// Signals of lines with which a launcher or a program tells that a process was killed.
const KILL_SIGNALS: [&str; 4] = [
    named::LAUNCHER_WORKER_FAILED,
    named::LOG_HOST_OOM,
    named::LOG_KILLED,
    named::MPI_PROCESS_DIED,
];

/// What is written of a process now and then may be as old.
const SILENT: Nanos = 120 * SECOND;

/// What trainers are called, as their machine's kernel knows them.
const TRAINERS: [&str; 6] = ["python", "pt_", "ray", "java", "torch", "train"];

/// Whether a process may train, by its name.
#[must_use]
pub fn may_train(process: &str) -> bool {
    TRAINERS.iter().any(|stem| process.starts_with(stem))
}

/// One process that a kernel killed.
struct Kill {
    signal: &'static str,
    fact: Fact,
    /// By its name it may train.
    may_train: bool,
}

type Kills = HashMap<(Symbol, String), Vec<Kill>>;

/// Adds the kernel's records to the tasks whose processes it killed.
pub(super) fn note(graph: &mut EntityGraph) -> Result<(), SpillError> {
    let kills = kills(graph)?;
    if kills.is_empty() {
        return Ok(());
    }
    let mut found = Vec::new();
    let mut unnumbered: Vec<Fact> = Vec::new();
    for fact in &graph.facts {
        // In a container a process has another number than on its machine.
        let task = graph.pods.get(fact.pod);
        let Some(task) = task.filter(|task| task.kind != TaskKind::Pod) else {
            continue;
        };
        let signal = graph.name(fact.signal);
        if !KILL_SIGNALS.contains(&signal) {
            continue;
        }
        let event = graph.evidence.event(fact.row)?;
        let Some(pid) = event.attribute("pid") else {
            let is_alone = matches!(task.kind, TaskKind::Log | TaskKind::Instance);
            unnumbered.extend(Some(*fact).filter(|_| is_alone && signal == named::LOG_KILLED));
            continue;
        };
        let ended_by = event.attribute("signal");
        if ended_by.is_some_and(|signal| !matches!(signal, "9" | "SIGKILL")) {
            continue;
        }
        // A launcher of several machines names the one on which the process was; it need not run there itself.
        let named = event.attribute("on_node");
        let is_there = |machine: &Symbol| {
            named.is_none_or(|named| is_same_machine(graph.name(*machine), named))
        };
        let known = kills.keys().map(|(machine, _)| *machine);
        let known = known.filter(|_| named.is_some());
        let machines: BTreeSet<Symbol> = task.machines().chain(known).filter(is_there).collect();
        for machine in machines {
            let there = kills.get(&(machine, pid.to_owned()));
            // A line without a time of its own is known to be after the one before it.
            let soon = |kill: &&Kill| {
                let killed = kill.fact.time.lo;
                killed <= fact.time.hi.max(fact.time.lo.saturating_add(SECOND))
                    && fact.time.lo <= killed.saturating_add(NOTICED)
            };
            let there = there.into_iter().flatten().filter(soon);
            found.extend(there.map(|kill| (kill.signal, fact.pod, kill.fact)));
        }
    }
    found.extend(of_shells(graph, &kills, &unnumbered));
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

/// Whether two names, whole or of one word, may be those of one machine.
fn is_same_machine(one: &str, other: &str) -> bool {
    let is_short_of = |short: &str, whole: &str| {
        let rest = whole.strip_prefix(short);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    is_short_of(one, other) || is_short_of(other, one)
}

/// What machines' kernels killed, by machine and number of the process: no service of the machine's own.
fn kills(graph: &EntityGraph) -> Result<Kills, SpillError> {
    let mut kills = Kills::new();
    let mut services = HashSet::new();
    for fact in graph.facts.iter().filter(|fact| fact.node.is_some()) {
        let signal = graph.name(fact.signal);
        let kill = KILLS.iter().find(|(kill, _)| *kill == signal);
        if kill.is_none() && signal != named::KERNEL_OOM_KILL_OUTSIDE {
            continue;
        }
        let event = graph.evidence.event(fact.row)?;
        let Some(pid) = event.attribute("pid") else {
            continue;
        };
        let key = (fact.node, pid.to_owned());
        let Some((_, signal)) = kill else {
            services.insert(key);
            continue;
        };
        let process = event.attribute("process").unwrap_or_default();
        kills.entry(key).or_default().push(Kill {
            signal,
            fact: *fact,
            may_train: may_train(process),
        });
    }
    for (key, of_process) in &mut kills {
        if services.contains(key) {
            for kill in of_process {
                kill.may_train = false;
            }
        }
    }
    Ok(kills)
}

/// Kills that a shell's word on a process without its number tells of: the only ones of something that may train on its
/// machine at that time, where no other program there ended so.
fn of_shells(
    graph: &EntityGraph,
    kills: &Kills,
    lines: &[Fact],
) -> Vec<(&'static str, Option<TaskRow>, Fact)> {
    let mut found = Vec::new();
    for fact in lines {
        let Some(task) = graph.pods.get(fact.pod) else {
            continue;
        };
        let progress = task.progress.as_deref();
        let silent = Progress::may_be_silent(progress, SILENT);
        let is_then = |kill: &Fact| {
            let since = kill.time.lo.saturating_sub(fact.time.lo);
            // A line without a time was written some time after the one before it.
            let within = if fact.time.width() > NOTICED {
                -SECOND..=silent
            } else {
                -NOTICED..=SECOND
            };
            fact.time != Stamp::OPEN && within.contains(&since)
        };
        let others = lines.iter().filter(|other| other.pod != fact.pod);
        let mut beside = others.filter_map(|other| graph.pods.get(other.pod));
        if beside.any(|other| other.machines().any(|one| one == task.node)) {
            continue;
        }
        let mut there = kills.iter().filter(|((machine, _), of_process)| {
            *machine == task.node && of_process.iter().any(|kill| is_then(&kill.fact))
        });
        let (Some((_, of_process)), None) = (there.next(), there.next()) else {
            continue;
        };
        let may_train = of_process.iter().all(|kill| kill.may_train);
        let of_process = of_process.iter().filter(|_| may_train);
        found.extend(of_process.map(|kill| (kill.signal, fact.pod, kill.fact)));
    }
    found
}
