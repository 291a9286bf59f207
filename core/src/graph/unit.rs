//! Programs that systemd runs as services: what it says of `train.service` is about the program whose log is
//! `train.log` on the same machine.

use crate::graph::{PodOfRow, TaskRow};
use crate::signals::{SignalClass, SignalTraits, named};
use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use whathappened_model::event::Event;
use whathappened_model::table::Table;
use whathappened_model::time::{CLOCKS, Nanos, SECOND, Stamp};

use super::fact::Fact;
use super::journal::Journals;
use super::node_folder;
use super::task::{Exit, Progress, Task, TaskKind};
use crate::evidence::{Clock, Evidence, EvidenceRow, SpillError};
use crate::symbols::Symbol;

/// What a machine's start is told by.
const BOOTS: [&str; 2] = [named::K8S_NODE_REBOOTED, named::NODE_CRASHED];

/// What a machine's going down in good order is told by.
const GOES_DOWN: [&str; 2] = [named::NODE_POWERING_OFF, named::NODE_REBOOTING];

/// How long systemd waits for a service that it has asked to stop, and a little more (`TimeoutStopSec`).
const STOPPED_WITHIN: Nanos = 100 * SECOND;

/// A machine that goes down in good order stops its services within this long.
const GOING_DOWN: Nanos = 120 * SECOND;

/// The log of each machine's program of a name; none where it may be either of two.
type ByUnit = HashMap<(Symbol, String), Option<TaskRow>>;

/// Gives facts about services to the tasks whose logs have their names, with what they tell of their ends.
///
/// # Errors
/// When a fact cannot be read back.
pub(super) fn claim(
    evidence: &Evidence,
    tasks: &mut Table<Task>,
    facts: &mut [Fact],
    pod_of_row: &PodOfRow,
    traits: &SignalTraits,
) -> Result<(), SpillError> {
    let symbols = &evidence.symbols;
    let mut by_unit: ByUnit = HashMap::new();
    for (number, task) in tasks.numbered() {
        // A cloud's instance may have the logs of several programs.
        let logs = match task.kind {
            TaskKind::Log => vec![task.name],
            TaskKind::Instance => task.log_files.iter().copied().collect(),
            TaskKind::Pod | TaskKind::Job => Vec::new(),
        };
        for log in logs {
            let name = node_folder::last_part(symbols.name(log));
            let stem = name.split('.').next().unwrap_or_default();
            // Where no machine is named at all, there is one; of two logs of one name on machines that nothing names
            // it may be either.
            let before = by_unit.insert((task.node, stem.to_owned()), Some(number));
            if before.is_some_and(|before| before != Some(number)) && !task.node.is_some() {
                by_unit.insert((task.node, stem.to_owned()), None);
            }
        }
    }
    if by_unit.is_empty() {
        return Ok(());
    }
    let own_journal = own_journals(evidence, tasks);
    settle_machines(evidence, tasks, facts, pod_of_row, &mut by_unit)?;
    let boots: Vec<(Symbol, Nanos)> = facts
        .iter()
        .filter(|fact| BOOTS.contains(&symbols.name(fact.signal)) && fact.time != Stamp::OPEN)
        .map(|fact| (fact.node, fact.time.lo))
        .collect();
    // Asked of few, and dear to know.
    let by_local_clock = LazyCell::new(|| by_local_clock(evidence, pod_of_row));
    let mut records: Vec<ServiceRecord> = Vec::new();
    for (place, fact) in facts.iter().enumerate() {
        let signal = symbols.name(fact.signal);
        if !signal.starts_with("unit.") {
            continue;
        }
        let event = evidence.event(fact.row)?;
        let unit = unit_of(&event);
        let row = evidence.rows().get(fact.row);
        let own = row.and_then(|row| own_journal.get(&(row.file(), unit.clone())));
        // systemd's lines are of a machine, an engine's description of a container may be of any.
        let is_of_any = matches!(event.attribute("program"), Some("docker" | "systemctl"));
        if !fact.node.is_some() && !is_of_any && own.is_none() {
            continue;
        }
        let of_unit = || by_unit.get(&(fact.node, unit)).copied().flatten();
        let Some(number) = own.copied().or_else(of_unit) else {
            continue;
        };
        records.push(ServiceRecord {
            place,
            row: fact.row,
            task: number,
            time: if !is_of_any && by_local_clock.contains(&number) {
                fact.time
            } else {
                event.time
            },
            reckoned: fact.time,
            is_stop: traits.is(signal, SignalClass::StopsUnit),
            is_restart: event.attribute("verb") == Some("restart"),
            is_request: signal == named::UNIT_STOP_REQUESTED,
            is_exit: signal == named::UNIT_MAIN_EXITED,
            was_survived: signal.starts_with(named::UNIT_OOM_KILLED),
            exit_code: exit_code(&event),
        });
    }
    // systemd says first how a process ended, and then that this was as it should be.
    let ends: Vec<(TaskRow, Stamp)> = records
        .iter()
        .filter(|one| one.is_exit && one.exit_code != Some(0))
        .map(|one| (one.task, one.time))
        .collect();
    records.retain(|one| {
        let overrules = |(task, time): &(TaskRow, Stamp)| {
            let apart = one.time.lo.saturating_sub(time.lo).saturating_abs();
            *task == one.task && apart <= SECOND
        };
        !one.is_exit || one.exit_code != Some(0) || !ends.iter().any(overrules)
    });
    let journals = Journals::of(evidence);
    // Not every systemd names the services that it stops for that.
    let going_down: Vec<(Symbol, EvidenceRow, Stamp)> = facts
        .iter()
        .filter(|fact| GOES_DOWN.contains(&symbols.name(fact.signal)) && fact.time != Stamp::OPEN)
        .map(|fact| (fact.node, fact.row, fact.time))
        .collect();
    let is_stopped_with_machine = |task: &Task, exit: &ServiceRecord| {
        let rows = evidence.rows();
        exit.exit_code == Some(143)
            && going_down.iter().any(|(node, row, since)| {
                let (down, own) = (rows.get(*row), rows.get(exit.row));
                let is_behind = down
                    .zip(own)
                    .is_some_and(|(down, own)| journals.is_after(own, down));
                let lag = exit.time.lo.saturating_sub(since.lo);
                *node == task.node && is_behind && (0..=GOING_DOWN).contains(&lag)
            })
    };
    let after = |later: &ServiceRecord, earlier: &ServiceRecord| {
        let rows = evidence.rows();
        let (later, earlier) = (rows.get(later.row), rows.get(earlier.row));
        later
            .zip(earlier)
            .is_some_and(|(later, earlier)| journals.is_after(later, earlier))
    };
    for one in &records {
        let Some(task) = tasks.get_mut(one.task) else {
            continue;
        };
        if one.is_outlived(task, &records)
            || one.is_after_boot(task, &boots)
            || one.is_after_end(task, &records, &after)
            || one.is_of_earlier_start(task, &records)
            || one.came_to_nothing(evidence, &journals, &records)
        {
            continue;
        }
        if let Some(fact) = facts.get_mut(one.place) {
            fact.pod = Some(one.task);
        }
        if one.is_stop && !had_failed(task, one.time.lo) {
            task.kills.push(one.time);
        }
        if one.is_exit {
            if is_stopped_with_machine(task, one) {
                task.kills.push(one.time);
            }
            task.exits.push(Exit {
                time: one.time,
                container: Symbol::NONE,
                init: false,
                exit_code: one.exit_code,
                reason: Symbol::NONE,
            });
        }
    }
    Ok(())
}

