//! Rows into the hot tier.

use std::collections::BTreeMap;

use rusqlite::Transaction;

use crate::day::Day;
use crate::error::StoreError;
use crate::hot::Hot;
use crate::record::Record;
use crate::store::Origin;
use crate::{damage, dedup, hot};

/// Writes rows to the hot tier, each merged with what is known of its id.
pub(crate) fn rows<R: Record>(
    tx: &Transaction<'_>,
    from: Origin<'_>,
    rows: Vec<R>,
) -> Result<u64, StoreError> {
    let db_path = from.db_path;
    let mut by_day: BTreeMap<Day, Vec<R>> = BTreeMap::new();
    let mut news = 0;
    for row in rows {
        let id = row.place().id;
        let hot = hot::get::<R>(tx, id).map_err(StoreError::database(db_path))?;
        let Some(hot) = hot.and_then(Hot::whole) else {
            by_day.entry(row.day()).or_default().push(row);
            continue;
        };
        let merged = hot.row.clone().merge(row);
        if merged != hot.row {
            news += 1;
            hot::put(tx, &merged, hot.replaces, hot.rev + 1)
                .map_err(StoreError::database(db_path))?;
        }
    }
    for (day, rows) in by_day {
        let ids = rows.iter().map(|row| row.place().id).collect();
        let known = dedup::known::<R>(tx, from, day, &ids)?;
        for (segment, why) in &known.damaged {
            damage::set_aside(tx, segment, &damage::why(why))
                .map_err(StoreError::database(db_path))?;
        }
        let known = known.rows;
        for row in rows {
            let id = row.place().id;
            // A batch may tell one fact twice.
            let before = hot::get::<R>(tx, id).map_err(StoreError::database(db_path))?;
            // A damaged copy gives way to what is told anew.
            let damaged = before.as_ref().filter(|hot| hot.row.is_none());
            let rev = damaged.map_or(1, |hot| hot.rev + 1);
            let is_damaged = damaged.is_some();
            let (merged, replaces, rev) = match (before.and_then(Hot::whole), known.get(&id)) {
                (Some(hot), _) => {
                    let merged = hot.row.clone().merge(row);
                    if merged == hot.row {
                        continue;
                    }
                    (merged, hot.replaces, hot.rev + 1)
                }
                (None, Some((segment, older))) => {
                    let merged = row.merge(older.clone());
                    if merged == *older && !is_damaged {
                        continue;
                    }
                    (merged, Some(segment.id), rev)
                }
                (None, None) => (row, None, rev),
            };
            news += 1;
            hot::put(tx, &merged, replaces, rev).map_err(StoreError::database(db_path))?;
        }
    }
    Ok(news)
}
