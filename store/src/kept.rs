//! What is kept beside facts and objects: cursors, coverage, incidents.

use rusqlite::{Connection, params};
use whathappened_connectors::connector::Cursor;
use whathappened_connectors::coverage::{Coverage, Status};
use whathappened_connectors::time::Nanos;

use crate::damage;
use crate::error::StoreError;
use crate::store::Store;

/// An incident as it was explained.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeptIncident {
    /// When its root happened.
    pub time: Option<Nanos>,
    /// What identifies it: run, attempt and root.
    pub id: String,
    /// The name that was asked for, or the run's own.
    pub experiment: String,
    /// The run.
    pub run_id: String,
    /// When it was explained.
    pub explained_at: Nanos,
    /// By which rules.
    pub ruleset: String,
    /// Names and ids of the machines that it is of.
    pub machines: Vec<String>,
    /// The incident as the answer has it, in JSON.
    pub answer: String,
}

pub(crate) fn set_cursors(db: &Connection, cursors: &[Cursor]) -> rusqlite::Result<()> {
    let mut set = db.prepare_cached(
        "INSERT OR REPLACE INTO cursors (place, resource, namespace, position, at)
         VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    for cursor in cursors {
        set.execute(params![
            cursor.place,
            cursor.resource,
            cursor.namespace,
            cursor.position,
            cursor.at
        ])?;
    }
    Ok(())
}

pub(crate) fn set_coverage(
    db: &Connection,
    rows: &[(String, Coverage)],
    at: Nanos,
) -> rusqlite::Result<()> {
    let mut set =
        db.prepare_cached("INSERT OR REPLACE INTO coverage (key, at, row) VALUES (?1, ?2, ?3)")?;
    for (key, row) in rows {
        let text = serde_json::to_string(row)
            .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
        set.execute(params![key, at, text])?;
    }
    Ok(())
}

impl Store {
    /// Where to go on with the resources of a source.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn cursors(&self, place: &str) -> Result<Vec<Cursor>, StoreError> {
        let read = || {
            self.db
                .prepare_cached(
                    "SELECT place, resource, namespace, position, at FROM cursors
                     WHERE place = ?1 ORDER BY resource, namespace",
                )?
                .query_map([place], |row| {
                    Ok(Cursor {
                        place: row.get(0)?,
                        resource: row.get(1)?,
                        namespace: row.get(2)?,
                        position: row.get(3)?,
                        at: row.get(4)?,
                    })
                })?
                .collect::<rusqlite::Result<_>>()
        };
        read().map_err(StoreError::database(&self.db_path))
    }

    /// Keeps what a source could and could not show. `key` names the stretch of
    /// collecting that the row is of; its last row counts.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn keep_coverage(
        &mut self,
        rows: &[(String, Coverage)],
        at: Nanos,
    ) -> Result<(), StoreError> {
        let mut write = || {
            let tx = self.db.transaction()?;
            set_coverage(&tx, rows, at)?;
            tx.commit()
        };
        write().map_err(StoreError::database(&self.db_path))
    }

    /// All kept coverage, and a row for each segment that was set aside, in order.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn coverage(&self) -> Result<Vec<Coverage>, StoreError> {
        let read = || -> rusqlite::Result<Vec<String>> {
            self.db
                .prepare_cached("SELECT row FROM coverage ORDER BY key")?
                .query_map([], |row| row.get(0))?
                .collect()
        };
        let texts = read().map_err(StoreError::database(&self.db_path))?;
        let mut rows = texts
            .iter()
            .map(|text| {
                serde_json::from_str(text)
                    .map_err(|error| StoreError::damaged(&self.db_path, error))
            })
            .collect::<Result<Vec<Coverage>, _>>()?;
        let damaged = damage::rows(&self.db).map_err(StoreError::database(&self.db_path))?;
        rows.extend(damaged);
        rows.extend(self.trouble()?.first().map(|first| Coverage {
            status: Status::Failed,
            detail: Some(format!(
                "the store's database is damaged: {first}; `whathappened store repair` makes it anew from the segments"
            )),
            ..Coverage::new("store", "database")
        }));
        rows.sort();
        Ok(rows)
    }

    /// Keeps incidents. Those of the same run that the same name was asked for
    /// before are replaced: the run is explained anew as more becomes known.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn keep_incidents(
        &mut self,
        runs: &[String],
        incidents: &[KeptIncident],
    ) -> Result<(), StoreError> {
        let mut write = || {
            let tx = self.db.transaction()?;
            for run in runs {
                tx.prepare_cached(
                    "DELETE FROM incident_machines WHERE incident IN
                       (SELECT id FROM incidents WHERE run_id = ?1)",
                )?
                .execute([run])?;
                tx.prepare_cached("DELETE FROM incidents WHERE run_id = ?1")?
                    .execute([run])?;
            }
            for one in incidents {
                tx.prepare_cached(
                    "INSERT OR REPLACE INTO incidents
                       (id, experiment, run_id, time, explained_at, ruleset, answer)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                )?
                .execute(params![
                    one.id,
                    one.experiment,
                    one.run_id,
                    one.time,
                    one.explained_at,
                    one.ruleset,
                    one.answer
                ])?;
                for machine in one.time.iter().flat_map(|_| &one.machines) {
                    tx.prepare_cached(
                        "INSERT OR IGNORE INTO incident_machines (name, time, incident)
                         VALUES (?1, ?2, ?3)",
                    )?
                    .execute(params![machine, one.time, one.id])?;
                }
            }
            tx.commit()
        };
        write().map_err(StoreError::database(&self.db_path))
    }

    /// Kept incidents, in order of (time, id).
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn incidents(&self) -> Result<Vec<KeptIncident>, StoreError> {
        incidents(&self.db, "1", &[]).map_err(StoreError::database(&self.db_path))
    }
}

/// The kept incidents of a condition, in order of (time, id). Of which machines
/// they are stands in their answers.
pub(crate) fn incidents(
    db: &Connection,
    condition: &str,
    values: &[&dyn rusqlite::ToSql],
) -> rusqlite::Result<Vec<KeptIncident>> {
    let sql = format!(
        "SELECT id, experiment, run_id, time, explained_at, ruleset, answer
         FROM incidents WHERE {condition} ORDER BY time, id"
    );
    db.prepare_cached(&sql)?
        .query_map(values, |row| {
            Ok(KeptIncident {
                id: row.get(0)?,
                experiment: row.get(1)?,
                run_id: row.get(2)?,
                time: row.get(3)?,
                explained_at: row.get(4)?,
                ruleset: row.get(5)?,
                machines: Vec::new(),
                answer: row.get(6)?,
            })
        })?
        .collect()
}
