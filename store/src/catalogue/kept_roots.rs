//! The roots of the whole catalogue, kept for as long as it says the same: of a million pods all are read to find
//! the few thousand that own them.

use rusqlite::{Connection, OptionalExtension as _, params};

use super::Root;
use crate::db::has;
use crate::row_checksum::{matches, sum};

/// What keeps them; readers do without.
pub(crate) const TABLE: &str = "
CREATE TABLE IF NOT EXISTS kept_roots (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  catalogue INTEGER NOT NULL,
  sum BLOB NOT NULL,
  body BLOB NOT NULL
);
";

/// Bytes of what is kept at most.
const MOST: usize = 32 << 20;

/// The roots of the catalogue as it is, if they are kept and are what was written.
pub(crate) fn read(db: &Connection, catalogue: i64) -> rusqlite::Result<Option<Vec<Root>>> {
    if !has(db, "kept_roots")? {
        return Ok(None);
    }
    let kept = db
        .prepare_cached("SELECT body, sum FROM kept_roots WHERE catalogue = ?1")?
        .query_row([catalogue], |row| {
            let body: Vec<u8> = row.get(0)?;
            let is_whole = matches(row.get_ref(1)?, sum_of(catalogue, &body));
            Ok(is_whole.then_some(body))
        })
        .optional()?;
    let body = kept
        .flatten()
        .and_then(|body| zstd::decode_all(body.as_slice()).ok());
    Ok(body.and_then(|body| postcard::from_bytes(&body).ok()))
}

/// Keeps them, unless they take too much.
pub(crate) fn write(db: &Connection, catalogue: i64, roots: &[Root]) -> rusqlite::Result<()> {
    let body = postcard::to_stdvec(roots)
        .ok()
        .and_then(|body| zstd::encode_all(body.as_slice(), 1).ok());
    let Some(body) = body.filter(|body| body.len() <= MOST) else {
        return Ok(());
    };
    db.execute(
        "INSERT OR REPLACE INTO kept_roots (one, catalogue, sum, body) VALUES (1, ?1, ?2, ?3)",
        params![catalogue, sum_of(catalogue, &body), body],
    )?;
    Ok(())
}

fn sum_of(catalogue: i64, body: &[u8]) -> [u8; 8] {
    sum(&[&catalogue.to_le_bytes(), body])
}
