//! Machines that one zone did not have and another had: who asked got what was
//! wanted, so nothing is to be explained.

use std::collections::{BTreeMap, HashSet};

use whathappened_model::table::Table;
use whathappened_model::time::{Nanos, SECOND};

use crate::graph::{EntityGraph, Task, TaskKind, TaskRow};
use crate::lifecycle::{End, State};
use crate::resolve::{Root, Run};

/// Launchers try one place after the other for about this long.
const TRIES: Nanos = 86_400 * SECOND;

/// Instances that could not be made, each with another of its run or name that
/// was made instead, at that time or later.
pub(super) fn placed(
    graph: &EntityGraph,
    runs: &[Run],
    ends: &Table<Task, End>,
) -> HashSet<TaskRow> {
    let mut wanted: BTreeMap<(&str, &str, &str), Vec<TaskRow>> = BTreeMap::new();
    for run in runs {
        for pod in &run.pods {
            let Some(one) = graph.pods.get(*pod) else {
                continue;
            };
            if one.kind != TaskKind::Instance {
                continue;
            }
            // Those of no group are tried again under one name.
            let key = match run.root {
                Root::Workload(_) => {
                    let (_, kind, account, name) = run.names(graph);
                    (kind, account, name)
                }
                Root::Pod(_) => ("", graph.name(one.namespace), graph.name(one.name)),
            };
            wanted.entry(key).or_default().push(*pod);
        }
    }
    let mut found = HashSet::new();
    for ((_, _, name), pods) in &wanted {
        if !name.is_empty() {
            found.extend(in_one(graph, pods, ends));
        }
    }
    found
}

/// Of machines that were wanted for one thing, those that others stand in for:
/// where a zone refused some, as many must have been made after that. Zones
/// are tried one after the other, so the same ones stand in for the tries of each.
fn in_one(graph: &EntityGraph, pods: &[TaskRow], ends: &Table<Task, End>) -> Vec<TaskRow> {
    let mut refused: BTreeMap<&str, Vec<(Nanos, TaskRow)>> = BTreeMap::new();
    let mut made = Vec::new();
    for pod in pods {
        let (Some(one), Some(end)) = (graph.pods.get(*pod), ends.get(*pod)) else {
            continue;
        };
        if end.state == State::NeverScheduled {
            let zone = graph.name(one.zone);
            refused.entry(zone).or_default().push((end.time.lo, *pod));
        } else if let Some(created) = one.created {
            made.push(created.hi);
        }
    }
    let mut found = Vec::new();
    for tries in refused.values_mut() {
        tries.sort_unstable();
        let Some((last, _)) = tries.last().copied() else {
            continue;
        };
        let since = |at: &&Nanos| **at >= last && at.saturating_sub(last) <= TRIES;
        let mut left = made.iter().filter(since).count();
        // One that was tried again under its name is one. The latest were made good.
        let mut names: HashSet<&str> = HashSet::new();
        for (_, pod) in tries.iter().rev() {
            let name = graph.pods.get(*pod);
            let name = name.map_or("", |one| graph.name(one.name));
            if names.contains(name) {
                found.push(*pod);
            } else if left > 0 {
                left -= 1;
                names.insert(name);
                found.push(*pod);
            }
        }
    }
    found
}
