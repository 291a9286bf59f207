//! All that a store has beside facts and objects, as a lake is told of it.

use std::collections::BTreeSet;

use rusqlite::Connection;
use whathappened_model::time::Nanos;

use super::index_tables::CoverageRow;
use crate::catalogue::{CatalogueUpdate, Entity};
use crate::error::StoreError;
use crate::store::Store;

/// The entities that were heard of since `oldest`, and the names that they bear.
pub(super) fn catalogue(store: &Store, oldest: Nanos) -> Result<CatalogueUpdate, StoreError> {
    read_catalogue(&store.db, oldest).map_err(StoreError::database(&store.db_path))
}

fn read_catalogue(db: &Connection, oldest: Nanos) -> rusqlite::Result<CatalogueUpdate> {
    let mut all = CatalogueUpdate::default();
    let mut left = BTreeSet::new();
    let mut entities = db.prepare(
        "SELECT kind, namespace, name, uid, owner, node, first, last FROM entities
         WHERE last >= ?1 ORDER BY kind, namespace, name, uid",
    )?;
    let rows = entities.query_map([oldest], |row| {
        Ok(Entity {
            kind: row.get(0)?,
            namespace: row.get(1)?,
            name: row.get(2)?,
            uid: row.get(3)?,
            owner: row.get(4)?,
            node: row.get(5)?,
            first: row.get(6)?,
            last: row.get(7)?,
        })
    })?;
    for row in rows {
        let row = row?;
        left.insert(row.identity());
        all.known(&row);
    }
    let mut names = db.prepare("SELECT name, tier, bearer FROM names")?;
    let rows = names.query_map([], |row| {
        Ok((row.get(0)?, row.get::<_, i64>(1)?, row.get::<_, String>(2)?))
    })?;
    for row in rows {
        let (name, tier, bearer) = row?;
        if oldest == Nanos::MIN || left.contains(&bearer) {
            all.named(name, usize::try_from(tier).unwrap_or(0), bearer);
        }
    }
    Ok(all)
}

/// All rows of coverage, in order of their keys.
pub(super) fn coverage(store: &Store) -> Result<Vec<CoverageRow>, StoreError> {
    let read = || -> rusqlite::Result<Vec<CoverageRow>> {
        store
            .db
            .prepare("SELECT key, at, row FROM coverage ORDER BY key")?
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?, Some(row.get(2)?))))?
            .collect()
    };
    read().map_err(StoreError::database(&store.db_path))
}
