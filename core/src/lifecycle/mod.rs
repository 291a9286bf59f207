//! How each pod, instance and batch job ended: its deaths, or the state it is
//! stuck or well in.

mod backoff_limit;
mod helper;
mod instance;
mod job;
mod job_over;
mod last_words;
mod lingered;
mod loss;
mod missed;
mod not_seen_off;
mod pod;
mod pod_death;
mod silenced;
mod went_down;

use std::collections::HashMap;

use whathappened_model::table::Table;
use whathappened_model::time::{Nanos, SECOND, Stamp};

pub use helper::is_helpers;
pub use job::BatchState;
pub use job_over::is_operated;
pub use last_words::{given_up, signed_off};
pub(crate) use pod::failing_start;
pub(crate) use pod_death::ran_on_after;

use crate::graph::{EntityGraph, Exit, Task, TaskKind, WorkloadRow};

/// The longest time that pods are usually given to stop.
pub const LONGEST_GRACE: Nanos = 900 * SECOND;

/// How it stands with a pod at the end of what was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum State {
    Died,
    CrashLoop,
    NeverScheduled,
    StuckStarting,
    NotReady,
    Running,
    Completed,
}

/// In which way a pod died.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    /// Somebody asked for its end: a deletion, an eviction, a preemption.
    Killed,
    /// Its process ended by itself.
    Exited,
    /// Its node was lost.
    Lost,
    /// It has not died.
    None,
}

/// One end that was outlived: of a container by its pod, of an instance by a new start.
#[derive(Clone, Debug)]
pub struct Restart {
    /// How it ended.
    pub exit: Exit,
    /// In which way.
    pub mode: Mode,
}

/// How a pod ended.
#[derive(Clone, Debug)]
pub struct End {
    /// The state it was last seen in.
    pub state: State,
    /// How it died.
    pub mode: Mode,
    /// When it died, or since when it is in that state.
    pub time: Stamp,
    /// The end of the main container that tells most.
    pub exit: Option<Exit>,
    /// Ends of containers that were started again.
    pub restarts: Vec<Restart>,
}

impl State {
    /// The name used in tables and answers.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Died => "died",
            Self::CrashLoop => "crash_loop",
            Self::NeverScheduled => "never_scheduled",
            Self::StuckStarting => "stuck_starting",
            Self::NotReady => "not_ready",
            Self::Running => "running",
            Self::Completed => "completed",
        }
    }

    /// Whether something went wrong.
    #[must_use]
    pub fn is_bad(self) -> bool {
        !matches!(self, Self::Running | Self::Completed)
    }
}

impl Mode {
    /// The name used in tables and answers.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Killed => "killed",
            Self::Exited => "exited",
            Self::Lost => "lost",
            Self::None => "none",
        }
    }
}

impl End {
    /// When it was over, where it is over.
    #[must_use]
    pub fn final_time(&self) -> Option<Stamp> {
        matches!(self.state, State::Died | State::Completed).then_some(self.time)
    }
}

/// Trouble that lasts is told again within this long: the scheduler retries
/// within five minutes, a back-off lasts at most five.
const REPEATED_WITHIN: i64 = 600 * SECOND;

/// Whether a pod that was stuck may have got well or away since: only Events
/// tell of it, and they stopped long before the latest record.
#[must_use]
pub fn is_stale(graph: &EntityGraph, pod: &Task) -> bool {
    let last = pod.seen.map_or(i64::MIN, |(_, last)| last);
    pod.body.is_none()
        && graph
            .now
            .is_some_and(|now| last.saturating_add(REPEATED_WITHIN) < now)
}

/// When the last pod of each number of a workload was made.
fn last_begins(graph: &EntityGraph) -> HashMap<(WorkloadRow, i32), Nanos> {
    let mut found = HashMap::new();
    for pod in &graph.pods {
        if let (Some(owner), Some(rank), Some(begin)) = (pod.owner, pod.rank, pod.known_begin()) {
            let last = found.entry((owner, rank)).or_insert(begin);
            *last = begin.max(*last);
        }
    }
    found
}

/// The ends of all pods, by pod number.
#[must_use]
pub fn ends(graph: &EntityGraph) -> Table<Task, End> {
    let losses = loss::losses(graph);
    let done = instance::done(graph);
    let spent = backoff_limit::spent(graph);
    let crashes = instance::crashes(graph);
    let over = job_over::JobsOver::of(graph);
    let seen_off = not_seen_off::SeenOff::of(graph);
    let downs = went_down::Downs::of(graph);
    let missed = missed::Missed::of(graph);
    let last_begins = last_begins(graph);
    let mut ends = graph
        .pods
        .numbered()
        .map(|(number, one)| match one.kind {
            TaskKind::Pod | TaskKind::Log => {
                let around = pod::Surroundings {
                    losses: &losses,
                    spent: spent.get(&number).copied(),
                    job_over: over.by(graph, &losses, (number, one)),
                    next_begin: one.owner.zip(one.rank).and_then(|place| {
                        let last = last_begins.get(&place).copied();
                        last.filter(|last| one.known_begin().is_some_and(|own| own < *last))
                    }),
                    over_since: seen_off.over_since(graph, &losses, (number, one)),
                    others_ended: missed.others_of(number, one),
                };
                let end = downs.end(graph, one, pod::end(graph, one, &around));
                lingered::end(one, end)
            }
            TaskKind::Instance => {
                let crashes = crashes.get(&one.node).map_or(&[][..], Vec::as_slice);
                let end = instance::end(graph, one, done.get(&number).copied(), crashes, &downs);
                downs.end(graph, one, end)
            }
            TaskKind::Job => job::end(graph, one),
        })
        .collect();
    silenced::note(graph, &mut ends);
    ends
}
