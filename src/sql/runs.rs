//! The table `runs`: one root object each.

use whathappened_connectors::time::Nanos;
use whathappened_core::death::run_state;
use whathappened_core::resolve::{Root, Run};
use whathappened_core::world::World;

use super::cell::Cell::{Long, Text, Time};
use super::cell::{Column, long, told};
use super::shared::Shared;
use crate::case::Case;

/// Labels and annotations that name an experiment, the plainest first.
const LABELS: [&str; 5] = [
    "experiment",
    "experiment-name",
    "experiment_name",
    "run",
    "run-name",
];

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
    pub(super) attempts: usize,
    pub(super) pods: usize,
}

/// All runs, oldest first.
pub(super) fn rows(shared: &Shared) -> Box<dyn Iterator<Item = Told> + '_> {
    let case = &shared.case;
    Box::new(case.runs.iter().map(move |run| {
        let (_, kind, namespace, name) = run.names(&case.world);
        Told {
            experiment: experiment(&case.world, run).0,
            run_id: run.id(&case.world),
            kind: kind.to_owned(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            state: run_state(&case.world, run, &case.ends).as_str(),
            start: run.begin,
            end: over(case, &run.pods),
            attempts: run.attempts.len(),
            pods: run.pods.len(),
        }
    }))
}

/// The experiment of a run, by a label or annotation, else by the root's own
/// name; and what says so.
pub(super) fn experiment(world: &World, run: &Run) -> (String, String) {
    let root = match run.root {
        Root::Workload(root) => world
            .workloads
            .get(root as usize)
            .and_then(|one| one.body.as_ref()),
        Root::Pod(_) => None,
    };
    let pods = || {
        run.pods
            .iter()
            .filter_map(|pod| world.pods.get(*pod as usize)?.body.as_ref())
    };
    let found = LABELS.iter().find_map(|key| {
        root.into_iter().chain(pods()).find_map(|body| {
            let label = body.labels.get(*key).map(|value| (value, "label"));
            let (value, what) =
                label.or_else(|| Some((body.annotations.get(*key)?, "annotation")))?;
            (!value.is_empty()).then(|| (value.clone(), format!("{what} {key}")))
        })
    });
    let (_, kind, _, name) = run.names(world);
    found.unwrap_or_else(|| (name.to_owned(), format!("name of the {kind}")))
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
        "completed, failed, deleted, pending or running, at the end of the input",
    ),
    Column::new("start", Time(|row| row.start), "when it was made"),
    Column::new(
        "end",
        Time(|row| row.end),
        "when its last pod was over; NULL while one may live",
    ),
    Column::new(
        "attempts",
        Long(|row| long(row.attempts)),
        "generations of its gang",
    ),
    Column::new("pods", Long(|row| long(row.pods)), "pods it had in all"),
];
