//! Members of a gang of which nothing but logs are known: the one whose log just ends while all others tell that they lost
//! another.
//!
//! What is killed writes nothing any more. Who writes nothing may as well be what a launcher stopped at last, so that it has
//! to be the only one, or the one that the others name; who waits for one that hangs says so, and is another matter.

use std::collections::{BTreeMap, BTreeSet};

use whathappened_model::table::Table;
use whathappened_model::time::{CLOCKS, Stamp};

use super::{End, Mode, State};
use crate::graph::{EntityGraph, Task, TaskKind, TaskRow, WorkloadRow};
use crate::signals::{SignalClass, named};

/// What the members of one gang say of each other.
#[derive(Debug, Default)]
struct Gang {
    members: Vec<TaskRow>,
    /// When each that says so first told that another was gone.
    lost: BTreeMap<TaskRow, Stamp>,
    /// The ranks that they name.
    named: BTreeSet<i32>,
    /// Logs of launchers, which are none of the members.
    launchers: BTreeSet<TaskRow>,
    /// Some waited for one in vain.
    waited: bool,
}

/// Puts in the ends of members that others lost, and of whose ends nothing tells.
pub(super) fn note(graph: &EntityGraph, ends: &mut Table<Task, End>) {
    let mut gangs: BTreeMap<WorkloadRow, Gang> = BTreeMap::new();
    for (number, task) in graph.pods.numbered() {
        let owner = task.owner.filter(|_| task.kind == TaskKind::Log);
        if let Some(owner) = owner {
            gangs.entry(owner).or_default().members.push(number);
        }
    }
    if gangs.is_empty() {
        return;
    }
    for fact in &graph.facts {
        let signal = graph.name(fact.signal);
        let owner = graph.pods.get(fact.pod).and_then(|task| task.owner);
        let Some((gang, pod)) = owner.and_then(|owner| gangs.get_mut(&owner)).zip(fact.pod) else {
            continue;
        };
        gang.waited |= graph.traits.is(signal, SignalClass::KeptWaiting);
        let is_gone = graph.traits.is(signal, SignalClass::PeerGone) && !graph.survived(fact);
        if is_gone {
            let first = gang.lost.entry(pod).or_insert(fact.time);
            *first = fact.time.min(*first);
        }
        if signal == named::LAUNCHER_ROOT_CAUSE {
            gang.launchers.insert(pod);
        }
        if is_gone || graph.traits.is(signal, SignalClass::NamesFailed) {
            let event = graph.evidence.event(fact.row).ok();
            let rank: Option<i32> =
                event.and_then(|event| event.attribute("failed_rank")?.parse().ok());
            gang.named.extend(rank);
        }
    }
    for gang in gangs.values().filter(|gang| !gang.waited) {
        let Some((silent, time)) = gang.silent(graph, ends) else {
            continue;
        };
        if let Some(end) = ends.get_mut(silent) {
            end.state = State::Died;
            end.mode = Mode::Exited;
            end.time = time;
        }
    }
}

impl Gang {
    /// The one member whose log ends before the others lost it, and between which times it did.
    fn silent(&self, graph: &EntityGraph, ends: &Table<Task, End>) -> Option<(TaskRow, Stamp)> {
        let state = |member: &TaskRow| ends.get(*member).map(|end| end.state);
        let has_lost = |member: &&TaskRow| {
            self.lost.contains_key(*member) && state(member) == Some(State::Died)
        };
        let others: Vec<&TaskRow> = self.members.iter().filter(has_lost).collect();
        let lost = others.iter().filter_map(|other| self.lost.get(*other));
        let lost = lost.copied().filter(|lost| *lost != Stamp::OPEN).min()?;
        let mut silent = self.members.iter().filter(|member| {
            let task = graph.pods.get(**member);
            let last = task.and_then(|task| task.last_line);
            state(member) == Some(State::Running)
                && !self.lost.contains_key(*member)
                && last.is_some_and(|last| last.lo <= lost.hi.saturating_add(CLOCKS))
        });
        let named = self.named.first().filter(|_| self.named.len() == 1);
        let is_named = |member: &&TaskRow| {
            graph.pods.get(**member).and_then(|task| task.rank) == named.copied()
        };
        let one = match named {
            Some(_) => silent.clone().find(is_named),
            None => None,
        };
        // Nobody else may have been the one.
        let only = || {
            let one = silent.next()?;
            let apart = self
                .launchers
                .iter()
                .filter(|one| !self.lost.contains_key(*one));
            let rest = self.members.len().saturating_sub(apart.count());
            (silent.next().is_none() && others.len() + 1 == rest).then_some(one)
        };
        let one = *one.or_else(only)?;
        let own = graph.pods.get(one)?.last_line?;
        // Who writes little was there as long as the others made steps.
        let steps = others.iter().filter_map(|other| {
            let progress = graph.pods.get(**other)?.progress.as_deref()?;
            Some(progress.last.lo)
        });
        let together = steps
            .max()
            .filter(|last| *last > own.hi.saturating_add(CLOCKS));
        let time = Stamp {
            lo: together.unwrap_or(own.lo).min(lost.hi),
            hi: lost.hi.max(own.lo),
        };
        Some((one, time))
    }
}
