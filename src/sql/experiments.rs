//! The table `experiments`: all runs of one name in one namespace.

use std::collections::BTreeMap;

use whathappened_connectors::time::Nanos;

use super::cell::Cell::{Long, Text, Texts, Time};
use super::cell::{Column, long};
use super::runs;
use super::shared::Shared;

/// The runs of one experiment.
pub(super) struct Sum {
    experiment: String,
    namespace: String,
    kinds: Vec<String>,
    runs: usize,
    attempts: usize,
    pods: usize,
    first: Option<Nanos>,
    newest: Option<Nanos>,
    state: &'static str,
}

/// All experiments, in order of (experiment, namespace).
pub(super) fn rows(shared: &Shared) -> Box<dyn Iterator<Item = Sum> + '_> {
    let mut sums: BTreeMap<(String, String), Sum> = BTreeMap::new();
    // Runs come oldest first, so the last one is the newest.
    for run in runs::rows(shared) {
        let key = (run.experiment.clone(), run.namespace.clone());
        let sum = sums.entry(key).or_insert_with(|| Sum {
            experiment: run.experiment.clone(),
            namespace: run.namespace.clone(),
            kinds: Vec::new(),
            runs: 0,
            attempts: 0,
            pods: 0,
            first: run.start,
            newest: None,
            state: run.state,
        });
        if !sum.kinds.contains(&run.kind) {
            sum.kinds.push(run.kind);
        }
        sum.runs += 1;
        sum.attempts += run.attempts;
        sum.pods += run.pods;
        sum.newest = run.start;
        sum.state = run.state;
    }
    Box::new(sums.into_values())
}

/// All columns, in order.
pub(super) const COLUMNS: &[Column<Sum>] = &[
    Column::new(
        "experiment",
        Text(|row| Some(&row.experiment)),
        "label or annotation that names the experiment, else the root object's name",
    ),
    Column::new(
        "namespace",
        Text(|row| Some(&row.namespace)),
        "its namespace",
    ),
    Column::new(
        "kinds",
        Texts(|row| row.kinds.clone()),
        "kinds of the root objects",
    ),
    Column::new("runs", Long(|row| long(row.runs)), "runs under that name"),
    Column::new(
        "attempts",
        Long(|row| long(row.attempts)),
        "generations of the gangs of all of them",
    ),
    Column::new("pods", Long(|row| long(row.pods)), "pods they had in all"),
    Column::new(
        "first_start",
        Time(|row| row.first),
        "when the first run was made",
    ),
    Column::new(
        "newest_start",
        Time(|row| row.newest),
        "when the newest run was made",
    ),
    Column::new(
        "state",
        Text(|row| Some(row.state)),
        "state of the newest run: completed, failed, deleted, pending or running",
    ),
];
