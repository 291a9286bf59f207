//! A log that is all there is: somebody has the output of a run, and nothing else of it.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use whathappened_model::event::Event;

use super::fact::Fact;
use super::identity::{Pods, Workloads};
use super::log_files::LogFiles;
use super::log_gang::{self, Member, Namesakes};
use super::task::{Task, TaskKind};
use super::undated::Years;
use super::{job_logs, launcher_log, learn, node_folder, progress, ray_session, vm_log};
use crate::evidence::{Evidence, EvidenceRow, Row, SpillError};
use crate::graph::{PodOfRow, TaskRow};
use crate::signals::named;
use crate::symbols::{Symbol, SymbolTable};

/// All lines and what they tell, while it is found out whose they are.
pub(super) struct Lines<'a> {
    pub(super) evidence: &'a Evidence,
    pub(super) years: &'a Years,
    pub(super) symbols: &'a mut SymbolTable,
    pub(super) pods: &'a mut Pods,
    pub(super) workloads: &'a mut Workloads,
    /// The task that each row is of, by its number.
    pub(super) pod_of_row: &'a mut PodOfRow,
    pub(super) facts: &'a mut [Fact],
}

/// Where no record names a pod, a job or a cloud's machine that it may be of, each log is a task of its own, under its
/// file's name; logs of several ranks that are named alike are those of one gang. Files that hold parts of one log are one
/// ([`super::log_files`]), and the journal of a service is named after that.
///
/// # Errors
/// When the evidence cannot be read back.
pub(super) fn adopt(all: &mut Lines<'_>) -> Result<(), SpillError> {
    let lines = all.symbols.find("log.line");
    let are_instances = all
        .pods
        .all
        .iter()
        .all(|one| one.kind == TaskKind::Instance);
    if !are_instances || !all.workloads.all.is_empty() {
        return Ok(());
    }
    let places = node_folder::places_of_logs(all.evidence, all.symbols);
    // What a cloud tells of some of its machines is nothing of the others: what lies beside the log of one of these is its.
    let elsewhere = elsewhere(all, &places);
    let is_line =
        |row: &Row| Some(row.fact) == lines && !row.node.is_some() && !row.instance.is_some();
    let is_free = |row: &Row, symbols: &SymbolTable| {
        let place = || node_folder::folder_of(symbols.name(row.file())).unwrap_or_default();
        is_line(row)
            && elsewhere
                .as_ref()
                .is_none_or(|places| places.contains(place()))
    };
    let rows = all.evidence.rows().iter();
    let all_files: BTreeSet<Symbol> = rows
        .filter(|row| is_free(row, all.symbols))
        .map(Row::file)
        .collect();
    let inner = ray_session::inner(&all_files, all.symbols);
    let is_alone =
        |row: &Row| all_files.contains(&row.file()) && is_line(row) && !inner.contains(&row.file());
    let mut tasks: BTreeMap<Symbol, TaskRow> = BTreeMap::new();
    let mut ranks: BTreeMap<TaskRow, BTreeSet<i32>> = BTreeMap::new();
    let mut files: BTreeMap<TaskRow, Symbol> = BTreeMap::new();
    let named: HashSet<Symbol> = places.iter().map(|(machine, _)| *machine).collect();
    let machines = node_folder::Machines::of(named.iter().copied(), all.symbols);
    let beside = node_folder::of_nameless_logs(all.evidence, all.symbols);
    let mut logs = LogFiles::default();
    for (number, row) in all.evidence.rows().numbered() {
        if is_alone(row) {
            logs.see((number, row), all.evidence)?;
        }
    }
    let logs = logs.joined(all.symbols);
    let lone_machine = lone_machine(&named, logs.values().map(|part| part.log));
    let namesakes = namesakes(logs.values().map(|part| part.log), all.symbols);
    let mut rankless: BTreeSet<TaskRow> = BTreeSet::new();
    for (number, row) in all.evidence.rows().numbered() {
        if !is_alone(row) || all.pod_of_row.get(number).copied().flatten().is_some() {
            continue;
        }
        let file = logs.get(&row.file());
        let whole = file.map_or(row.file(), |file| file.log);
        let task = *tasks.entry(whole).or_insert_with(|| {
            let file_name = name(all.symbols.name(whole));
            let unit = file.and_then(|file| file.unit.as_deref());
            let path = all.symbols.name(whole).to_owned();
            // Of several of one name the folder says which.
            let in_folder =
                in_folder(&path).filter(|_| unit.is_none() && namesakes.contains(&file_name));
            let name = in_folder.or(unit).unwrap_or(&file_name);
            let name = all.symbols.number(name);
            let mut log = Task::new(TaskKind::Log, Symbol::NONE, Symbol::NONE, name);
            if in_folder.is_some() {
                let bare = std::iter::successors(Some(file_name.as_str()), |name| {
                    Some(name.rsplit_once('.')?.0)
                });
                log.called.extend(bare.map(|name| all.symbols.number(name)));
            }
            // What lies beside the log of a machine that names none was on that machine.
            let folder = node_folder::folder_of(&path).filter(|folder| beside.contains(*folder));
            // Another machine may bear the first word of a whole name, and have said nothing.
            let machine = machines.of_folder(&path).filter(|machine| {
                let name = all.symbols.name(*machine);
                let whole = path.split(['/', '\\', '!']).any(|part| part == name);
                let place = node_folder::folder_of(&path).unwrap_or_default();
                whole || places.contains(&(*machine, place.to_owned()))
            });
            let of_journal = file.and_then(|file| file.machine.as_deref());
            log.node = match (of_journal, machine, folder) {
                (Some(machine), ..) => all.symbols.number(machine),
                (None, Some(machine), _) => machine,
                (None, None, Some(folder)) => all.symbols.number(node_folder::last_part(folder)),
                (None, None, None) => lone_machine
                    .filter(|machine| {
                        let place = node_folder::folder_of(&path).unwrap_or_default();
                        places.contains(&(*machine, place.to_owned()))
                    })
                    .unwrap_or(Symbol::NONE),
            };
            all.pods.push(log)
        });
        if let Some((file, one)) = file.zip(all.pods.all.get_mut(task)) {
            file.note(row.file(), one, all.symbols);
        }
        files.insert(task, whole);
        if let Some(slot) = all.pod_of_row.get_mut(number) {
            *slot = Some(task);
        }
        let line = all.teach(number, task)?;
        if row.has_signal {
            ranks.entry(task).or_default().extend(line.rank);
        }
        // Nor is a log in which a launcher tells of one of its processes that of the rank that writes most of it.
        if line.raises && line.rank.is_none() || line.launches {
            rankless.insert(task);
        }
    }
    // What several ranks wrote is the log of none of them, nor is one in which a failure bears no rank that of who waited.
    for (task, _) in ranks
        .iter()
        .filter(|(task, ranks)| ranks.len() > 1 || rankless.contains(task))
    {
        if let Some(one) = all.pods.all.get_mut(*task) {
            one.rank = None;
        }
    }
    all.name_facts(|fact| fact.pod.is_none());
    let missing = log_gang::who_misses_others(all.symbols, &all.pods.traits, all.facts);
    let mut gangs = gangs(&files, (&mut ranks, &missing), all.symbols, all.pods);
    launcher_log::add(all, &files, &mut gangs)?;
    log_gang::join(gangs, all.symbols, all.pods, all.workloads);
    Ok(())
}

