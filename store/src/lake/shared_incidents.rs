//! What a service explained from a lake becomes the lake's: other services need not explain
//! it again, and Spark and the like see it.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension as _, params};
use whathappened_model::time::Nanos;

use super::index::Index;
use super::index_tables::{self, INCIDENTS};
use crate::error::StoreError;
use crate::incidents::StoredIncident;

/// What the lake has of each run: a sum over its incidents.
pub(super) const TABLE: &str = "CREATE TABLE IF NOT EXISTS lake_incidents (run TEXT PRIMARY KEY, sum BLOB NOT NULL) WITHOUT ROWID;";

/// Remembers that the lake has these incidents of one run.
pub(super) fn remember(
    db: &Connection,
    run: &str,
    incidents: &[StoredIncident],
) -> rusqlite::Result<()> {
    db.prepare_cached("INSERT OR REPLACE INTO lake_incidents (run, sum) VALUES (?1, ?2)")?
        .execute(params![run, sum(incidents)])
        .map(drop)
}

/// Two services that explain the same run at different times come to the same sum.
fn sum(incidents: &[StoredIncident]) -> [u8; 32] {
    let mut incidents: Vec<&StoredIncident> = incidents.iter().collect();
    incidents.sort_by(|a, b| a.id.cmp(&b.id));
    let mut hasher = blake3::Hasher::new();
    for one in incidents {
        for text in [&one.id, &one.ruleset, &one.answer] {
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        }
    }
    *hasher.finalize().as_bytes()
}

fn is_known(db: &Connection, run: &str, incidents: &[StoredIncident]) -> rusqlite::Result<bool> {
    let known: Option<Vec<u8>> = db
        .prepare_cached("SELECT sum FROM lake_incidents WHERE run = ?1")?
        .query_row([run], |row| row.get(0))
        .optional()?;
    Ok(known.is_some_and(|known| known == sum(incidents)))
}

impl Index {
    /// Adds to the lake the incidents that were explained here since `since` and that it does
    /// not have. Returns how many.
    ///
    /// # Errors
    /// When the lake cannot be written; they stay in the index.
    pub fn share_incidents(&mut self, since: Nanos, now: Nanos) -> Result<u64, StoreError> {
        let mut by_run: BTreeMap<String, Vec<StoredIncident>> = BTreeMap::new();
        for one in self.store.incidents_with_machines(since)? {
            by_run.entry(one.run_id.clone()).or_default().push(one);
        }
        let mut news = Vec::new();
        for (run, incidents) in by_run {
            let known = is_known(&self.store.db, &run, &incidents);
            if !known.map_err(StoreError::database(&self.store.db_path))? {
                news.extend(incidents);
            }
        }
        if news.is_empty() {
            return Ok(0);
        }
        let own = self.store.identity()?;
        self.write_as(&own, now);
        self.append(INCIDENTS, index_tables::of_incidents(&news), now)?;
        Ok(news.len() as u64)
    }
}
