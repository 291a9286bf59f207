//! Checksums of rows of the database: `SQLite` has none of its own, so a byte that a
//! disk changed within a text is another text and nothing else.

use rusqlite::Row;
use rusqlite::types::ValueRef;

/// Bytes of a checksum: chance is what it guards against.
const SUM: usize = 8;

/// What stands for the checksum of a row that was wrong and was changed since: it stays
/// as wrong as it was, until somebody repairs the store.
pub(crate) const WRONG: [u8; 1] = [0];

/// The checksum of some columns, each told from its neighbours by its length.
pub(crate) fn sum(columns: &[&[u8]]) -> [u8; SUM] {
    let mut hash = blake3::Hasher::new();
    for column in columns {
        hash.update(&(column.len() as u64).to_le_bytes());
        hash.update(column);
    }
    short(&hash)
}

/// The checksum of some columns of a row, whatever is in them.
pub(crate) fn columns_sum(
    row: &Row<'_>,
    columns: impl IntoIterator<Item = usize>,
) -> rusqlite::Result<[u8; SUM]> {
    let values = columns.into_iter().map(|column| row.get_ref(column));
    let values: Vec<ValueRef<'_>> = values.collect::<rusqlite::Result<_>>()?;
    Ok(values_sum(&values))
}

/// The checksum of some values: where the disk changed a value's type, that is another
/// sum, too.
pub(crate) fn values_sum(values: &[ValueRef<'_>]) -> [u8; SUM] {
    // Hashed in one piece: three dozen small ones of a row take several times as long.
    let mut row = Vec::with_capacity(256);
    for value in values {
        let mut take = |kind: u8, bytes: &[u8]| {
            row.push(kind);
            row.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
            row.extend_from_slice(bytes);
        };
        match value {
            ValueRef::Null => take(0, &[]),
            ValueRef::Integer(number) => take(1, &number.to_le_bytes()),
            ValueRef::Real(number) => take(2, &number.to_le_bytes()),
            ValueRef::Text(text) => take(3, text),
            ValueRef::Blob(bytes) => take(4, bytes),
        }
    }
    let mut hash = blake3::Hasher::new();
    short(hash.update(&row))
}

fn short(hash: &blake3::Hasher) -> [u8; SUM] {
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
