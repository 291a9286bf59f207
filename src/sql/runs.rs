//! The table `runs`: one root object each.

use std::collections::HashMap;
use std::sync::Arc;

use whathappened_core::death::{RunState, run_state};
use whathappened_core::graph::TaskRow;
use whathappened_model::time::{Nanos, Stamp};

use super::column::Cell::{Long, Text, Time};
use super::column::{Column, long, reported};
use super::rows::RowSource;
use super::shared_case::SharedCase;
use super::stored::StoredTables;
use crate::answer::ListedRun;
use crate::case::Case;
use crate::error::Error;
use crate::report;

/// A run as statements see it.
pub(super) struct RunRow {
    pub(super) experiment: String,
    run_id: String,
    pub(super) kind: String,
    pub(super) namespace: String,
    name: String,
    /// Not known of a store, until somebody has it explained.
    pub(super) state: Option<RunState>,
    cause: Option<String>,
    owner: Option<String>,
    pub(super) start: Option<Nanos>,
    pub(super) end: Option<Nanos>,
    known_until: Option<Nanos>,
    /// Not known of a store, until somebody has it explained.
    pub(super) attempts: Option<usize>,
    pub(super) pods: usize,
}

/// All runs with what ended them, oldest first.
pub(super) fn explained() -> RowSource<SharedCase, RunRow> {
    RowSource::Explain(Arc::new(|shared: Arc<SharedCase>| {
        Box::pin(async move { explained_rows(&shared).await })
    }))
}

/// As above, for those who make other rows of them.
pub(super) async fn explained_rows(shared: &SharedCase) -> Result<Vec<RunRow>, Error> {
    let listed = report::listing(&shared.case).await?.into_iter();
    let mut listed: HashMap<String, ListedRun> = listed
        .filter_map(|one| Some((one.id.clone()?, one)))
        .collect();
    let reported = rows(shared).map(|run| match listed.remove(&run.run_id) {
        Some(known) => RunRow {
            cause: known.cause,
            state: known.state.or(run.state),
            ..run
        },
        None => run,
    });
    Ok(reported.collect())
}

/// All runs, oldest first; why they ended is not told.
fn rows(shared: &SharedCase) -> Box<dyn Iterator<Item = RunRow> + '_> {
    let case = &shared.case;
    Box::new(case.runs.iter().map(move |run| {
        let (_, kind, namespace, name) = run.names(&case.graph);
        RunRow {
            experiment: run.experiment(&case.graph).0,
            run_id: run.id(&case.graph),
            kind: kind.to_owned(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            state: Some(run_state(&case.graph, run, &case.ends)),
            cause: None,
            owner: report::owner(&case.graph, run),
            start: run.begin,
            end: over(case, &run.pods),
            known_until: report::heard_until(case, run),
            attempts: Some(run.attempts.len()),
            pods: run.pods.len(),
        }
    }))
}

/// All runs that the store's catalogue knows, the latest last. How they stand is known
/// of those that were explained.
pub(super) fn stored(stored: &StoredTables) -> Result<Vec<RunRow>, Error> {
    let reported = |one: ListedRun| {
        let start = one.seen.map(|(first, _)| first);
        let end = one.ended.as_deref().and_then(Stamp::parse);
        RunRow {
            experiment: one.experiment,
            run_id: one.id.unwrap_or_default(),
            kind: one.kind,
            namespace: one.namespace.unwrap_or_default(),
            name: one.name,
            state: one.state,
            cause: one.cause,
            owner: one.owner,
            start,
            end: end.map(|end| end.hi),
            known_until: one.last_heard,
            attempts: one.attempts,
            pods: usize::try_from(one.pods).unwrap_or(0),
        }
    };
    Ok(stored.runs()?.into_iter().map(reported).collect())
}

/// First instant at which all of some pods were over, if all of them are.
pub(super) fn over(case: &Case, pods: &[TaskRow]) -> Option<Nanos> {
    let end = |pod: &TaskRow| {
        case.ends
            .get(*pod)?
            .final_time()
            .and_then(reported)
            .map(|end| end.hi)
    };
    pods.iter()
        .map(end)
        .collect::<Option<Vec<Nanos>>>()?
        .into_iter()
        .max()
}

/// All columns, in order.
pub(super) const COLUMNS: &[Column<RunRow>] = &[
    Column::new(
        "experiment",
        Text(|row| Some(&row.experiment)),
        "label or annotation that names the experiment, else the root object's name",
    ),
    Column::new(
        "run_id",
        Text(|row| Some(&row.run_id)),
        "uid of the root object, else its names",
    ),
    Column::new(
        "kind",
        Text(|row| Some(&row.kind)),
        "kind of the root object",
    ),
    Column::new(
        "namespace",
        Text(|row| Some(&row.namespace)),
        "its namespace",
    ),
    Column::new("name", Text(|row| Some(&row.name)), "its name"),
    Column::new(
        "state",
        Text(|row| row.state.map(RunState::as_str)),
        "completed, failed, deleted, pending, running or unknown, at the end of the input; NULL in a store if it was not explained",
    ),
    Column::new(
        "cause",
        Text(|row| row.cause.as_deref()),
        "what ended it; NULL if nothing did, or in a store if it was not explained",
    ),
    Column::new(
        "owner",
        Text(|row| row.owner.as_deref()),
        "who created it, if known, else the owner named in its labels",
    ),
    Column::new("start", Time(|row| row.start), "when it was created"),
    Column::new(
        "end",
        Time(|row| row.end),
        "when its last pod ended; NULL while one may still be running",
    ),
    Column::new(
        "known_until",
        Time(|row| row.known_until),
        "time of the last record of its cluster: what is known of a run without an end ends here",
    ),
    Column::new(
        "attempts",
        Long(|row| row.attempts.and_then(long)),
        "number of attempts: how often its pods were started together",
    ),
    Column::new(
        "pods",
        Long(|row| long(row.pods)),
        "total number of its pods",
    ),
];
