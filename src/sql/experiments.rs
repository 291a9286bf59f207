//! The table `experiments`: all runs of one name in one namespace.

use std::collections::BTreeMap;
use std::sync::Arc;

use whathappened_core::death::RunState;
use whathappened_model::time::Nanos;

use super::column::Cell::{Long, Text, Texts, Time};
use super::column::{Column, long};
use super::rows::RowSource;
use super::runs;
use super::shared_case::SharedCase;
use super::stored::StoredTables;
use crate::error::Error;

/// The runs of one experiment.
pub(super) struct ExperimentRow {
    experiment: String,
    namespace: String,
    kinds: Vec<String>,
    runs: usize,
    attempts: Option<usize>,
    pods: usize,
    first: Option<Nanos>,
    newest: Option<Nanos>,
    state: Option<RunState>,
}

/// All experiments, in order of (experiment, namespace).
pub(super) fn rows() -> RowSource<SharedCase, ExperimentRow> {
    RowSource::Explain(Arc::new(|shared: Arc<SharedCase>| {
        Box::pin(async move { Ok(sums(runs::explained_rows(&shared).await?.into_iter())) })
    }))
}

/// Those that the store's catalogue knows, in the same order.
pub(super) fn stored(stored: &StoredTables) -> Result<Vec<ExperimentRow>, Error> {
    let mut runs = runs::stored(stored)?;
    runs.sort_by_key(|run| run.start);
    Ok(sums(runs.into_iter()))
}

/// Runs come oldest first, so the last one is the newest.
fn sums(runs: impl Iterator<Item = runs::RunRow>) -> Vec<ExperimentRow> {
    let mut sums: BTreeMap<(String, String), ExperimentRow> = BTreeMap::new();
    for run in runs {
        let key = (run.experiment.clone(), run.namespace.clone());
        let sum = sums.entry(key).or_insert_with(|| ExperimentRow {
            experiment: run.experiment.clone(),
            namespace: run.namespace.clone(),
            kinds: Vec::new(),
            runs: 0,
            attempts: None,
            pods: 0,
            first: run.start,
            newest: None,
            state: None,
        });
        if !sum.kinds.contains(&run.kind) {
            sum.kinds.push(run.kind);
        }
        sum.runs += 1;
        sum.attempts = match (sum.attempts, run.attempts) {
            (Some(a), Some(b)) => Some(a + b),
            (a, b) => a.or(b),
        };
        sum.pods += run.pods;
        sum.newest = run.start;
        sum.state = run.state;
    }
    sums.into_values().collect()
}

/// All columns, in order.
pub(super) const COLUMNS: &[Column<ExperimentRow>] = &[
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
        Long(|row| row.attempts.and_then(long)),
        "attempts of all of them",
    ),
    Column::new(
        "pods",
        Long(|row| long(row.pods)),
        "total number of their pods",
    ),
    Column::new(
        "first_start",
        Time(|row| row.first),
        "when the first run was created",
    ),
    Column::new(
        "newest_start",
        Time(|row| row.newest),
        "when the newest run was created",
    ),
    Column::new(
        "state",
        Text(|row| row.state.map(RunState::as_str)),
        "state of the newest run: completed, failed, deleted, pending, running or unknown; NULL in a store if it was not explained",
    ),
];