/// The folders of machines that are none of the instances that a cloud tells of; none where it tells of none.
fn elsewhere<'p>(
    all: &Lines<'_>,
    places: &'p HashSet<(Symbol, String)>,
) -> Option<HashSet<&'p str>> {
    let instances = vm_log::instances(&all.pods.all);
    let is_id = |name: Symbol| all.symbols.name(name).starts_with("i-");
    // One of which only the id is known may have any name, but for another id.
    let may_be_any = all
        .pods
        .all
        .iter()
        .any(|one| !one.name.is_some() || is_id(one.name));
    let is_other =
        |machine: &Symbol| !instances.contains_key(machine) && (!may_be_any || is_id(*machine));
    (!instances.is_empty()).then(|| {
        places
            .iter()
            .filter(|(machine, place)| is_other(machine) && !place.is_empty())
            .map(|(_, place)| place.as_str())
            .collect()
    })
}

impl Lines<'_> {
    /// Gives lines that are of nobody yet to the task that `owner` finds, and what they tell with
    /// them.
    ///
    /// # Errors
    /// When the evidence cannot be read back.
    pub(super) fn give(
        &mut self,
        mut owner: impl FnMut(&Row, &SymbolTable) -> Option<TaskRow>,
    ) -> Result<(), SpillError> {
        let Some(lines) = self.symbols.find("log.line") else {
            return Ok(());
        };
        let mut given = HashSet::new();
        for (number, row) in self.evidence.rows().numbered() {
            if let Some(slot) = self.pod_of_row.get_mut(number)
                && slot.is_none()
                && row.fact == lines
                && let Some(task) = owner(row, self.symbols)
            {
                *slot = Some(task);
                given.insert(number);
                self.teach(number, task)?;
            }
        }
        self.name_facts(|fact| given.contains(&fact.row));
        Ok(())
    }

    /// Tells facts whose they are.
    fn name_facts(&mut self, which: impl Fn(&Fact) -> bool) {
        for fact in self.facts.iter_mut().filter(|fact| which(fact)) {
            if let Some(task) = self.pod_of_row.get(fact.row) {
                fact.pod = *task;
            }
        }
    }

    /// Learns from a line that was found to be of a task.
    ///
    /// # Errors
    /// When the line cannot be read back.
    fn teach(&mut self, number: EvidenceRow, task: TaskRow) -> Result<LineEvidence, SpillError> {
        let Some(row) = self.evidence.rows().get(number) else {
            return Ok(LineEvidence::default());
        };
        if let Some(one) = self.pods.all.get_mut(task) {
            one.see(row.time.lo, row.last());
        }
        if !row.has_signal {
            return Ok(LineEvidence::default());
        }
        let (_, mut event): (_, Event) = self.evidence.body(number)?;
        self.years.place(number, &mut event);
        if let Some(one) = self.pods.all.get(task) {
            event.origin.line = one.place_of_line(row.file(), event.origin.line);
        }
        job_logs::forget_others(&mut event);
        learn::event(&event, Some(task), self.symbols, self.pods, self.workloads);
        progress::note(&event, number, self.pods.all.get_mut(task));
        Ok(LineEvidence {
            rank: event.rank,
            launches: event
                .signals
                .iter()
                .any(|signal| LAUNCHED.contains(&signal.as_str())),
            raises: event
                .signals
                .iter()
                .any(|signal| RAISED.contains(&signal.as_str()))
                && !event
                    .signals
                    .iter()
                    .any(|signal| signal.starts_with("launcher.")),
        })
    }
}

