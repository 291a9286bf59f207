//! The table `coverage`: what every source could and could not show.

use whathappened_model::coverage::{Coverage, Status};
use whathappened_store::Table;

use super::column::Cell::{Long, Text, Time};
use super::column::{Column, long};
use super::links::Cases;
use super::shared_case::SharedCase;
use super::stored::StoredTables;
use crate::error::Error;

/// All rows, in order of (source, resource).
pub(super) fn rows(shared: &SharedCase) -> Box<dyn Iterator<Item = Coverage> + '_> {
    Box::new(shared.case.coverage.iter().cloned())
}

/// What sources said of themselves while the store was filled. Files say nothing of themselves
/// but where they fell short: what they held, and what nobody gave, is told of the last day.
pub(super) fn stored(stored: &StoredTables) -> Result<Vec<Coverage>, Error> {
    let mut rows = stored.look(|snapshot| {
        for table in [Table::Events, Table::Objects] {
            stored.look_at(snapshot, table)?;
        }
        Ok(snapshot.coverage()?)
    })?;
    let asked = rows.iter().any(|row| row.status == Status::Complete);
    if !asked {
        rows.extend(Cases::case(stored)?.coverage.iter().cloned());
    }
    rows.extend(stored.damage());
    rows.sort();
    rows.dedup();
    Ok(rows)
}

/// All columns, in order.
pub(super) const COLUMNS: &[Column<Coverage>] = &[
    Column::new(
        "source",
        Text(|row| Some(&row.source)),
        "configured name of the source; the connector's name for recorded input",
    ),
    Column::new(
        "resource",
        Text(|row| Some(&row.resource)),
        "what it was asked for: pods, events, audit, logs, …",
    ),
    Column::new(
        "cluster",
        Text(|row| row.cluster.as_deref()),
        "the cluster, where known",
    ),
    Column::new(
        "namespace",
        Text(|row| row.namespace.as_deref()),
        "the namespace, where the row is of one",
    ),
    Column::new(
        "mode",
        Text(|row| Some(row.mode.as_str())),
        "interval: everything between two times; snapshot: the state at one time",
    ),
    Column::new(
        "asked_from",
        Time(|row| row.asked_from),
        "start of what was asked for",
    ),
    Column::new(
        "asked_to",
        Time(|row| row.asked_to),
        "end of what was asked for",
    ),
    Column::new(
        "got_from",
        Time(|row| row.got_from),
        "start of what was obtained",
    ),
    Column::new("got_to", Time(|row| row.got_to), "end of what was obtained"),
    Column::new(
        "retention_s",
        Long(|row| row.retention_s),
        "how long the source keeps its data, in seconds",
    ),
    Column::new(
        "status",
        Text(|row| Some(row.status.as_str())),
        "complete, truncated, sampled, denied, failed, expired or not_configured",
    ),
    Column::new("rows", Long(|row| long(row.rows)), "records obtained"),
    Column::new(
        "detail",
        Text(|row| row.detail.as_deref()),
        "what fell short and why",
    ),
    Column::new(
        "would_have_shown",
        Text(|row| row.would_have_shown.as_deref()),
        "what a missing source would have shown",
    ),
];
