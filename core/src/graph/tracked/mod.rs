//! What experiment trackers' own files tell, and whose it is.
//!
//! No file of a tracker says whose it is for certain. A run's files are tied to a task by what they name (a batch
//! job, a pod or a machine by its host's name, a workload by the run's name), by their path, or by the only log
//! that lies beside them; where several would fit they are nobody's. Of nothing else but such files, each folder is a
//! run of its own.
//!
//! Steps that a tracker tells of stand in for those of a log where the log tells of none, or ended long before.

mod owner;

use std::collections::{BTreeMap, BTreeSet};

use whathappened_model::event::Event;
use whathappened_model::time::{Nanos, SECOND, Stamp};
use whathappened_model::tracker::{
    CHECKPOINT, FOLDER, HOST, NAME, NOT_FINITE, RUN, SERIES, STEP, name_of_folder,
};

use super::fact::Fact;
use super::identity::{Pods, Workloads};
use super::progress;
use super::task::{Progress, Task, TaskKind};
use crate::evidence::{Evidence, EvidenceRow, SpillError};
use crate::graph::{PodOfRow, TaskRow};
use crate::symbols::{Symbol, SymbolTable};

/// What one run's files of one tracker tell.
#[derive(Debug, Default)]
struct Tracked {
    /// The folder of its files.
    folder: String,
    /// Folders within it whose files are its own, too.
    parts: BTreeSet<String>,
    /// The rows of its facts.
    rows: Vec<EvidenceRow>,
    /// A file of it.
    file: Option<Symbol>,
    /// Machines, or pods, that it names as the place where the program ran.
    hosts: BTreeSet<String>,
    /// What people called the run.
    called: BTreeSet<String>,
    /// What it, or what it is a part of, is called.
    names: BTreeSet<String>,
    /// The batch job that it names.
    job: Option<String>,
    /// When its first and its last step was told.
    steps: Option<(Nanos, Nanos)>,
    /// Steps by the curves that they are of.
    series: BTreeMap<String, Series>,
}

/// The steps of the curves of one file, or of one folder.
#[derive(Debug, Default)]
struct Series {
    rows: Vec<EvidenceRow>,
    has_loss: bool,
}

/// Evidence, and all that its rows are given to.
pub(super) struct Records<'a> {
    pub(super) evidence: &'a Evidence,
    pub(super) symbols: &'a mut SymbolTable,
    pub(super) pods: &'a mut Pods,
    pub(super) workloads: &'a mut Workloads,
    /// The task that each row is of, by its number.
    pub(super) pod_of_row: &'a mut PodOfRow,
    pub(super) facts: &'a mut [Fact],
}

/// Gives what trackers' files tell to the tasks that they are of.
///
/// # Errors
/// When the evidence cannot be read back.
pub(super) fn adopt(all: &mut Records<'_>) -> Result<(), SpillError> {
    let tracked = collect(all.evidence, all.symbols)?;
    if tracked.is_empty() {
        return Ok(());
    }
    let is_known = |kind: TaskKind| kind != TaskKind::Log;
    let only_logs =
        all.workloads.all.is_empty() && !all.pods.all.iter().any(|one| is_known(one.kind));
    let owners: Vec<Option<TaskRow>> = {
        let known = owner::KnownTasks::of(all);
        tracked.iter().map(|one| known.owner(one)).collect()
    };
    for (one, owner) in tracked.iter().zip(owners) {
        let task = match owner {
            Some(task) => task,
            None if only_logs => {
                let name = all.symbols.number(one.name());
                all.pods
                    .push(Task::new(TaskKind::Log, Symbol::NONE, Symbol::NONE, name))
            }
            None => continue,
        };
        give(one, task, owner.is_none(), all)?;
    }
    Ok(())
}

/// The runs that files tell of, in order of their folders.
fn collect(evidence: &Evidence, symbols: &SymbolTable) -> Result<Vec<Tracked>, SpillError> {
    let kinds = [STEP, RUN, NOT_FINITE, CHECKPOINT].map(|kind| symbols.find(kind));
    let mut found: BTreeMap<(String, String), Tracked> = BTreeMap::new();
    for (number, row) in evidence.rows().numbered() {
        if !kinds.contains(&Some(row.fact)) {
            continue;
        }
        let (_, event): (_, Event) = evidence.body(number)?;
        let text = |key: &str| event.attribute(key).unwrap_or_default().to_owned();
        // Several ranks may write into one of TensorBoard's folders.
        let host = text(HOST);
        let by = if event.fact != RUN {
            host.clone()
        } else {
            String::new()
        };
        let is_shared = event.attribute("tracker") == Some("TensorBoard");
        let key = (text(FOLDER), if is_shared { by } else { String::new() });
        let one = found.entry(key).or_insert_with(|| Tracked {
            folder: text(FOLDER),
            ..Tracked::default()
        });
        one.note(number, &event);
        one.file = Some(row.file());
    }
    let mut found: Vec<Tracked> = inherit(join_parts(found)).into_values().collect();
    for one in &mut found {
        one.rows.sort_by_key(|row| {
            let row = evidence.rows().get(*row);
            row.map(|row| (row.time, row.id))
        });
    }
    Ok(found)
}

impl Tracked {
    /// What a run is called of which nothing else is known: as its tracker calls it, or else its folder.
    fn name(&self) -> &str {
        let mut called = self.called.iter();
        match (called.next(), called.next()) {
            (Some(name), None) => name,
            _ => name_of_folder(&self.folder),
        }
    }