/// What a line says of who wrote it.
#[derive(Clone, Copy, Debug, Default)]
struct LineEvidence {
    /// The rank that it names.
    rank: Option<i32>,
    /// Whether it tells of an exception of the program, and not of its launcher.
    raises: bool,
    /// Whether a launcher tells of the end of one of its processes.
    launches: bool,
}

/// What is read of exceptions.
const RAISED: [&str; 2] = [named::LOG_TRACEBACK, named::LOG_EXCEPTION_LINE];

/// What launchers tell of processes that ended.
const LAUNCHED: [&str; 2] = [named::LAUNCHER_ROOT_CAUSE, named::LAUNCHER_WORKER_FAILED];

/// The one machine whose log lies beside the one log of a program: who puts these two together says where that ran.
fn lone_machine(machines: &HashSet<Symbol>, logs: impl Iterator<Item = Symbol>) -> Option<Symbol> {
    let logs: BTreeSet<Symbol> = logs.collect();
    let mut machines = machines.iter().copied();
    let one = machines.next().filter(|_| machines.next().is_none())?;
    (logs.len() == 1).then_some(one)
}

/// Names that files in several folders bear.
fn namesakes(logs: impl Iterator<Item = Symbol>, symbols: &SymbolTable) -> BTreeSet<String> {
    let logs: BTreeSet<Symbol> = logs.collect();
    let mut seen = BTreeSet::new();
    let names = logs.iter().map(|log| name(symbols.name(*log)));
    names.filter(|name| !seen.insert(name.clone())).collect()
}

