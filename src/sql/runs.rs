//! The table `runs`: one root object each.

use std::collections::HashMap;
use std::sync::Arc;

use whathappened_connectors::time::{Nanos, Stamp};
use whathappened_core::death::run_state;

use super::cell::Cell::{Long, Text, Time};
use super::cell::{Column, long, told};
use super::kept::Kept;
use super::rows::Fill;
use super::shared::Shared;
use crate::answer::Listed;
use crate::case::Case;
use crate::error::Error;
use crate::{assemble, gather};

/// A run as statements see it.
pub(super) struct Told {
    pub(super) experiment: String,
    run_id: String,
    pub(super) kind: String,
    pub(super) namespace: String,
    name: String,
    /// Empty where it is not known: of a store, until somebody has it explained.
    pub(super) state: String,
    cause: Option<String>,
    owner: Option<String>,
    pub(super) start: Option<Nanos>,
    pub(super) end: Option<Nanos>,
    /// Not known of a store, until somebody has it explained.
    pub(super) attempts: Option<usize>,
    pub(super) pods: usize,
}

/// All runs with what ended them, oldest first.
pub(super) fn explained() -> Fill<Shared, Told> {
    Fill::Explain(Arc::new(|shared: Arc<Shared>| {
        Box::pin(async move {
            let mut causes: HashMap<String, String> = HashMap::new();
            for one in assemble::listing(&shared.case).await? {
                causes.extend(one.id.zip(one.cause));
            }
            let told = rows(&shared).map(|run| Told {
                cause: causes.get(&run.run_id).cloned(),
                ..run
            });
            Ok(told.collect())
        })
    }))
}

/// All runs, oldest first; why they ended is not told.
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
            state: run_state(&case.world, run, &case.ends).as_str().to_owned(),
            cause: None,
            owner: assemble::owner(&case.world, run),
            start: run.begin,
            end: over(case, &run.pods),
            attempts: Some(run.attempts.len()),
            pods: run.pods.len(),
        }
    }))
}

/// All runs that the store's catalogue knows, the latest last. How they stand is known
/// of those that were explained.
pub(super) fn kept(kept: &Kept) -> Result<Vec<Told>, Error> {
    let always = (Nanos::MIN, Nanos::MAX);
    let listed = kept.look(|snapshot| gather::listed(snapshot, always))?;
    let told = |one: Listed| {
        let start = one.seen.map(|(first, _)| first);
        let end = one.ended.as_deref().and_then(Stamp::parse);
        Told {
            experiment: one.experiment,
            run_id: one.id.unwrap_or_default(),
            kind: one.kind,
            namespace: one.namespace.unwrap_or_default(),
            name: one.name,
            state: one.state.unwrap_or_default(),
            cause: one.cause,
            owner: one.owner,
            start,
            end: end.map(|end| end.hi),
            attempts: one.attempts,
            pods: usize::try_from(one.pods).unwrap_or(0),
        }
    };
    Ok(listed.into_iter().rev().map(told).collect())
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
        Text(|row| Some(&row.state)),
        "completed, failed, deleted, pending or running, at the end of the input; NULL in a store for what nobody explained",
    ),
    Column::new(
        "cause",
        Text(|row| row.cause.as_deref()),
        "what ended it; NULL where nothing did, and in a store for what nobody explained",
    ),
    Column::new(
        "owner",
        Text(|row| row.owner.as_deref()),
        "who made it, where that was seen, else whom its labels name",
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
