//! The records behind the rows of a timeline, as they were read, for a page that has to do without the input.

use std::collections::{BTreeMap, HashSet};

use whathappened_model::event::EventId;

use crate::answer::{DrawnRecord, TimelineRow};
use crate::case::Case;
use crate::error::Error;

/// The first record of each of some rows, by its id.
///
/// # Errors
/// When facts cannot be read back.
pub fn records<'a>(
    case: &Case,
    rows: impl IntoIterator<Item = &'a TimelineRow>,
) -> Result<BTreeMap<String, DrawnRecord>, Error> {
    let id = |row: &TimelineRow| u128::from_str_radix(row.event_ids.first()?, 16).ok();
    let wanted: HashSet<EventId> = rows.into_iter().filter_map(id).map(EventId).collect();
    let mut found = BTreeMap::new();
    let evidence = &case.graph.evidence;
    for (number, row) in evidence.rows().numbered() {
        if !wanted.contains(&row.id) {
            continue;
        }
        let event = evidence.event(number)?;
        let record = DrawnRecord {
            place: event.origin.to_string(),
            raw: Some(event.raw).filter(|raw| !raw.is_empty()),
        };
        found.insert(event.id.to_string(), record);
    }
    Ok(found)
}