/// The name of a file with that of the folder it lies in.
fn in_folder(path: &str) -> Option<&str> {
    let separators = ['/', '\\', '!'];
    let file = path.rfind(separators)?;
    let folder = path.get(..file)?;
    let begin = folder.rfind(separators).map_or(0, |at| at + 1);
    path.get(begin..)
        .filter(|name| !name.starts_with(['.', '/']))
}

/// Logs by what their paths have in common: a number apart, in one folder.
fn gangs(
    files: &BTreeMap<TaskRow, Symbol>,
    (ranks, missing): (&mut BTreeMap<TaskRow, BTreeSet<i32>>, &HashSet<TaskRow>),
    symbols: &SymbolTable,
    pods: &Pods,
) -> BTreeMap<(Symbol, String), Namesakes> {
    let mut found: BTreeMap<(Symbol, String), Namesakes> = BTreeMap::new();
    for (task, file) in files {
        let path = symbols.name(*file);
        let Some(name) = log_gang::without_number(path) else {
            continue;
        };
        let namesakes = found
            .entry((Symbol::NONE, name.shared))
            .or_insert_with(|| Namesakes {
                name: gang_name(path),
                is_numbered: name.is_numbered,
                is_by_machine: name.is_machine,
                ..Namesakes::default()
            });
        let one = pods.all.get(*task);
        namesakes.members.push(Member {
            task: *task,
            ranks: ranks.remove(task).unwrap_or_default(),
            number: name.number,
            seen: one.and_then(|one| one.seen),
            steps: one.map(|one| one.pace.times()).unwrap_or_default(),
            misses: missing.contains(task),
        });
    }
    found
}

/// The folder that the logs of a gang lie in, each in a folder of its own or not, else what their names begin with.
fn gang_name(path: &str) -> String {
    let has_digit = |part: &str| part.bytes().any(|one| one.is_ascii_digit());
    let mut parts = path.rsplit(['/', '\\', '!']);
    let file = parts.next().unwrap_or_default();
    // Of whom the file's name bears no number the folder does.
    if !has_digit(file) {
        parts.by_ref().find(|part| has_digit(part));
    }
    // torchrun keeps each attempt of a run in a folder of its own.
    let is_attempt = |part: &str| {
        let number = part.strip_prefix(log_gang::ATTEMPT);
        number.is_some_and(|number| number.bytes().all(|one| one.is_ascii_digit()))
    };
    let folder =
        parts.find(|part| !part.bytes().all(|one| one.is_ascii_digit()) && !is_attempt(part));
    let stem = || {
        let digits = file.find(|one: char| one.is_ascii_digit() || one == '.');
        let stem = digits.and_then(|digit| file.get(..digit)).unwrap_or(file);
        stem.trim_end_matches(['-', '_', '.', '='])
    };
    match folder.filter(|folder| !matches!(*folder, "" | "." | "..")) {
        Some(folder) => folder.to_owned(),
        None if stem().is_empty() => "logs".to_owned(),
        None => stem().to_owned(),
    }
}

/// A file's name without its folders; what was piped has none.
fn name(file: &str) -> String {
    let name = file.rsplit(['/', '\\', '!']).next().unwrap_or(file);
    if matches!(name, "" | "-") {
        "stdin"
    } else {
        name
    }
    .to_owned()
}

#[cfg(test)]
mod tests {
    use super::gang_name;

    #[test]
    fn a_gang_is_named_after_its_folder() {
        for (path, name) in [
            ("logs/run-7/rank3.log", "run-7"),
            ("out/attempt_0/3/stderr.log", "out"),
            ("attempt_0/3/stderr.log", "stderr"),
            ("rank3.log", "rank"),
            ("./3.log", "logs"),
            ("rank1/train.log", "train"),
            ("bert/gpu-07/train.log", "bert"),
        ] {
            assert_eq!(gang_name(path), name, "{path}");
        }
    }
}
