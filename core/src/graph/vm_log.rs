//! The logs of programs on cloud instances, in a folder that was put under the instance's name or its id:
//! `trainer-vm-5/train.log`.

use std::collections::{HashMap, HashSet};

use whathappened_model::table::Table;
use whathappened_model::time::{Nanos, Stamp};

use super::instance::InstanceChange;
use super::lone_log::Lines;
use super::node_folder::Machines;
use super::task::{Task, TaskKind};
use crate::evidence::{Row, SpillError};
use crate::graph::TaskRow;
use crate::symbols::Symbol;

/// Gives lines that name no pod, job or machine to the instance whose name or id a folder on the way
/// to their file bears, the innermost first. Of several instances that bore that name it is the one that
/// was there when the line was written; where that is not known of one alone, none of them gets it.
///
/// # Errors
/// When the evidence cannot be read back.
pub(super) fn adopt(all: &mut Lines<'_>) -> Result<(), SpillError> {
    let instances = instances(&all.pods.all);
    if instances.is_empty() {
        return Ok(());
    }
    let lives: HashMap<TaskRow, (Nanos, Nanos)> = instances
        .values()
        .flatten()
        .filter_map(|number| Some((*number, life(all.pods.all.get(*number)?))))
        .collect();
    let by_name = Machines::of(instances.keys().copied(), all.symbols);
    let mut bearers: HashMap<Symbol, Option<Symbol>> = HashMap::new();
    let mut files: HashSet<(TaskRow, Symbol)> = HashSet::new();
    all.give(|row, symbols| {
        if row.node.is_some() || row.instance.is_some() {
            return None;
        }
        let name = *bearers
            .entry(row.file())
            .or_insert_with(|| by_name.of_folder(symbols.name(row.file())));
        let owner = there_then(instances.get(&name?)?, &lives, row)?;
        files.insert((owner, row.file()));
        Some(owner)
    })?;
    for (owner, file) in files {
        if let Some(one) = all.pods.all.get_mut(owner) {
            one.log_files.insert(file);
        }
    }
    Ok(())
}

/// Instances by name and by id.
pub(super) fn instances(tasks: &Table<Task>) -> HashMap<Symbol, Vec<TaskRow>> {
    let mut found: HashMap<Symbol, Vec<TaskRow>> = HashMap::new();
    for (number, one) in tasks.numbered() {
        if one.kind == TaskKind::Instance {
            for name in [one.name, one.uid] {
                let of_name = found.entry(name).or_default();
                if name.is_some() && !of_name.contains(&number) {
                    of_name.push(number);
                }
            }
        }
    }
    found.retain(|_, of_name| !of_name.is_empty());
    found
}

/// From when to when an instance was there, as far as its cloud's records tell.
fn life(one: &Task) -> (Nanos, Nanos) {
    let time_of = |what: InstanceChange| {
        let mut signs = one.signs.iter().filter(move |sign| sign.what == what);
        let first = signs.next()?.time;
        Some(signs.fold(first, |first, sign| first.min(sign.time)))
    };
    let made = one.created.or_else(|| time_of(InstanceChange::Made));
    let gone = one.gone.or_else(|| time_of(InstanceChange::Deleted));
    (
        made.map_or(Nanos::MIN, |made| made.lo),
        gone.map_or(Nanos::MAX, |gone| gone.hi),
    )
}

/// The only one of these instances that was there when a line was written.
fn there_then(
    of_name: &[TaskRow],
    lives: &HashMap<TaskRow, (Nanos, Nanos)>,
    row: &Row,
) -> Option<TaskRow> {
    if let [one] = of_name {
        return Some(*one);
    }
    let was_there = |number: &&TaskRow| {
        let life = lives.get(*number);
        row.time != Stamp::OPEN
            && life.is_some_and(|(from, to)| *from <= row.time.lo && row.time.lo <= *to)
    };
    let there = of_name.iter().filter(was_there);
    // One of which nobody knows since when it is may be of another account, group or zone.
    let is_known = |number: &&TaskRow| {
        lives
            .get(*number)
            .is_some_and(|(from, _)| *from != Nanos::MIN)
    };
    only(there.clone()).or_else(|| only(there.filter(is_known)))
}

/// What there is one of.
fn only<'a>(mut some: impl Iterator<Item = &'a TaskRow>) -> Option<TaskRow> {
    let one = some.next()?;
    some.next().is_none().then_some(*one)
}
