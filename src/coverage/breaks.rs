//! Where a recorded watch broke, and between which of its records.

use std::collections::BTreeMap;

use whathappened_connectors::recording::Summary;
use whathappened_core::graph::EntityGraph;
use whathappened_core::symbols::Symbol;
use whathappened_model::coverage::{Coverage, Status, resource_of};
use whathappened_model::event::Origin;
use whathappened_model::time::Nanos;

/// What a reader of recordings says of such a place.
const BROKEN_WATCH: &str = "the recorded watch broke";

/// What the records around one break say of it.
#[derive(Default)]
struct Around {
    /// The latest time of a record before it: so far all was seen.
    from: Option<Nanos>,
    /// The earliest later time of a record after it.
    to: Option<Nanos>,
    /// The resource that the nearest record is of, and by how many lines it is off.
    of: Option<(u64, &'static str)>,
}

/// One row a break, on the resource that was watched.
pub(super) fn of(graph: &EntityGraph, summary: &Summary) -> Vec<Coverage> {
    let breaks = summary.rejected.iter();
    let breaks: Vec<_> = breaks
        .filter(|record| record.why.contains(BROKEN_WATCH))
        .collect();
    let mut around: BTreeMap<(Symbol, u64), Around> = BTreeMap::new();
    let place = |origin: &Origin| Some((graph.evidence.symbols.find(&origin.file)?, origin.line));
    for one in &breaks {
        around.extend(place(&one.origin).map(|place| (place, Around::default())));
    }
    if !around.is_empty() {
        before(graph, &mut around);
        after(graph, &mut around);
    }
    let row = |record: &&whathappened_connectors::recording::RejectedRecord| {
        let found = place(&record.origin).and_then(|place| around.get(&place));
        Coverage {
            status: Status::Truncated,
            asked_from: found.and_then(|around| around.from),
            asked_to: found.and_then(|around| around.to),
            detail: Some(format!("{}: {}", record.origin, record.why)),
            would_have_shown: Some("changes between the break and the next record".to_owned()),
            ..Coverage::new(
                "kubernetes",
                found
                    .and_then(|around| around.of)
                    .map_or("watch", |(_, resource)| resource),
            )
        }
    };
    breaks.iter().map(row).collect()
}

/// Until when each file was whole, and what it is of.
fn before(graph: &EntityGraph, around: &mut BTreeMap<(Symbol, u64), Around>) {
    for row in graph.evidence.rows() {
        for ((_, line), one) in around.range_mut((row.file(), 0)..=(row.file(), u64::MAX)) {
            let off = row.line().abs_diff(*line);
            if one.of.is_none_or(|(nearest, _)| off < nearest) {
                let resource = resource_of(row.source_kind(), graph.name(row.fact));
                one.of = Some((off, resource));
            }
            if row.line() < *line && row.time.hi != Nanos::MAX && row.time.lo != Nanos::MIN {
                one.from = one.from.max(Some(row.time.lo));
            }
        }
    }
}

/// What comes behind a break is a new list at first, with whatever was there long before.
fn after(graph: &EntityGraph, around: &mut BTreeMap<(Symbol, u64), Around>) {
    for row in graph.evidence.rows() {
        for ((_, line), one) in around.range_mut((row.file(), 0)..=(row.file(), u64::MAX)) {
            let at = Some(row.time.lo);
            if row.line() > *line && at > one.from && one.to.is_none_or(|to| row.time.lo < to) {
                one.to = at;
            }
        }
    }
}
