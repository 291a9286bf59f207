//! A log that is all there is: somebody has the output of a run, and nothing else of it.

use std::collections::{BTreeMap, BTreeSet};

use whathappened_connectors::event::Event;

use super::fact::{Fact, NO};
use super::identity::{Pods, Workloads};
use super::task::{Task, TaskKind};
use super::undated::Years;
use super::{learn, progress};
use crate::evidence::{Evidence, Row, SpillError};
use crate::symbols::{Symbol, SymbolTable};

/// Where no record names a pod, a job or a machine, each log is a task of its own, under its
/// file's name.
///
/// # Errors
/// When the evidence cannot be read back.
pub(super) fn adopt(
    evidence: &Evidence,
    years: &Years,
    symbols: &mut SymbolTable,
    (pods, workloads): (&mut Pods, &mut Workloads),
    pod_of_row: &mut [u32],
    facts: &mut [Fact],
) -> Result<(), SpillError> {
    let lines = symbols.find("log.line");
    if !pods.all.is_empty() || !workloads.all.is_empty() {
        return Ok(());
    }
    let is_alone =
        |row: &Row| Some(row.fact) == lines && !row.node.is_some() && !row.instance.is_some();
    let mut tasks: BTreeMap<Symbol, u32> = BTreeMap::new();
    let mut ranks: BTreeMap<u32, BTreeSet<i32>> = BTreeMap::new();
    for (number, row) in (0..).zip(evidence.rows()) {
        if !is_alone(row) {
            continue;
        }
        let task = *tasks.entry(row.file()).or_insert_with(|| {
            let name = symbols.number(&name(symbols.name(row.file())));
            pods.push(Task::new(TaskKind::Log, Symbol::NONE, Symbol::NONE, name))
        });
        if let Some(slot) = pod_of_row.get_mut(number as usize) {
            *slot = task;
        }
        if let Some(one) = pods.all.get_mut(task as usize) {
            one.see(row.time.lo, row.last());
        }
        if !row.tells {
            continue;
        }
        let (_, mut event): (_, Event) = evidence.body(number)?;
        years.place(&mut event);
        ranks.entry(task).or_default().extend(event.rank);
        learn::event(&event, task, symbols, pods, workloads);
        progress::note(&event, number, pods.all.get_mut(task as usize));
    }
    // What several ranks wrote is the log of none of them.
    for (task, _) in ranks.iter().filter(|(_, ranks)| ranks.len() > 1) {
        if let Some(one) = pods.all.get_mut(*task as usize) {
            one.rank = None;
        }
    }
    for fact in facts.iter_mut().filter(|fact| fact.pod == NO) {
        if let Some(task) = pod_of_row.get(fact.row as usize) {
            fact.pod = *task;
        }
    }
    Ok(())
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