/// Programs all of whose own lines name no zone: those of a service are by the clock of its machine, as the lines of
/// the machine's log are.
fn by_local_clock(evidence: &Evidence, pod_of_row: &PodOfRow) -> HashSet<TaskRow> {
    let line = evidence.symbols.find("log.line");
    let (mut local, mut other) = (HashSet::new(), HashSet::new());
    for (row, task) in evidence.rows().iter().zip(pod_of_row) {
        if Some(row.fact) != line || row.time == Stamp::OPEN || row.clock == Clock::Neighbour {
            continue;
        }
        if row.clock == Clock::Local && !row.was_moved() {
            local.extend(*task);
        } else {
            other.extend(*task);
        }
    }
    local.retain(|task| !other.contains(task));
    local
}

/// The service that a record speaks of; a journal's own fields call it by its whole name.
fn unit_of(event: &Event) -> String {
    let unit = event.attribute("unit").unwrap_or_default();
    unit.strip_suffix(".service").unwrap_or(unit).to_owned()
}

/// Logs by the journals of their services that they were read from, with the names of these services.
fn own_journals(evidence: &Evidence, tasks: &Table<Task>) -> HashMap<(Symbol, String), TaskRow> {
    let mut found = HashMap::new();
    for (number, task) in tasks.numbered() {
        for file in &task.journals {
            let unit = evidence.symbols.name(task.name);
            let unit = unit.split('.').next().unwrap_or_default();
            found.insert((*file, unit.to_owned()), number);
        }
    }
    found
}

