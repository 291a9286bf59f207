//! Whether rows are in segments already. An id fixes its day, so only that
//! day's segments are asked.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use rusqlite::Connection;

use crate::day::Day;
use crate::error::StoreError;
use crate::record::Record;
use crate::segment::{self, Segment, id_key};

/// The rows of a day's segments that have one of these ids, and where each is.
pub(crate) fn known<R: Record>(
    db: &Connection,
    root: &Path,
    db_path: &Path,
    day: Day,
    ids: &HashSet<u128>,
) -> Result<HashMap<u128, (Segment, R)>, StoreError> {
    let mut found = HashMap::new();
    let live = segment::live(db, R::TABLE, Some(day)).map_err(StoreError::database(db_path))?;
    for one in live {
        let filter = segment::id_filter(db, one.id).map_err(StoreError::database(db_path))?;
        let suspects: HashSet<u128> = ids
            .iter()
            .filter(|id| filter.may_hold(id_key(**id)))
            .copied()
            .collect();
        if suspects.is_empty() {
            continue;
        }
        let path = one.path(root);
        let (mut number, mut hits) = (0, Vec::new());
        segment::ids(&path, &mut |id| {
            if suspects.contains(&id) {
                hits.push(number);
            }
            number += 1;
        })?;
        if !hits.is_empty() {
            for row in segment::at::<R>(&path, &hits)? {
                found.insert(row.place().id, (one.clone(), row));
            }
        }
    }
    Ok(found)
}
