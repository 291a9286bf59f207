//! Whether a run stood still from the moment in which something befell one of its machines: of a gang the last step that
//! any member tells of counts, and whose logs go on works on something else.

use std::collections::{HashMap, HashSet};

use whathappened_core::death::Death;
use whathappened_core::evidence::{EvidenceRow, Row};
use whathappened_core::graph::{EntityGraph, Fact, Progress, Task, TaskRow};
use whathappened_core::resolve::Run;
use whathappened_core::signals::SignalClass;
use whathappened_model::event::SourceKind;
use whathappened_model::table::HasRow as _;
use whathappened_model::time::{CLOCKS, Nanos, SECOND};

use super::gang::is_gang;
use super::tenants::Tenants;

/// Buffers, and what a program has to say of its failure, come within this time of its last step.
const LAST_WORDS: Nanos = 180 * SECOND;

/// What is asked to end says so, and its launcher.
const FAREWELL: Nanos = 60 * SECOND;

/// A launcher or a monitor of the collectives may write a line or two meanwhile.
const FEW: usize = 3;

/// Lines of a step's own are written this close to it, and clocks of a log and of its machine's differ no more.
const ASIDE: Nanos = SECOND;

/// A log in which a line comes this long after the last step was not cut off at it.
const HEARD: Nanos = 60 * SECOND;

/// Log stores give so many lines at once, or a multiple of it, where there are more.
const A_PAGE: usize = 100;

/// What is known of the standstills of attempts.
pub(super) struct Standstills<'a> {
    graph: &'a EntityGraph,
    runs: &'a [Run],
    tenants: Tenants,
    /// The last step of each attempt of a gang.
    steps: HashMap<(usize, u32), Option<&'a Progress>>,
    /// What the logs say around the last step, by its row.
    logs: HashMap<(usize, u32, EvidenceRow), Logs>,
}

/// Whether a run stood still since something befell one of its machines.
#[derive(Clone, Copy)]
pub(super) struct Standstill {
    /// It came as the steps stopped.
    pub(super) began: bool,
    /// It is the steps that stopped and not what is there of the log, and what failed was the run's own.
    pub(super) is_seen: bool,
}

/// When lines were written around the last step of an attempt.
struct Logs {
    /// The first after it that is none of its own, of a program that otherwise has nothing to say between two steps.
    turned: Option<Nanos>,
    /// The first ones after the last words that follow it.
    on: Vec<Nanos>,
    /// Whether the log that tells of the step seems to end with it only because more of it was not read.
    is_cut: bool,
}

impl<'a> Standstills<'a> {
    pub(super) fn of(graph: &'a EntityGraph, runs: &'a [Run]) -> Self {
        Self {
            graph,
            runs,
            tenants: Tenants::of(graph),
            steps: HashMap::new(),
            logs: HashMap::new(),
        }
    }

    /// Whether steps of a death's attempt were told of well after a fact.
    pub(super) fn went_on_after(&mut self, fact: &Fact, death: &Death) -> Option<bool> {
        /// What was done before is told of this much later.
        const LATE: Nanos = 10 * SECOND;
        let steps = self.steps(death)?;
        let late = LATE.max(steps.usual().saturating_mul(3) / 2);
        let since = fact.time.hi;
        // Of many steps that one line stands for some were made since.
        let went_on = || steps.went_on_after(since.saturating_add(CLOCKS), None);
        Some(steps.last.lo > since.saturating_add(late) || went_on())
    }

    /// What is known of the steps of a death's gang, or of its pod.
    fn steps(&mut self, death: &Death) -> Option<&'a Progress> {
        let (graph, runs) = (self.graph, self.runs);
        let own = || graph.pods.get(death.pod)?.progress.as_deref();
        let of_gang = *self
            .steps
            .entry((death.run, death.attempt))
            .or_insert_with(|| last_step(graph, runs, death));
        of_gang.or_else(own)
    }

    /// Whether a fact came as the steps of a death's attempt stopped, long before the death; `None` where steps went on,
    /// or none are known.
    pub(super) fn since(&mut self, fact: &Fact, death: &Death) -> Option<Standstill> {
        const NOT: Standstill = Standstill {
            began: false,
            is_seen: false,
        };
        let (graph, runs) = (self.graph, self.runs);
        let steps = self.steps(death)?;
        let is_final = graph.traits.is(graph.name(fact.signal), SignalClass::Final);
        let stopped = steps.stopped_at(fact.time, death.time, is_final)?;
        // Who has made all steps makes no more, and the device of another pod stops none.
        let holds = |pod: &Task| pod.name == fact.holder;
        let is_anothers = fact.holder.is_some() && !members(graph, runs, death).any(holds);
        if !stopped || steps.is_done() || is_anothers {
            return Some(NOT);
        }
        let logs = self
            .logs
            .entry((death.run, death.attempt, steps.row))
            .or_insert_with(|| Logs::of(graph, runs, death, steps));
        let to = death.time.lo.saturating_sub(FAREWELL);
        let is_busy = logs.on.get(FEW - 1).is_some_and(|line| *line < to);
        let first = fact.time.lo.saturating_sub(ASIDE);
        let has_turned = logs.turned.is_some_and(|line| line < first);
        if is_busy || has_turned {
            return Some(NOT);
        }
        let is_own = fact.holder.is_some() || !self.tenants.are_several(graph, death.pod, fact);
        Some(Standstill {
            began: true,
            is_seen: !logs.is_cut && is_own,
        })
    }
}

