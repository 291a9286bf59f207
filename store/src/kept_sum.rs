//! Checksums of rows of the database: `SQLite` has none of its own, so a byte that a
//! disk changed within a text is another text and nothing else.

use rusqlite::types::ValueRef;

/// Bytes of a checksum: chance is what it guards against.
const SUM: usize = 8;

/// The checksum of some columns, each told from its neighbours by its length.
pub(crate) fn sum(columns: &[&[u8]]) -> [u8; SUM] {
    let mut hash = blake3::Hasher::new();
    for column in columns {
        hash.update(&(column.len() as u64).to_le_bytes());
        hash.update(column);
    }
    let mut sum = [0; SUM];
    sum.copy_from_slice(&hash.finalize().as_bytes()[..SUM]);
    sum
}

/// Whether a row has the checksum that is kept with it. A row of an older program has none.
pub(crate) fn matches(kept: ValueRef<'_>, sum: [u8; SUM]) -> bool {
    match kept {
        ValueRef::Null => true,
        ValueRef::Blob(kept) => kept == sum,
        _ => false,
    }
}
