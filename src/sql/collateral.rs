//! The table `collateral`: pods that died because their gang was torn down.

use std::sync::Arc;

use super::column::Cell::{Int, Text, Time};
use super::column::{Column, instant};
use super::incidents::experiment_of;
use super::rows::RowSource;
use super::shared_case::SharedCase;
use super::stored::StoredTables;
use crate::answer::Victim;
use crate::error::Error;
use crate::fetch;

/// A pod and the incident that it followed.
pub(super) struct CollateralRow {
    experiment: String,
    run_id: Option<String>,
    cause: String,
    pod: Victim,
}

/// All of them, in order of the incidents.
pub(super) fn rows() -> RowSource<SharedCase, CollateralRow> {
    RowSource::Explain(Arc::new(|shared: Arc<SharedCase>| {
        Box::pin(async move {
            let answer = shared.everything().await?;
            let mut rows = Vec::new();
            for incident in &answer.incidents {
                let experiment = experiment_of(&shared.case, incident);
                rows.extend(incident.collateral.iter().map(|pod| CollateralRow {
                    experiment: experiment.clone(),
                    run_id: incident.run_id.clone(),
                    cause: incident.cause.clone(),
                    pod: pod.clone(),
                }));
            }
            Ok(rows)
        })
    }))
}

/// Those of the incidents that the store keeps.
pub(super) fn stored(stored: &StoredTables) -> Result<Vec<CollateralRow>, Error> {
    let mut rows = Vec::new();
    for (experiment, one) in stored.look(fetch::incidents_of_tables)? {
        let incident = one.incident;
        for pod in incident.collateral {
            rows.push(CollateralRow {
                experiment: experiment.clone(),
                run_id: incident.run_id.clone(),
                cause: incident.cause.clone(),
                pod,
            });
        }
    }
    Ok(rows)
}

/// All columns, in order.
pub(super) const COLUMNS: &[Column<CollateralRow>] = &[
    Column::new(
        "experiment",
        Text(|row| Some(&row.experiment)),
        "experiment of the incident",
    ),
    Column::new(
        "run_id",
        Text(|row| row.run_id.as_deref()),
        "run of the incident",
    ),
    Column::new(
        "cause",
        Text(|row| Some(&row.cause)),
        "cause of the incident",
    ),
    Column::new("pod", Text(|row| Some(&row.pod.pod)), "the pod"),
    Column::new(
        "namespace",
        Text(|row| row.pod.namespace.as_deref()),
        "its namespace",
    ),
    Column::new(
        "node",
        Text(|row| row.pod.node.as_deref()),
        "the node it was on",
    ),
    Column::new("rank", Int(|row| row.pod.rank), "its rank in the gang"),
    Column::new(
        "time",
        Time(|row| instant(row.pod.time.as_deref())),
        "when it died",
    ),
    Column::new(
        "exit_code",
        Int(|row| row.pod.exit_code),
        "exit code of its main container",
    ),
    Column::new(
        "reason",
        Text(|row| row.pod.reason.as_deref()),
        "what its status claims",
    ),
    Column::new(
        "how",
        Text(|row| Some(&row.pod.how)),
        "how it ended, in words",
    ),
];
