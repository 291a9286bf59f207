//! What is kept beside facts and objects: cursors, coverage, incidents.

use rusqlite::{Connection, OptionalExtension as _, params};
use whathappened_connectors::connector::Cursor;
use whathappened_connectors::coverage::{Coverage, Status};
use whathappened_connectors::time::Nanos;

use crate::damage;
use crate::error::StoreError;
use crate::store::Store;

/// An incident as it was explained.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StoredIncident {
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
    /// What the history of its verdicts notes, in JSON; nothing where it is empty, as it is
    /// of one that was read.
    pub verdict: String,
}

/// A verdict on an incident, as it was at some time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredVerdict {
    /// When it was first reached.
    pub explained_at: Nanos,
    /// What was noted of it, in JSON.
    pub verdict: String,
}

/// Verdicts on one incident that are kept, its latest ones.
const VERDICTS: u32 = 50;

/// Notes the verdict on an incident, where it is not the one that was reached last.
fn note_verdict(db: &Connection, one: &StoredIncident) -> rusqlite::Result<()> {
    let last: Option<String> = db
        .prepare_cached(
            "SELECT verdict FROM verdicts WHERE incident = ?1 ORDER BY explained_at DESC LIMIT 1",
        )?
        .query_row([&one.id], |row| row.get(0))
        .optional()?;
    if one.verdict.is_empty() || last.as_ref() == Some(&one.verdict) {
        return Ok(());
    }
    db.prepare_cached(
        "INSERT OR REPLACE INTO verdicts (incident, explained_at, verdict) VALUES (?1, ?2, ?3)",
    )?
    .execute(params![one.id, one.explained_at, one.verdict])?;
    db.prepare_cached(
        "DELETE FROM verdicts WHERE incident = ?1 AND explained_at NOT IN
           (SELECT explained_at FROM verdicts WHERE incident = ?1
            ORDER BY explained_at DESC LIMIT ?2)",
    )?
    .execute(params![one.id, VERDICTS])?;
    Ok(())
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
                "the store's database is damaged: {first}; `whathappened store repair` rebuilds it from the segments"
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
        incidents: &[StoredIncident],
    ) -> Result<(), StoreError> {
        let mut write = || {
            let tx = self.db.transaction()?;
            let mut gone: Vec<String> = Vec::new();
            for run in runs {
                let mut before = tx.prepare_cached("SELECT id FROM incidents WHERE run_id = ?1")?;
                for id in before.query_map([run], |row| row.get(0))? {
                    gone.push(id?);
                }
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
                note_verdict(&tx, one)?;
                for machine in one.time.iter().flat_map(|_| &one.machines) {
                    tx.prepare_cached(
                        "INSERT OR IGNORE INTO incident_machines (name, time, incident)
                         VALUES (?1, ?2, ?3)",
                    )?
                    .execute(params![machine, one.time, one.id])?;
                }
            }
            // What is no incident any more has no history that anybody could ask for.
            gone.retain(|id| !incidents.iter().any(|one| one.id == *id));
            for id in gone {
                tx.prepare_cached("DELETE FROM verdicts WHERE incident = ?1")?
                    .execute([id])?;
            }
            tx.commit()
        };
        write().map_err(StoreError::database(&self.db_path))
    }

    /// Kept incidents, in order of (time, id).
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn incidents(&self) -> Result<Vec<StoredIncident>, StoreError> {
        incidents(&self.db, "1", &[]).map_err(StoreError::database(&self.db_path))
    }
}

/// The verdicts on an incident, the first one first.
pub(crate) fn verdicts(db: &Connection, incident: &str) -> rusqlite::Result<Vec<StoredVerdict>> {
    if !crate::db::has(db, "verdicts")? {
        return Ok(Vec::new());
    }
    db.prepare_cached(
        "SELECT explained_at, verdict FROM verdicts WHERE incident = ?1 ORDER BY explained_at",
    )?
    .query_map([incident], |row| {
        Ok(StoredVerdict {
            explained_at: row.get(0)?,
            verdict: row.get(1)?,
        })
    })?
    .collect()
}

/// The kept incidents of a condition, in order of (time, id). Of which machines
/// they are stands in their answers.
pub(crate) fn incidents(
    db: &Connection,
    condition: &str,
    values: &[&dyn rusqlite::ToSql],
) -> rusqlite::Result<Vec<StoredIncident>> {
    let sql = format!(
        "SELECT id, experiment, run_id, time, explained_at, ruleset, answer
         FROM incidents WHERE {condition} ORDER BY time, id"
    );
    db.prepare_cached(&sql)?
        .query_map(values, |row| {
            Ok(StoredIncident {
                id: row.get(0)?,
                experiment: row.get(1)?,
                run_id: row.get(2)?,
                time: row.get(3)?,
                explained_at: row.get(4)?,
                ruleset: row.get(5)?,
                machines: Vec::new(),
                answer: row.get(6)?,
                verdict: String::new(),
            })
        })?
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;

    fn incident(id: &str, at: Nanos, verdict: &str) -> StoredIncident {
        StoredIncident {
            time: Some(1),
            id: id.to_owned(),
            experiment: "x".to_owned(),
            run_id: "run".to_owned(),
            explained_at: at,
            ruleset: "rules".to_owned(),
            machines: Vec::new(),
            answer: "{}".to_owned(),
            verdict: verdict.to_owned(),
        }
    }

    #[test]
    fn each_verdict_that_differs_is_noted_once() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path(), Limits::default()).unwrap();
        let runs = ["run".to_owned()];
        for (at, verdict) in [(1, "a"), (2, "a"), (3, "b"), (4, "a")] {
            let one = incident("i", at, verdict);
            store.keep_incidents(&runs, &[one]).unwrap();
        }
        let of = |store: &Store, id: &str| -> Vec<(Nanos, String)> {
            let told = store.snapshot().unwrap().verdicts(id).unwrap();
            told.into_iter()
                .map(|one| (one.explained_at, one.verdict))
                .collect()
        };
        let noted = [(1, "a"), (3, "b"), (4, "a")].map(|(at, text)| (at, text.to_owned()));
        assert_eq!(of(&store, "i"), noted);
        for at in 5..200 {
            let one = incident("i", at, &at.to_string());
            store.keep_incidents(&runs, &[one]).unwrap();
        }
        assert_eq!(of(&store, "i").len(), VERDICTS as usize);
        store
            .keep_incidents(&runs, &[incident("other", 200, "c")])
            .unwrap();
        assert!(of(&store, "i").is_empty());
        let snapshot = store.snapshot().unwrap();
        assert!(snapshot.incident("i").unwrap().is_none());
        assert_eq!(snapshot.incident("other").unwrap().unwrap().run_id, "run");
    }
}
