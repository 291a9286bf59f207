//! What is stopped or deleted once its workload says of itself that it is over: that is clearing up, and ended nothing.

use std::collections::HashSet;

use whathappened_core::death::{Death, DeathState, RunState, failed_upon, leader};
use whathappened_core::graph::{EntityGraph, Task, TaskRow};
use whathappened_core::lifecycle::{End, Mode};
use whathappened_core::resolve::Run;
use whathappened_core::signals::named;
use whathappened_model::table::{HasRow as _, Table};
use whathappened_model::time::Stamp;

use super::survived::gave_up;

/// What was cleared away after which runs.
pub(super) struct Cleared {
    /// The pods.
    pub(super) pods: HashSet<TaskRow>,
    /// Runs of which nothing but that is known, and when they failed.
    failed: Vec<(usize, Stamp)>,
    /// Runs that completed.
    completed: HashSet<usize>,
}

impl Cleared {
    pub(super) fn of(
        graph: &EntityGraph,
        runs: &[Run],
        states: &[(usize, RunState)],
        ends: &Table<Task, End>,
        deaths: &[Death],
    ) -> Self {
        let mut found = Self {
            pods: HashSet::new(),
            failed: Vec::new(),
            completed: HashSet::new(),
        };
        for (number, state) in states {
            let completed = *state == RunState::Completed;
            let Some(run) = runs.get(*number) else {
                continue;
            };
            // What a pod owns goes when it has ended, however it did.
            let leader = leader(graph, run);
            let end = ends.get(leader).filter(|_| state.is_over());
            let end = end.and_then(End::final_time);
            let Some(over) = end.or_else(|| over_since(graph, run, *state)) else {
                continue;
            };
            let own = || deaths.iter().filter(|death| death.run == *number);
            let was_cleared = |death: &&Death| {
                let pod = graph.pods.get(death.pod);
                let asked = pod.and_then(Task::first_asked).unwrap_or(death.time);
                let first = asked.min(death.time);
                // In the very second in which it failed, whatever had ended before that second's end may be why.
                let others = || {
                    own().any(|other| {
                        other.state == DeathState::Died
                            && other.pod != death.pod
                            && other.time.hi <= first.lo
                    })
                };
                let later = match completed {
                    true => first.hi > over.lo,
                    false => first.lo >= over.hi || first.lo >= over.lo && others(),
                };
                let killed = death.state == DeathState::Died && death.mode == Mode::Killed;
                let leads = leader.is_some() && death.pod == leader;
                killed && first != Stamp::OPEN && later && !leads
            };
            let pods: HashSet<TaskRow> = own()
                .filter(was_cleared)
                .filter_map(|one| one.pod)
                .collect();
            if completed {
                found.completed.insert(*number);
            }
            let is_all = own()
                .filter(|death| death.state != DeathState::Restarted)
                .all(|death| pods.has(death.pod));
            let broke = own().any(|death| {
                death.state == DeathState::Restarted && failed_upon(graph, run, death.time)
            });
            if !completed && !pods.is_empty() && is_all && !broke {
                found.failed.push((*number, over));
            }
            found.pods.extend(pods);
        }
        found
    }

    /// Whether a death is that of what was cleared away.
    pub(super) fn has(&self, death: &Death) -> bool {
        death.state == DeathState::Died && self.pods.has(death.pod)
    }

    /// Whether it is so of a run that completed: then there is nothing to explain.
    pub(super) fn is_of_completed(&self, death: &Death) -> bool {
        self.completed.contains(&death.run) && self.has(death)
    }

    /// What is left to explain of a run whose known ends were all clearing up: that it failed.
    pub(super) fn add_the_rest(&self, runs: &[Run], deaths: &mut Vec<Death>) {
        for (run, over) in &self.failed {
            deaths.push(gave_up(runs, *run, *over));
        }
        if !self.failed.is_empty() {
            Death::sort(deaths);
        }
    }
}

/// Since when a run's workload says that it is over, where it made no pods since. A Job of Kubernetes' own says that it fails
/// before it stops its pods, and what it stops is told of as such.
fn over_since(graph: &EntityGraph, run: &Run, state: RunState) -> Option<Stamp> {
    let signals: &[&str] = match state {
        RunState::Completed => &[named::K8S_WORKLOAD_COMPLETED],
        RunState::Failed => &[
            named::K8S_WORKLOAD_FAILED,
            named::K8S_WORKLOAD_BACKOFF_LIMIT,
        ],
        _ => return None,
    };
    let root = run.root.workload()?;
    let kind = graph.name(graph.workloads.get(root)?.kind);
    // Whose time is up is stopped for that, after its workload has said so.
    let is_out_of_time = graph.says(root, named::K8S_WORKLOAD_DEADLINE);
    if state == RunState::Failed && (kind == "Job" || is_out_of_time) {
        return None;
    }
    let cleared = graph.facts.iter().filter(|fact| {
        fact.workload == Some(root)
            && signals.contains(&graph.name(fact.signal))
            && fact.time != Stamp::OPEN
            && run.is_recorded_since_start(graph, fact.time)
    });
    cleared.map(|fact| fact.time).min()
}