/// Puts logs of which nothing says where they were written on the one machine whose systemd speaks of a service of their name,
/// in a log that lies beside them or below.
///
/// # Errors
/// When a fact cannot be read back.
fn settle_machines(
    evidence: &Evidence,
    tasks: &mut Table<Task>,
    facts: &[Fact],
    pod_of_row: &PodOfRow,
    by_unit: &mut ByUnit,
) -> Result<(), SpillError> {
    let folder = |file: Symbol| {
        let path = evidence.symbols.name(file);
        node_folder::folder_of(path).unwrap_or_default()
    };
    let rows = evidence.rows().iter().zip(pod_of_row);
    let logs: HashMap<TaskRow, Symbol> = rows
        .filter_map(|(row, pod)| Some(((*pod)?, row.file())))
        .collect();
    type Spoken<'e> = (BTreeSet<Symbol>, BTreeSet<&'e str>);
    let mut spoken_of: BTreeMap<String, Spoken<'_>> = BTreeMap::new();
    for fact in facts {
        let signal = evidence.symbols.name(fact.signal);
        if signal.starts_with("unit.") && fact.node.is_some() {
            let event = evidence.event(fact.row)?;
            let unit = unit_of(&event);
            let (nodes, folders) = spoken_of.entry(unit).or_default();
            nodes.insert(fact.node);
            let row = evidence.rows().get(fact.row);
            folders.extend(row.map(|row| folder(row.file())));
        }
    }
    for (unit, (nodes, folders)) in spoken_of {
        let mut nodes = nodes.into_iter();
        let (Some(node), None) = (nodes.next(), nodes.next()) else {
            continue;
        };
        let beside = |number: &TaskRow| {
            let own = logs.get(number).map(|file| folder(*file));
            let is_below = |other: &str, own: &str| {
                let rest = other.strip_prefix(own);
                let parts = |rest: &str| rest.is_empty() || rest.starts_with(['/', '\\', '!']);
                own.is_empty() || rest.is_some_and(parts)
            };
            own.is_some_and(|own| folders.iter().all(|other| is_below(other, own)))
        };
        let nowhere = by_unit.get(&(Symbol::NONE, unit.clone())).copied();
        let nowhere = nowhere.flatten().filter(beside);
        let log = nowhere.and_then(|number| Some((number, tasks.get_mut(number)?)));
        if let Some((number, log)) = log.filter(|_| !by_unit.contains_key(&(node, unit.clone()))) {
            log.node = node;
            by_unit.insert((node, unit), Some(number));
        }
    }
    Ok(())
}

/// What a record says of a service.
#[derive(Debug)]
struct ServiceRecord {
    /// Which fact it is.
    place: usize,
    /// The number of its record.
    row: EvidenceRow,
    task: TaskRow,
    time: Stamp,
    /// The same; of a line without a year as it is reckoned, in a zone that may be another.
    reckoned: Stamp,
    is_stop: bool,
    /// Whether the service was to be started again at once.
    is_restart: bool,
    is_exit: bool,
    /// Whether somebody asked for it, and systemd has not said yet that it does so.
    is_request: bool,
    /// Whether a program may live on after it: a worker of it was killed.
    was_survived: bool,
    exit_code: Option<i32>,
}

impl ServiceRecord {
    /// When it was, as far as that orders it. Who asks for a stop may have done so days before; of the end itself a time that is
    /// hours off says nothing.
    fn at(&self) -> Stamp {
        if self.is_stop {
            self.reckoned
        } else {
            self.time
        }
    }

    /// Whether the program made steps after that: it was started again, or lives on. Whatever ended it at last came later.
    fn is_outlived(&self, task: &Task, all: &[Self]) -> bool {
        /// What a stop and the request for it are apart at most.
        const AT_ONCE: Nanos = 10 * SECOND;
        let at = self.at();
        let Some(progress) = task.progress.as_deref().filter(|_| at != Stamp::OPEN) else {
            return false;
        };
        let went_on =
            |time: Stamp, by: Nanos| progress.went_on_after(time.hi.saturating_add(by), None);
        let within = |other: &Self, before: Nanos, after: Nanos| {
            let from = at.lo.saturating_sub(before);
            let to = at.hi.saturating_add(after);
            other.task == self.task && (from..=to).contains(&other.reckoned.lo)
        };
        let starts_again = || {
            all.iter()
                .any(|other| other.is_restart && within(other, AT_ONCE, AT_ONCE))
        };
        if self.is_exit || self.was_survived || starts_again() {
            return went_on(at, CLOCKS);
        }
        // The process ended for it, and another one goes on.
        let mut ends = all
            .iter()
            .filter(|other| other.is_exit && within(other, 0, STOPPED_WITHIN));
        went_on(at, STOPPED_WITHIN) || ends.any(|end| went_on(end.time, CLOCKS))
    }