    fn note(&mut self, number: EvidenceRow, event: &Event) {
        self.rows.push(number);
        let text = |key: &str| event.attribute(key).filter(|text| !text.is_empty());
        self.hosts.extend(text(HOST).map(str::to_owned));
        self.called.extend(text(NAME).map(str::to_owned));
        self.names.extend(text(NAME).map(str::to_owned));
        let also = event
            .attributes
            .get("also")
            .and_then(|also| also.as_array());
        let also = also.into_iter().flatten().filter_map(|name| name.as_str());
        self.names.extend(also.map(str::to_owned));
        if let Some(job) = text("job") {
            self.job = Some(job.to_owned());
        }
        if event.fact == STEP && event.time != Stamp::OPEN {
            let last = event.end.unwrap_or(event.time);
            let (from, to) = self.steps.unwrap_or((event.time.lo, last.lo));
            self.steps = Some((from.min(event.time.lo), to.max(last.lo)));
            let series = text(SERIES).unwrap_or_default().to_owned();
            let series = self.series.entry(series).or_default();
            series.rows.push(number);
            series.has_loss |= event.attribute("loss").is_some();
        }
    }

    /// The steps of the training: of curves with a loss those that tell most.
    fn training(&self) -> Option<&Series> {
        let all = self.series.iter();
        let best = all.max_by_key(|(name, one)| {
            (
                one.has_loss,
                one.rows.len(),
                std::cmp::Reverse(name.as_str()),
            )
        });
        best.map(|(_, series)| series)
    }

    fn take(&mut self, other: Self) {
        self.parts.insert(other.folder);
        self.rows.extend(other.rows);
        self.hosts.extend(other.hosts);
        self.called.extend(other.called);
        self.names.extend(other.names);
        self.series.extend(other.series);
        self.steps = match (self.steps, other.steps) {
            (Some((a, b)), Some((c, d))) => Some((a.min(c), b.max(d))),
            (one, other) => one.or(other),
        };
    }
}

type ByFolder = BTreeMap<(String, String), Tracked>;

/// Joins what one process wrote into a folder and into folders within it, as `add_scalars` does.
fn join_parts(found: ByFolder) -> ByFolder {
    let mut joined: ByFolder = BTreeMap::new();
    // A folder comes before those within it.
    for ((folder, host), one) in found {
        let above = joined.iter_mut().find(|((above, of), _)| {
            let within = folder.strip_prefix(above.as_str());
            !host.is_empty() && *of == host && within.is_some_and(|rest| rest.starts_with('/'))
        });
        match above {
            Some((_, above)) => above.take(one),
            None => {
                joined.insert((folder, host), one);
            }
        }
    }
    joined
}

/// Gives the names of an experiment to the runs in folders within its own; of itself it is no run.
fn inherit(mut found: ByFolder) -> ByFolder {
    let is_run =
        |one: &Tracked| one.steps.is_some() || !one.called.is_empty() || !one.hosts.is_empty();
    let experiments: Vec<(String, BTreeSet<String>)> = found
        .values()
        .filter(|one| !is_run(one) && !one.names.is_empty())
        .map(|one| (one.folder.clone(), one.names.clone()))
        .collect();
    for one in found.values_mut() {
        for (folder, names) in &experiments {
            let within = one.folder.strip_prefix(folder.as_str());
            if within.is_some_and(|rest| rest.starts_with('/')) {
                one.names.extend(names.iter().cloned());
            }
        }
    }
    found.retain(|_, one| is_run(one));
    found
}

fn give(
    one: &Tracked,
    task: TaskRow,
    alone: bool,
    all: &mut Records<'_>,
) -> Result<(), SpillError> {
    let mut side = Task::new(TaskKind::Log, Symbol::NONE, Symbol::NONE, Symbol::NONE);
    for number in one
        .training()
        .map_or(&[][..], |series| series.rows.as_slice())
    {
        let (_, event): (_, Event) = all.evidence.body(*number)?;
        progress::note(&event, *number, Some(&mut side));
    }
    let given: BTreeSet<EvidenceRow> = one.rows.iter().copied().collect();
    for number in &given {
        let Some(row) = all.evidence.rows().get(*number) else {
            continue;
        };
        if let Some(slot) = all.pod_of_row.get_mut(*number) {
            *slot = Some(task);
        }
        // What a tracker says of a whole run may be told later, by another program.
        let is_step = all.symbols.name(row.fact) != RUN;
        if let Some(owner) = all.pods.all.get_mut(task)
            && is_step
        {
            owner.see(row.time.lo, row.last());
        }
    }
    for fact in all
        .facts
        .iter_mut()
        .filter(|fact| given.contains(&fact.row))
    {
        fact.pod = Some(task);
    }
    let called: Vec<Symbol> = one
        .called
        .iter()
        .map(|name| all.symbols.number(name))
        .collect();
    let folders = one.parts.iter().chain([&one.folder]);
    let folders: Vec<Symbol> = folders
        .map(|folder| all.symbols.number(name_of_folder(folder)))
        .collect();
    if let Some(owner) = all.pods.all.get_mut(task) {
        owner.called.extend(called);
        owner.folders.extend(folders);
        let tracked = side.progress.take();
        if alone {
            owner.last_line = tracked.as_ref().map(|tracked| tracked.last);
        }
        if tracked
            .as_deref()
            .is_some_and(|tracked| is_needed(tracked, owner.progress.as_deref()))
        {
            owner.progress = tracked;
            owner.pace = side.pace;
        }
    }
    Ok(())
}

/// Whether a tracker's steps tell more than a log's.
fn is_needed(tracked: &Progress, logged: Option<&Progress>) -> bool {
    /// A log and a tracker tell of one step within this time, or within some steps.
    const APART: Nanos = 60 * SECOND;
    logged.is_none_or(|logged| {
        let apart = APART.max(logged.usual().saturating_mul(3));
        tracked.last.lo > logged.last.hi.saturating_add(apart)
    })
}
