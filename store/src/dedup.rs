//! Whether rows are in segments already. An id fixes its day, so only that
//! day's segments are asked.

use std::collections::{HashMap, HashSet};

use rusqlite::Connection;

use crate::day::Day;
use crate::elsewhere::FilterOf;
use crate::error::StoreError;
use crate::record::Record;
use crate::segment::{self, Segment, id_key};
use crate::store::Origin;

/// What a day's segments have of some ids.
pub(crate) struct ExistingRows<R> {
    /// The rows, and where each is.
    pub(crate) rows: HashMap<u128, (Segment, R)>,
    /// Segments that cannot be read, and why: what they have is not known.
    pub(crate) damaged: Vec<(Segment, StoreError)>,
}

/// The rows of a day's segments that have one of these ids.
pub(crate) fn known<R: Record>(
    db: &Connection,
    from: Origin<'_>,
    day: Day,
    ids: &HashSet<u128>,
) -> Result<ExistingRows<R>, StoreError> {
    let (mut rows, mut damaged) = (HashMap::new(), Vec::new());
    let live =
        segment::live(db, R::TABLE, Some(day)).map_err(StoreError::database(from.db_path))?;
    if let Some(keeper) = from.keeper {
        let files: Vec<&str> = live.iter().map(|one| one.file.as_str()).collect();
        keeper
            .prefetch_filters(&files, FilterOf::Ids)
            .map_err(|error| StoreError::elsewhere(R::TABLE.as_str(), error))?;
    }
    for one in live {
        let listed = segment::filter(db, from, &one, FilterOf::Ids)?;
        if !listed.is_whole {
            tracing::error!(
                segment = one.file,
                "what the index says of {} is damaged: its ids are read instead",
                one.file
            );
        }
        let filter = listed.filter;
        let suspects: HashSet<u128> = ids
            .iter()
            .filter(|id| filter.may_hold(id_key(**id)))
            .copied()
            .collect();
        if suspects.is_empty() {
            continue;
        }
        let read = || {
            let file = segment::open(db, from, &one)?;
            let (mut number, mut hits) = (0, Vec::new());
            segment::ids(file.clone(), &mut |id| {
                if suspects.contains(&id) {
                    hits.push(number);
                }
                number += 1;
            })?;
            if hits.is_empty() {
                return Ok(Vec::new());
            }
            segment::at::<R>(file, &hits)
        };
        match read() {
            Ok(found) => rows.extend(
                found
                    .into_iter()
                    .map(|row: R| (row.place().id, (one.clone(), row))),
            ),
            Err(error) if error.is_damage() => damaged.push((one, error)),
            Err(error) => return Err(error),
        }
    }
    Ok(ExistingRows { rows, damaged })
}
