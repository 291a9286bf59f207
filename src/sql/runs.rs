//! The table `runs`: one root object each.

use whathappened_connectors::time::Nanos;
use whathappened_core::death::run_state;
use whathappened_store::Root;

use super::cell::Cell::{Long, Text, Time};
use super::cell::{Column, long, told};
use super::kept::Kept;
use super::shared::Shared;
use crate::case::Case;
use crate::error::Error;

/// A run as statements see it.
pub(super) struct Told {
    pub(super) experiment: String,
    run_id: String,
    pub(super) kind: String,
    pub(super) namespace: String,
    name: String,
    pub(super) state: &'static str,
    pub(super) start: Option<Nanos>,
    pub(super) end: Option<Nanos>,
    /// Not known of a store, which does not explain what nobody asks about.
    pub(super) attempts: Option<usize>,
    pub(super) pods: usize,
}

/// All runs, oldest first.
pub(super) fn rows(shared: &Shared) -> Box<dyn Iterator<Item = Told> + '_> {
    let case = &shared.case;
    Box::new(case.runs.iter().map(move |run| {
        let (_, kind, namespace, name) = run.names(&case.world);
        Told {
            experiment: run.experiment(&case.world).0,
            run_id: run.id(&case.world),
            kind: kind.to_owned(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            state: run_state(&case.world, run, &case.ends).as_str(),
            start: run.begin,
            end: over(case, &run.pods),
            attempts: Some(run.attempts.len()),
            pods: run.pods.len(),
        }
    }))
}

/// All runs that the store's catalogue knows, the latest last. How they stand
/// is not known there.
pub(super) fn kept(kept: &Kept) -> Result<Vec<Told>, Error> {
    let roots = kept.look(|snapshot| Ok(snapshot.roots(Nanos::MIN, Nanos::MAX)?))?;
    let told = |root: Root| Told {
        experiment: root.experiment.unwrap_or_else(|| root.name.clone()),
        run_id: root.uid,
        kind: root.kind,
        namespace: root.namespace,
        name: root.name,
        state: "",
        start: (root.first <= root.last).then_some(root.first),
        end: None,
        attempts: None,
        pods: usize::try_from(root.pods).unwrap_or(0),
    };
    Ok(roots.into_iter().map(told).collect())
}

/// First instant at which all of some pods were over, if all of them are.
pub(super) fn over(case: &Case, pods: &[u32]) -> Option<Nanos> {
    let end = |pod: &u32| {
        case.ends
            .get(*pod as usize)?
            .final_time()
            .and_then(told)
            .map(|end| end.hi)
    };
    pods.iter()
        .map(end)
        .collect::<Option<Vec<Nanos>>>()?
        .into_iter()
        .max()
}

/// All columns, in order.
pub(super) const COLUMNS: &[Column<Told>] = &[
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
        Text(|row| Some(row.state)),
        "completed, failed, deleted, pending or running, at the end of the input; NULL in a store",
    ),
    Column::new("start", Time(|row| row.start), "when it was made"),
    Column::new(
        "end",
        Time(|row| row.end),
        "when its last pod was over; NULL while one may live",
    ),
    Column::new(
        "attempts",
        Long(|row| row.attempts.and_then(long)),
        "generations of its gang",
    ),
    Column::new("pods", Long(|row| long(row.pods)), "pods it had in all"),
];
