//! Machines' logs that name no zone: read as UTC, and at that time only if they are. Who is without power is silent at any rate.

use whathappened_core::evidence::Row;
use whathappened_core::graph::{Fact, TaskKind};
use whathappened_model::event::SourceKind;
use whathappened_model::time::{CLOCKS, Nanos, SECOND, Stamp};

use super::Bounds;
use crate::explain::edge::Edge;

/// What a machine writes of a pod's own process it writes this long after the pod's end at most.
const WRITES: Nanos = 60 * SECOND;

impl Bounds<'_> {
    /// Whether an edge leads from what a machine's kernel wrote by a clock whose zone nobody knows to what is known by another
    /// clock: that they fit to the second may be a chance, a whole number of hours apart.
    pub(super) fn is_of_another_zone(&self, edge: &Edge) -> bool {
        let names_no_zone = |fact: usize| {
            let fact = self.graph.facts.get(fact)?;
            let row = self.local(fact)?;
            Some((fact, row))
        };
        let Some((fact, row)) = names_no_zone(edge.cause) else {
            return false;
        };
        let is_by_the_same = edge.effect.is_some_and(|one| names_no_zone(one).is_some());
        let is_elsewhere = matches!(
            self.task().map(|task| task.kind),
            Some(TaskKind::Pod | TaskKind::Instance)
        );
        // What names the pod itself, and is told to be of its life, was in it.
        let names_it = fact.pod.is_some() && fact.pod == self.death.pod;
        is_elsewhere && !is_by_the_same && !names_it && !self.is_tied(row)
    }

    /// The record of a kernel's log whose zone nobody knows.
    fn local(&self, fact: &Fact) -> Option<&Row> {
        let row = self.graph.evidence.rows().get(fact.row);
        let signal = self.graph.name(fact.signal);
        let of_kernel = fact.source_kind == SourceKind::NodeLog
            && (signal.starts_with("gpu.") || signal.starts_with("kernel."));
        row.filter(|row| of_kernel && row.names_no_zone())
    }

    /// Whether the log of a record tells of a pod itself when that ended: it is in UTC.
    fn is_tied(&self, row: &Row) -> bool {
        self.graph.facts.iter().any(|fact| {
            let of_file = self
                .local(fact)
                .is_some_and(|other| other.file() == row.file());
            let pod = self.graph.pods.get(fact.pod.filter(|_| of_file));
            pod.is_some_and(|pod| {
                let ends = pod.exits.iter().map(|exit| exit.time);
                let is_end = |end: Stamp| {
                    let since = fact.time.lo.saturating_sub(end.hi);
                    (-WRITES..=CLOCKS).contains(&since)
                };
                ends.into_iter().any(is_end)
            })
        })
    }
}