    /// Whether somebody stops what had ended by then: systemd says in one journal that its process ended, and it made no
    /// step since; or its log says last that all is done.
    fn is_after_end(
        &self,
        task: &Task,
        all: &[Self],
        after: &impl Fn(&Self, &Self) -> bool,
    ) -> bool {
        if !self.is_stop {
            return false;
        }
        let mut ends = all
            .iter()
            .filter(|other| other.is_exit && other.task == self.task && after(self, other));
        let step = task.progress.as_deref().map(|progress| progress.last.lo);
        let done = task.logged_done.filter(|done| {
            // A log whose zone nobody knows may have been written before or after that: what says that all is done was not
            // stopped.
            let before = self.time == Stamp::OPEN || done.lo <= self.time.lo;
            before && step.is_none_or(|step| step <= done.hi)
        });
        done.is_some() || ends.any(|end| !end.is_outlived(task, all))
    }

    /// Whether the service ended for that, and then again, of a later start of which the log tells, too.
    fn is_of_earlier_start(&self, task: &Task, all: &[Self]) -> bool {
        /// Two records of one end are no further apart.
        const ONE_END: Nanos = 10 * SECOND;
        let own =
            |other: &&Self| other.is_exit && other.task == self.task && other.time != Stamp::OPEN;
        let end = if self.is_exit {
            Some(self.time)
        } else {
            let within =
                |time: Stamp| (0..=STOPPED_WITHIN).contains(&time.lo.saturating_sub(self.time.lo));
            let ends = all.iter().filter(own).map(|other| other.time);
            ends.filter(|time| within(*time)).min()
        };
        let Some(end) = end.filter(|end| *end != Stamp::OPEN) else {
            return false;
        };
        let later = |other: &Self| other.time.lo > end.hi.saturating_add(ONE_END);
        let wrote_on = task
            .last_line
            .is_some_and(|last| last.lo > end.hi.saturating_add(ONE_END));
        wrote_on && all.iter().filter(own).any(later)
    }

    /// Whether nothing came of a request in a journal that goes on: there was no such service, or it did not run.
    fn came_to_nothing(&self, evidence: &Evidence, journals: &Journals, all: &[Self]) -> bool {
        let row = evidence.rows().get(self.row);
        let goes_on = || {
            row.is_some_and(|row| {
                let by = row.time.hi.saturating_add(STOPPED_WITHIN);
                journals.goes_on_after(row, by)
            })
        };
        let follows = |other: &Self| {
            let lag = other.time.lo.saturating_sub(self.time.lo);
            !other.is_request
                && other.task == self.task
                && (-SECOND..=STOPPED_WITHIN).contains(&lag)
        };
        self.is_request && self.time != Stamp::OPEN && !all.iter().any(follows) && goes_on()
    }

    /// Whether the machine was started again since the log's last line: what ran before ended with it, and nobody stops
    /// it after that.
    fn is_after_boot(&self, task: &Task, boots: &[(Symbol, Nanos)]) -> bool {
        let last = task.last_line.filter(|last| *last != Stamp::OPEN);
        let since = |last: Stamp| {
            let mut boots = boots.iter().filter(|(node, _)| *node == task.node);
            boots.any(|(_, boot)| last.hi < *boot && *boot < self.at().lo)
        };
        self.at() != Stamp::OPEN && last.is_some_and(since)
    }
}

/// Whether the program had written long before of why it fails, and nothing after it.
fn had_failed(task: &Task, stopped: Nanos) -> bool {
    const SILENT: Nanos = 60 * SECOND;
    let progress = task.progress.as_deref();
    let silent = Progress::may_be_silent(progress, SILENT);
    let failure = task.last_words.filter(|failure| *failure != Stamp::OPEN);
    failure.is_some_and(|failure| {
        let went_on = progress.is_some_and(|progress| progress.last.lo > failure.hi);
        !went_on && failure.lo.saturating_add(silent) < stopped
    })
}

/// The code as a shell would say it: systemd tells how a process ended, and with which code or signal.
fn exit_code(event: &Event) -> Option<i32> {
    let Some(how) = event.attribute("how") else {
        return Some(0);
    };
    let status: i32 = event.attribute("status")?.parse().ok()?;
    match how {
        "exited" | "ExitCode" => Some(status),
        _ => Some(128 + status),
    }
}
