//! Whether a run stood still from the moment in which something befell one of its machines: of a gang the last step that
//! any member tells of counts, and whose logs go on works on something else.

use std::collections::{HashMap, HashSet};

use whathappened_core::death::Death;
use whathappened_core::evidence::Row;
use whathappened_core::graph::{EntityGraph, Fact, Progress, Task};
use whathappened_core::resolve::Run;
use whathappened_core::symbols::Symbol;
use whathappened_model::time::{Nanos, SECOND};

use super::gang::is_gang;

/// Buffers, and what a program has to say of its failure, come within this time of its last step.
const LAST_WORDS: Nanos = 180 * SECOND;

/// What is asked to end says so, and its launcher.
const FAREWELL: Nanos = 60 * SECOND;

/// A launcher or a monitor of the collectives may write a line or two meanwhile.
const FEW: usize = 3;

/// What is known of the standstills of attempts.
pub(super) struct Standstills<'a> {
    graph: &'a EntityGraph,
    runs: &'a [Run],
    /// The last step of each attempt of a gang.
    steps: HashMap<(usize, u32), Option<&'a Progress>>,
    /// When the first lines were written after the last words that follow the last step, by its row.
    lines: HashMap<(usize, u32, u32), Vec<Nanos>>,
}

impl<'a> Standstills<'a> {
    pub(super) fn of(graph: &'a EntityGraph, runs: &'a [Run]) -> Self {
        Self {
            graph,
            runs,
            steps: HashMap::new(),
            lines: HashMap::new(),
        }
    }

    /// Whether steps of a death's attempt were told of well after a fact.
    pub(super) fn went_on_after(&mut self, fact: &Fact, death: &Death) -> Option<bool> {
        /// What was done before is told of this much later.
        const LATE: Nanos = 10 * SECOND;
        let steps = self.steps(death)?;
        let late = LATE.max(steps.usual().saturating_mul(3) / 2);
        Some(steps.last.lo > fact.time.hi.saturating_add(late))
    }

    /// What is known of the steps of a death's gang, or of its pod.
    fn steps(&mut self, death: &Death) -> Option<&'a Progress> {
        let (graph, runs) = (self.graph, self.runs);
        let own = || graph.pods.get(death.pod as usize)?.progress.as_deref();
        let of_gang = *self
            .steps
            .entry((death.run, death.attempt))
            .or_insert_with(|| last_step(graph, runs, death));
        of_gang.or_else(own)
    }

    /// Whether a fact came as the steps of a death's attempt stopped, long before the death; `None` where steps went on,
    /// or none are known.
    pub(super) fn began_with(&mut self, fact: &Fact, death: &Death) -> Option<bool> {
        let (graph, runs) = (self.graph, self.runs);
        let steps = self.steps(death)?;
        let stopped = steps.stopped_at(fact.time, death.time)?;
        if !stopped {
            return Some(false);
        }
        let from = steps.last.hi.saturating_add(LAST_WORDS);
        let lines = self
            .lines
            .entry((death.run, death.attempt, steps.row))
            .or_insert_with(|| lines_after(graph, runs, death, steps, from));
        let to = death.time.lo.saturating_sub(FAREWELL);
        let busy = lines.get(FEW - 1).is_some_and(|line| *line < to);
        Some(!busy)
    }
}

fn members<'a>(
    graph: &'a EntityGraph,
    runs: &'a [Run],
    death: &Death,
) -> impl Iterator<Item = &'a Task> {
    let attempts = runs.get(death.run).map(|run| run.attempts.as_slice());
    let before = (death.attempt as usize).saturating_sub(1);
    let attempt = attempts.and_then(|attempts| attempts.get(before));
    let pods = attempt.into_iter().flat_map(|attempt| &attempt.pods);
    pods.filter_map(|pod| graph.pods.get(*pod as usize))
}

/// What the log that tells of the last step of a gang's attempt tells of steps.
fn last_step<'a>(graph: &'a EntityGraph, runs: &'a [Run], death: &Death) -> Option<&'a Progress> {
    runs.get(death.run).filter(|run| is_gang(graph, run))?;
    let known = members(graph, runs, death).filter_map(|pod| pod.progress.as_deref());
    known.max_by_key(|progress| (progress.last, progress.reported))
}

/// When the first lines of the logs of an attempt were written from an instant on, no more than tell whether they went on.
fn lines_after(
    graph: &EntityGraph,
    runs: &[Run],
    death: &Death,
    steps: &Progress,
    from: Nanos,
) -> Vec<Nanos> {
    let names: HashSet<(Symbol, Symbol)> = members(graph, runs, death)
        .map(|pod| (pod.namespace, pod.name))
        .collect();
    let line = graph.evidence.symbols.find("log.line");
    // A batch job's output names no pod.
    let last_step = graph.evidence.rows().get(steps.row as usize);
    let output = last_step.filter(|row| !row.pod.is_some());
    let output = output.map(Row::file);
    let rows = graph.evidence.rows().iter();
    let mut found: Vec<Nanos> = rows
        .filter(|row| {
            Some(row.fact) == line
                && row.time.lo >= from
                && row.time.hi != Nanos::MAX
                && (names.contains(&(row.namespace, row.pod)) || output == Some(row.file()))
        })
        .map(|row| row.time.lo)
        .collect();
    found.sort_unstable();
    found.truncate(FEW);
    found
}
