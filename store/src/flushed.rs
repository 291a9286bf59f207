//! Which segments of a store a lake has taken over already.

use std::collections::BTreeSet;

use rusqlite::Connection;

/// What a store remembers of the lakes that it was flushed or pushed to.
const TABLE: &str = "CREATE TABLE IF NOT EXISTS lake_pushed (lake TEXT NOT NULL, segment INTEGER NOT NULL, PRIMARY KEY (lake, segment)) WITHOUT ROWID;";

/// Makes room to remember it.
fn prepare(db: &Connection) -> rusqlite::Result<()> {
    db.execute_batch(TABLE)
}

/// The ids of the segments that the lake at `url` has.
pub(crate) fn segments(db: &Connection, url: &str) -> rusqlite::Result<BTreeSet<i64>> {
    prepare(db)?;
    db.prepare("SELECT segment FROM lake_pushed WHERE lake = ?1")?
        .query_map([url], |row| row.get(0))?
        .collect()
}

/// Remembers that the lake at `url` has a segment.
#[cfg(any(feature = "lake", test))]
pub(crate) fn remember(db: &Connection, url: &str, segment: i64) -> rusqlite::Result<()> {
    prepare(db)?;
    db.execute(
        "INSERT OR IGNORE INTO lake_pushed (lake, segment) VALUES (?1, ?2)",
        rusqlite::params![url, segment],
    )
    .map(drop)
}
