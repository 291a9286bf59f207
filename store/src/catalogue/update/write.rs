//! How a catalogue gets what it does not know yet.

use rusqlite::{Connection, OptionalExtension as _, params};
use whathappened_model::time::Nanos;

use super::CatalogueUpdate;
use crate::catalogue::Entity;
use crate::catalogue::sums::{self, ENTITY};
use crate::row_checksum::WRONG;

/// Writes an entity; what is known already is widened. A row that was wrong stays so.
fn write_entity(db: &Connection, entity: &Entity) -> rusqlite::Result<()> {
    let mut one = entity.clone();
    let sql = format!(
        "SELECT {ENTITY}, sum FROM entities
         WHERE uid = ?1 AND kind = ?2 AND namespace = ?3 AND name = ?4"
    );
    let known = db
        .prepare_cached(&sql)?
        .query_row(params![one.uid, one.kind, one.namespace, one.name], |row| {
            let is_whole = sums::is_whole(row)?;
            let texts: (String, String) = (row.get(4)?, row.get(5)?);
            let times: (Nanos, Nanos) = (row.get(6)?, row.get(7)?);
            Ok((texts, times, is_whole))
        })
        .optional()?;
    let was_right = known.as_ref().is_none_or(|(.., is_whole)| *is_whole);
    if let Some(((owner, node), (first, last), _)) = known {
        one.first = one.first.min(first);
        one.last = one.last.max(last);
        if one.owner.is_empty() {
            one.owner.clone_from(&owner);
        }
        if one.node.is_empty() {
            one.node.clone_from(&node);
        }
        if (one.first, one.last) == (first, last) && one.owner == owner && one.node == node {
            return Ok(());
        }
    }
    let sum = sums::of_entity(&one);
    let sum: &[u8] = if was_right { &sum } else { &WRONG };
    db.prepare_cached(
        "INSERT INTO entities (uid, kind, namespace, name, owner, node, first, last, sum)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
         ON CONFLICT (uid, kind, namespace, name) DO UPDATE SET
           first = excluded.first, last = excluded.last, owner = excluded.owner,
           node = excluded.node, sum = excluded.sum",
    )?
    .execute(params![
        one.uid,
        one.kind,
        one.namespace,
        one.name,
        one.owner,
        one.node,
        one.first,
        one.last,
        sum
    ])?;
    Ok(())
}

impl CatalogueUpdate {
    /// How many pods a catalogue does not know, of those that lived on after `begins`.
    pub(crate) fn unknown_pods(&self, db: &Connection, begins: Nanos) -> rusqlite::Result<usize> {
        let mut known = db.prepare_cached(
            "SELECT 1 FROM entities WHERE name = ?1 AND namespace = ?2 AND kind = 'Pod'",
        )?;
        let mut unknown = 0;
        let pods = self.entities.iter().filter(|one| one.kind == "Pod");
        for pod in pods.filter(|pod| pod.first <= pod.last && pod.last >= begins) {
            unknown += usize::from(!known.exists([&pod.name, &pod.namespace])?);
        }
        Ok(unknown)
    }

    /// What of it a catalogue does not know yet.
    #[cfg(feature = "lake")]
    pub(crate) fn news(&self, db: &Connection) -> rusqlite::Result<Self> {
        let mut news = Self::default();
        let mut known = db.prepare_cached(
            "SELECT first <= ?5 AND last >= ?6 AND (?7 = '' OR owner = ?7) AND (?8 = '' OR node = ?8)
             FROM entities WHERE uid = ?1 AND kind = ?2 AND namespace = ?3 AND name = ?4",
        )?;
        for one in self.entities() {
            let is_known: Option<bool> = known
                .query_row(
                    params![
                        one.uid,
                        one.kind,
                        one.namespace,
                        one.name,
                        one.first,
                        one.last,
                        one.owner,
                        one.node
                    ],
                    |row| row.get(0),
                )
                .optional()?;
            if is_known != Some(true) {
                news.known(&one);
            }
        }
        let mut named =
            db.prepare_cached("SELECT 1 FROM names WHERE name = ?1 AND tier = ?2 AND bearer = ?3")?;
        for (name, tier, bearer) in &self.names {
            let tier_number = i64::try_from(*tier).unwrap_or(i64::MAX);
            if !named.exists(params![name, tier_number, bearer])? {
                news.named(name.clone(), *tier, bearer.clone());
            }
        }
        Ok(news)
    }

    /// Writes all of it; what is known already is widened.
    pub(crate) fn write(&self, db: &Connection) -> rusqlite::Result<()> {
        for life in &self.entities {
            write_entity(db, life)?;
        }
        let mut named = db.prepare_cached(
            "INSERT OR IGNORE INTO names (name, tier, bearer, sum) VALUES (?1, ?2, ?3, ?4)",
        )?;
        for (name, tier, bearer) in &self.names {
            let tier = i64::try_from(*tier).unwrap_or(i64::MAX);
            let sum = sums::of_name(name, tier, bearer);
            named.execute(params![name, tier, bearer, sum])?;
        }
        Ok(())
    }
}
