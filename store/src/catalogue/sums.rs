//! Checksums of the catalogue's rows, and what is done about those that are wrong.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row, params};

use super::Entity;
use crate::db::has_column;
use crate::row_checksum::{columns_sum, matches, values_sum};

/// The columns of an entity, in the order of their checksum.
pub(crate) const ENTITY: &str = "kind, namespace, name, uid, owner, node, first, last";

/// How many they are.
const ENTITY_COLUMNS: usize = 8;

/// Those of a name.
const NAME: &str = "name, tier, bearer";

/// How many they are.
const NAME_COLUMNS: usize = 3;

/// The checksum's column, which a store of before has not; it goes behind the others.
pub(crate) fn column(db: &Connection, table: &str) -> rusqlite::Result<&'static str> {
    Ok(match has_column(db, table, "sum")? {
        true => "sum",
        false => "NULL AS sum",
    })
}

/// Whether an entity's row, read by [`ENTITY`] and the checksum, is what was written.
pub(crate) fn is_whole(row: &Row<'_>) -> rusqlite::Result<bool> {
    Ok(matches(
        row.get_ref(ENTITY_COLUMNS)?,
        columns_sum(row, 0..ENTITY_COLUMNS)?,
    ))
}

/// The same for a name.
pub(super) fn is_name_whole(row: &Row<'_>) -> rusqlite::Result<bool> {
    Ok(matches(
        row.get_ref(NAME_COLUMNS)?,
        columns_sum(row, 0..NAME_COLUMNS)?,
    ))
}

/// What an entity is written with.
pub(super) fn of_entity(one: &Entity) -> [u8; 8] {
    values_sum(&[
        ValueRef::Text(one.kind.as_bytes()),
        ValueRef::Text(one.namespace.as_bytes()),
        ValueRef::Text(one.name.as_bytes()),
        ValueRef::Text(one.uid.as_bytes()),
        ValueRef::Text(one.owner.as_bytes()),
        ValueRef::Text(one.node.as_bytes()),
        ValueRef::Integer(one.first),
        ValueRef::Integer(one.last),
    ])
}

/// What a name is written with.
pub(super) fn of_name(name: &str, tier: i64, bearer: &str) -> [u8; 8] {
    values_sum(&[
        ValueRef::Text(name.as_bytes()),
        ValueRef::Integer(tier),
        ValueRef::Text(bearer.as_bytes()),
    ])
}

/// Rowids of entities that are not what was written.
fn wrong_entities(db: &Connection) -> rusqlite::Result<Vec<i64>> {
    let sum = column(db, "entities")?;
    let mut statement = db.prepare(&format!("SELECT {ENTITY}, {sum}, id FROM entities"))?;
    let mut rows = statement.query([])?;
    let mut wrong = Vec::new();
    while let Some(row) = rows.next()? {
        if !is_whole(row)? {
            wrong.push(row.get("id")?);
        }
    }
    Ok(wrong)
}

/// Names that are not what was written, as they are.
fn wrong_names(db: &Connection) -> rusqlite::Result<Vec<[rusqlite::types::Value; 3]>> {
    let sum = column(db, "names")?;
    let mut statement = db.prepare(&format!("SELECT {NAME}, {sum} FROM names"))?;
    let mut rows = statement.query([])?;
    let mut wrong = Vec::new();
    while let Some(row) = rows.next()? {
        if !is_name_whole(row)? {
            wrong.push([row.get(0)?, row.get(1)?, row.get(2)?]);
        }
    }
    Ok(wrong)
}

/// How many rows of the catalogue are not what was written. All of it is read.
pub(crate) fn count_wrong(db: &Connection) -> rusqlite::Result<usize> {
    Ok(wrong_entities(db)?.len() + wrong_names(db)?.len())
}

/// Removes them; how many they were. What they told of is written anew by whoever reads
/// the segments.
pub(crate) fn forget_wrong(db: &Connection) -> rusqlite::Result<usize> {
    let (entities, names) = (wrong_entities(db)?, wrong_names(db)?);
    for id in &entities {
        db.prepare_cached("DELETE FROM entities WHERE id = ?1")?
            .execute([id])?;
    }
    for [name, tier, bearer] in &names {
        db.prepare_cached("DELETE FROM names WHERE name = ?1 AND tier = ?2 AND bearer = ?3")?
            .execute(params![name, tier, bearer])?;
    }
    Ok(entities.len() + names.len())
}

/// Whether an older program wrote some rows.
pub(crate) fn lacks_sums(db: &Connection) -> rusqlite::Result<bool> {
    Ok(db
        .prepare("SELECT 1 FROM entities WHERE sum IS NULL")?
        .exists([])?
        || db
            .prepare("SELECT 1 FROM names WHERE sum IS NULL")?
            .exists([])?)
}

/// Gives checksums to the rows that an older program wrote.
pub(crate) fn keep_missing_sums(db: &Connection) -> rusqlite::Result<()> {
    let sql = format!("SELECT {ENTITY}, id FROM entities WHERE sum IS NULL");
    let sum = |row: &Row<'_>| Ok((columns_sum(row, 0..ENTITY_COLUMNS)?, row.get("id")?));
    let rows: Vec<([u8; 8], i64)> = db
        .prepare(&sql)?
        .query_map([], sum)?
        .collect::<rusqlite::Result<_>>()?;
    let mut keep = db.prepare_cached("UPDATE entities SET sum = ?1 WHERE id = ?2")?;
    for (sum, id) in rows {
        keep.execute(params![sum, id])?;
    }
    let names: Vec<(String, i64, String)> = db
        .prepare(&format!("SELECT {NAME} FROM names WHERE sum IS NULL"))?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let mut keep = db.prepare_cached(
        "UPDATE names SET sum = ?4 WHERE name = ?1 AND tier = ?2 AND bearer = ?3",
    )?;
    for (name, tier, bearer) in names {
        let sum = of_name(&name, tier, &bearer);
        keep.execute(params![name, tier, bearer, sum])?;
    }
    Ok(())
}
