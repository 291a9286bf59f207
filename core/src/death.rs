//! Deaths, and the states that are as bad: what there is to explain.

mod before_end;
mod lingering;
mod other_zone;
mod run_state;
mod state;
mod whole_run;

use whathappened_model::table::Table;
use whathappened_model::time::{Nanos, SECOND, Stamp};

use crate::graph::{EntityGraph, Task, TaskRow};
use crate::lifecycle::{End, Mode, State};
use crate::resolve::Run;
use crate::signals::named;
use crate::stall;
use crate::symbols::Symbol;

pub use crate::stall::SLOW;
use before_end::{failed_before, wrong_before};
pub use run_state::{RunState, fails_now, has_failed, is_of_bare_pods, leader, run_state};
pub use state::DeathState;
pub use whole_run::failed_upon;
use whole_run::{deleted, failed_unseen, never_created, scaled_to_zero, short_of_members};

/// Something to explain.
#[derive(Clone, Debug)]
pub struct Death {
    /// Number of the run in [`crate::resolve::runs`].
    pub run: usize,
    /// The generation of the gang, from 1.
    pub attempt: u32,
    /// The pod; none where a run never got one.
    pub pod: Option<TaskRow>,
    /// What became of it.
    pub state: DeathState,
    /// In which way it died.
    pub mode: Mode,
    /// When, or since when.
    pub time: Stamp,
    /// Until when records can speak of it: the next start of its container.
    pub until: Option<Stamp>,
    /// Since when: the last end before, for containers that start again.
    pub since: Option<Stamp>,
    /// Exit code of the container that tells most.
    pub exit_code: Option<i32>,
    /// What its status claims.
    pub reason: Symbol,
    /// Which container.
    pub container: Symbol,
}

/// Whoever deletes a pod does so this long after it had failed, or does not know of it.
const TIDIED: Nanos = 60 * SECOND;

/// What a rank writes that waited for another one until its time was up.
pub(crate) const WAITED: &str = named::NCCL_TIMEOUT;

impl Death {
    /// A state in which no end of a container is known.
    #[must_use]
    pub fn without_end(
        run: usize,
        attempt: u32,
        pod: Option<TaskRow>,
        state: DeathState,
        time: Stamp,
    ) -> Self {
        Self {
            run,
            attempt,
            pod,
            state,
            mode: Mode::None,
            time,
            until: None,
            since: None,
            exit_code: None,
            reason: Symbol::NONE,
            container: Symbol::NONE,
        }
    }

    /// Where it stands among others by its pod: that of none last.
    #[must_use]
    pub fn pod_order(&self) -> impl Ord + use<> {
        (self.pod.is_none(), self.pod)
    }

    /// Puts deaths in order of (run, attempt, time, pod), those of no pod last.
    pub fn sort(deaths: &mut [Self]) {
        deaths.sort_by_key(|death| {
            let state = death.state.as_str();
            (
                death.run,
                death.attempt,
                death.time,
                death.pod_order(),
                state,
            )
        });
    }

    /// Whether it is no end but a state that goes on.
    #[must_use]
    pub fn goes_on(&self) -> bool {
        self.mode == Mode::None || self.state == DeathState::CrashLoop
    }
}

/// The deaths of some runs, in order of (run, attempt, time, pod), those of no pod last.
#[must_use]
pub fn deaths(
    graph: &EntityGraph,
    runs: &[Run],
    chosen: &[usize],
    ends: &Table<Task, End>,
) -> Vec<Death> {
    let mut found = Vec::new();
    let placed = other_zone::placed(graph, runs, ends);
    for number in chosen {
        let Some(run) = runs.get(*number) else {
            continue;
        };
        if run.pods.is_empty() {
            let never = never_created(graph, *number, run);
            let never = never.or_else(|| failed_unseen(graph, *number, run, ends));
            found.extend(never.or_else(|| deleted(graph, *number, run, ends)));
        } else {
            found.extend(failed_unseen(graph, *number, run, ends));
            let stalled = stall::stalled(graph, *number, run, ends);
            let stalled = stalled.or_else(|| stall::failing(graph, *number, run, ends));
            found.extend(stalled.or_else(|| stall::slow(graph, *number, run, ends)));
            found.extend(short_of_members(graph, *number, run, ends));
            found.extend(deleted(graph, *number, run, ends));
        }
        // Pods that went with it say so themselves.
        let died = |pod: &TaskRow| {
            let end = ends.get(*pod);
            end.is_some_and(|end| end.state == State::Died)
        };
        if !run.pods.iter().any(died) {
            found.extend(scaled_to_zero(graph, *number, run));
        }
        for (index, attempt) in run.attempts.iter().enumerate() {
            let attempt_number = u32::try_from(index).unwrap_or(0) + 1;
            for pod in attempt.pods.iter().filter(|pod| !placed.contains(pod)) {
                if let Some(end) = ends.get(*pod) {
                    let before = wrong_before(graph, *number, attempt_number, *pod, end);
                    let spoke = || graph.pods.get(*pod)?.last_words;
                    let failed =
                        || failed_before(graph, *number, attempt_number, *pod, (end, spoke()?));
                    if before.is_some() {
                        found.extend(before);
                    } else if let Some(failed) = failed() {
                        // What had ended is not ended again by who tidies up.
                        found.push(failed);
                        continue;
                    }
                    of_pod(*number, attempt_number, *pod, end, &mut found);
                }
            }
            lingering::lingering(graph, *number, (attempt_number, attempt), ends, &mut found);
        }
    }
    Death::sort(&mut found);
    found
}

fn of_pod(run: usize, attempt: u32, pod: TaskRow, end: &End, found: &mut Vec<Death>) {
    let mut since = None;
    for restart in &end.restarts {
        let exit = &restart.exit;
        // A container that ends well and starts again has lost nothing.
        if exit.exit_code != Some(0) {
            found.push(Death {
                run,
                attempt,
                pod: Some(pod),
                state: DeathState::Restarted,
                mode: restart.mode,
                time: exit.time,
                until: Some(exit.time),
                since,
                exit_code: exit.exit_code,
                reason: exit.reason,
                container: exit.container,
            });
        }
        since = Some(exit.time);
    }
    if let Some(state) = DeathState::of(end.state) {
        found.push(Death {
            run,
            attempt,
            pod: Some(pod),
            state,
            mode: end.mode,
            time: end.time,
            until: None,
            since: if end.state == State::CrashLoop {
                None
            } else {
                since
            },
            exit_code: end.exit.as_ref().and_then(|exit| exit.exit_code),
            reason: end.exit.as_ref().map_or(Symbol::NONE, |exit| exit.reason),
            container: end
                .exit
                .as_ref()
                .map_or(Symbol::NONE, |exit| exit.container),
        });
    }
}
