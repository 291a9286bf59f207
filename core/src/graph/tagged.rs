//! What a log store's labels or tags say about the experiment that a line is of: for many runs
//! they are all that names it.

use std::collections::{BTreeMap, BTreeSet};

use whathappened_model::table::Table;
use whathappened_model::time::Stamp;

use super::identity::{Pods, Workloads};
use super::lone_log::Lines;
use super::task::{Task, TaskKind};
use crate::evidence::{Evidence, SpillError};
use crate::graph::{PodOfRow, TaskRow};
use crate::symbols::{Symbol, SymbolTable};

/// What the members of such a run are owned by.
const KIND: &str = "Experiment";

/// Gives lines that name an experiment and no pod, job or instance to a task of that experiment,
/// one for each machine that they come from.
///
/// # Errors
/// When the evidence cannot be read back.
pub(super) fn adopt(all: &mut Lines<'_>) -> Result<(), SpillError> {
    let Some(lines) = all.symbols.find("log.line") else {
        return Ok(());
    };
    let mut tasks: BTreeMap<(Symbol, Symbol), TaskRow> = BTreeMap::new();
    for (row, task) in all.evidence.rows().iter().zip(&*all.pod_of_row) {
        if task.is_some() || row.fact != lines || !row.experiment.is_some() {
            continue;
        }
        let machine = machine(row.node, row.host);
        tasks.entry((row.experiment, machine)).or_insert_with(|| {
            let name = if machine.is_some() {
                machine
            } else {
                row.experiment
            };
            let mut task = Task::new(TaskKind::Log, Symbol::NONE, Symbol::NONE, name);
            task.node = machine;
            task.tags.insert(row.experiment);
            all.pods.push(task)
        });
    }
    if tasks.is_empty() {
        return Ok(());
    }
    all.give(|row, _| {
        let key = (row.experiment, machine(row.node, row.host));
        tasks.get(&key).copied()
    })
}

fn machine(node: Symbol, host: Symbol) -> Symbol {
    if node.is_some() { node } else { host }
}

/// Notes which experiments the lines of each task name.
pub(super) fn note(evidence: &Evidence, pod_of_row: &PodOfRow, pods: &mut Table<Task>) {
    for (row, task) in evidence.rows().iter().zip(pod_of_row) {
        if row.experiment.is_some()
            && let Some(task) = pods.get_mut(*task)
        {
            task.tags.insert(row.experiment);
        }
    }
}

/// What only logs tell of, and nothing else says whose it is, is of the experiment that they name.
pub(super) fn own(symbols: &mut SymbolTable, pods: &mut Pods, workloads: &mut Workloads) {
    let mut found: BTreeMap<Symbol, BTreeSet<TaskRow>> = BTreeMap::new();
    for (number, task) in pods.all.numbered() {
        let known = task.owner.is_some() || task.body.is_some() || task.created.is_some();
        let is_of_log = matches!(task.kind, TaskKind::Log | TaskKind::Pod);
        if let (Some(tag), 1) = (task.tags.first(), task.tags.len())
            && !known
            && is_of_log
        {
            found.entry(*tag).or_default().insert(number);
        }
    }
    let kind = symbols.number(KIND);
    let mut found: Vec<_> = found.into_iter().collect();
    // Symbols are numbered as they come, which the order of the input must not show.
    found.sort_by(|(a, _), (b, _)| symbols.name(*a).cmp(symbols.name(*b)));
    for (tag, members) in found {
        let tasks = || members.iter().filter_map(|one| pods.all.get(*one));
        let places: BTreeSet<Symbol> = tasks().map(|task| task.namespace).collect();
        let [place] = Vec::from_iter(places)[..] else {
            continue;
        };
        let at = tasks()
            .filter_map(|task| Some(task.seen?.0))
            .min()
            .map_or(Stamp::OPEN, |lo| Stamp { lo, hi: lo });
        let owner = workloads.of(kind, Symbol::NONE, place, tag, at);
        for member in members {
            if let Some(task) = pods.all.get_mut(member) {
                task.owner = Some(owner);
            }
        }
    }
}
