//! Whether the rows of a segment of which not even an id can be read are in the store
//! again. Its name has a hash of its ids in the order in which they were written, and its
//! filter, which is kept when it is set aside, says which rows of its day may be them.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension as _, params};

use crate::db::has;
use crate::error::StoreError;
use crate::hot;
use crate::record::{Record, SortKey};
use crate::segment::{self, Filter, Rows, Segment, id_key};
use crate::store::Store;

/// Of so many rows at most each is left out once: a filter lets some pass that were not
/// in the segment.
const FEW: usize = 4_000;

/// Keeps the filter of a segment that is set aside.
pub(crate) fn keep(db: &Connection, segment: &Segment) -> rusqlite::Result<()> {
    db.execute(
        "INSERT OR REPLACE INTO damaged_ids (file, ids)
         SELECT ?2, ids FROM segments WHERE id = ?1",
        params![segment.id, segment.file],
    )?;
    Ok(())
}

/// Forgets the filters of segments that nobody tells of any more.
pub(crate) fn tidy(db: &Connection) -> rusqlite::Result<()> {
    db.execute(
        "DELETE FROM damaged_ids WHERE file NOT IN (SELECT file FROM damaged)",
        [],
    )?;
    Ok(())
}

fn filter_of(db: &Connection, file: &str) -> rusqlite::Result<Filter> {
    let bytes: Option<Vec<u8>> = match has(db, "damaged_ids")? {
        true => db
            .query_row(
                "SELECT ids FROM damaged_ids WHERE file = ?1",
                [file],
                |row| row.get(0),
            )
            .optional()?,
        false => None,
    };
    // None at all holds everything.
    Ok(Filter::from_bytes(&bytes.unwrap_or_default()))
}

/// The hash in a segment's name.
fn hash_in(file: &str) -> Option<&str> {
    let name = file.rsplit('/').next()?.strip_suffix(".parquet")?;
    let (_, hash) = name.split_once('-')?;
    (hash.len() == 16).then_some(hash)
}

/// Whether these ids, in their order and without one of them, are those of a name.
fn are_named<'a>(ids: impl Iterator<Item = &'a u128>, hash: &str) -> bool {
    let mut name = blake3::Hasher::new();
    for id in ids {
        name.update(&id.to_le_bytes());
    }
    name.finalize().to_hex().starts_with(hash)
}

impl Store {
    /// Whether a damaged segment's rows are all in others, as its name and its filter tell;
    /// `false` where that cannot be told.
    pub(crate) fn has_all_named<R: Record>(&self, lost: &Segment) -> Result<bool, StoreError> {
        let failed = || StoreError::database(&self.db_path);
        let Some(hash) = hash_in(&lost.file).filter(|_| lost.rows > 0) else {
            return Ok(false);
        };
        let filter = filter_of(&self.db, &lost.file).map_err(failed())?;
        let mut places: HashMap<u128, SortKey> = HashMap::new();
        let mut see = |row: &R| {
            let place = row.place();
            if filter.may_hold(id_key(place.id)) {
                places.insert(place.id, place);
            }
        };
        let live = segment::live(&self.db, R::TABLE, Some(lost.day)).map_err(failed())?;
        for one in live {
            for row in Rows::<R>::open(self.open_segment(&one)?)? {
                see(&row?);
            }
        }
        for hot in hot::of_day::<R>(&self.db, lost.day).map_err(failed())? {
            see(&hot.row);
        }
        let mut places: Vec<SortKey> = places.into_values().collect();
        places.sort();
        let ids: Vec<u128> = places.iter().map(|place| place.id).collect();
        let rows = usize::try_from(lost.rows).unwrap_or(usize::MAX);
        match ids.len().checked_sub(rows) {
            Some(0) => Ok(are_named(ids.iter(), hash)),
            Some(1) if rows <= FEW => Ok((0..ids.len()).any(|but| {
                let (before, behind) = (&ids[..but], &ids[but + 1..]);
                are_named(before.iter().chain(behind), hash)
            })),
            _ => Ok(false),
        }
    }
}
