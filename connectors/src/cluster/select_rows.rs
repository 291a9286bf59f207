//! What is said of a list of which only what a question concerns was read.

use super::list::{ListOutcome, ListTarget};
use crate::coverage::Coverage;

/// The row of a target that was not read in full on purpose. What the question concerns is there,
/// so that it is no less complete; that the rest was not looked at is said.
pub(super) fn of(
    mut row: Coverage,
    target: &ListTarget,
    listed: &ListOutcome,
    total: Option<u64>,
) -> Coverage {
    let more = match total {
        Some(total) if total > listed.rows => format!(
            "read for this question only: {} of {total} {}; of the others, names, labels and owners",
            listed.rows, target.resource.plural
        ),
        None if target.resource.is_events() => {
            "read for this question only: the Events of its namespaces and nodes".to_owned()
        }
        _ => return row,
    };
    row.detail = Some(match row.detail {
        Some(detail) if !target.resource.is_events() || listed.oldest.is_some() => {
            format!("{detail}; {more}")
        }
        _ => more,
    });
    row
}