impl Logs {
    fn of(graph: &EntityGraph, runs: &[Run], death: &Death, steps: &Progress) -> Self {
        let own: HashSet<TaskRow> = numbers(runs, death).collect();
        let line = graph.evidence.symbols.find("log.line");
        let last_step = graph.evidence.rows().get(steps.row);
        // A batch job's output names no pod.
        let output = last_step.filter(|row| !row.pod.is_some());
        let output = output.map(Row::file);
        let from = steps.pauses().map(|(from, _)| from).min();
        let from = from.unwrap_or(steps.last.lo);
        let writer = graph.pod_of_row.get(steps.row);
        let rows = graph.evidence.rows().iter().zip(&graph.pod_of_row);
        let mut lines: Vec<(Nanos, bool)> = rows
            .filter(|(row, pod)| {
                Some(row.fact) == line
                    && row.time.lo >= from
                    && row.time.hi != Nanos::MAX
                    && (own.has(**pod) || output == Some(row.file()))
            })
            .map(|(row, pod)| (row.time.lo, writer == Some(pod)))
            .collect();
        lines.sort_unstable();
        let between = |from: Nanos, to: Nanos| {
            let from = from.saturating_add(ASIDE);
            let first = lines.partition_point(|(time, _)| *time <= from);
            lines
                .get(first)
                .map(|(time, _)| *time)
                .filter(|time| *time < to)
        };
        let chats = steps
            .pauses()
            .any(|(from, to)| between(from, to.saturating_sub(ASIDE)).is_some());
        let turned = between(steps.last.hi, Nanos::MAX).filter(|_| !chats);
        let words = steps.last.hi.saturating_add(LAST_WORDS);
        let on = lines.iter().map(|(time, _)| *time);
        let heard = steps
            .last
            .hi
            .saturating_add(HEARD.max(steps.usual().saturating_mul(2)));
        Self {
            turned,
            on: on.filter(|time| *time >= words).take(FEW).collect(),
            is_cut: last_step.is_some_and(is_held_back)
                || !lines.iter().any(|(time, same)| *same && *time >= heard)
                    && last_step.is_some_and(|step| is_part(graph, step)),
        }
    }
}

/// Whether a step is one of which an experiment tracker tells: it keeps back what was logged last.
fn is_held_back(step: &Row) -> bool {
    step.source_kind() == SourceKind::Tracker
}

/// Whether a line is of a file that was put aside when it was full, or of a page of a store's answer.
fn is_part(graph: &EntityGraph, step: &Row) -> bool {
    let file = graph.name(step.file());
    let aside = file.rsplit_once(".log.").map(|(_, rest)| rest);
    if aside.is_some_and(|rest| rest.starts_with(|sign: char| sign.is_ascii_digit())) {
        return true;
    }
    let is_of_store = step.source_kind().is_log_store();
    let rows = graph.evidence.rows().iter();
    let same = |row: &&Row| row.fact == step.fact && row.file() == step.file();
    is_of_store && rows.filter(same).count().is_multiple_of(A_PAGE)
}

fn members<'a>(
    graph: &'a EntityGraph,
    runs: &'a [Run],
    death: &Death,
) -> impl Iterator<Item = &'a Task> {
    numbers(runs, death).filter_map(|pod| graph.pods.get(pod))
}

fn numbers<'a>(runs: &'a [Run], death: &Death) -> impl Iterator<Item = TaskRow> + use<'a> {
    let run = runs.get(death.run);
    let attempt = run.and_then(|run| run.attempt(death.attempt));
    attempt
        .into_iter()
        .flat_map(|attempt| &attempt.pods)
        .copied()
}

/// What the log that tells of the last step of a gang's attempt tells of steps.
fn last_step<'a>(graph: &'a EntityGraph, runs: &'a [Run], death: &Death) -> Option<&'a Progress> {
    runs.get(death.run).filter(|run| is_gang(graph, run))?;
    let known = members(graph, runs, death).filter_map(|pod| pod.progress.as_deref());
    known.max_by_key(|progress| (progress.last, progress.reported))
}
