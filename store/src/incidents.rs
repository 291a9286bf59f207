//! Incidents as they were explained, each with a checksum: what a disk changed is
//! explained anew and not shown.

use std::collections::{BTreeSet, HashMap};

use rusqlite::{Connection, OptionalExtension as _, Row, ToSql, params};
use whathappened_model::coverage::{Coverage, Status};
use whathappened_model::time::Nanos;

use crate::db::{begin_write, has, has_column};
use crate::error::StoreError;
use crate::row_checksum::{matches, sum};
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

/// Incidents as they were read.
#[derive(Debug, Default)]
pub(crate) struct ReadIncidents {
    /// Those that are what was written.
    pub(crate) whole: Vec<StoredIncident>,
    /// Those that are not.
    pub(crate) damaged: Vec<DamagedIncident>,
}

/// An incident of which some byte is not what was written.
#[derive(Clone, Debug)]
pub(crate) struct DamagedIncident {
    /// As far as it can be read.
    pub(crate) id: String,
    /// Of which run it may be: the damage may be in the run's own name.
    pub(crate) runs: BTreeSet<String>,
    /// Whether it was only noted that nothing had happened: nothing is missed then.
    is_calm: bool,
}

impl StoredIncident {
    fn sum(&self) -> [u8; 8] {
        let time = self.time.map(Nanos::to_be_bytes);
        sum(&[
            self.id.as_bytes(),
            self.experiment.as_bytes(),
            self.run_id.as_bytes(),
            time.as_ref().map_or(&[], |time| time),
            &self.explained_at.to_be_bytes(),
            self.ruleset.as_bytes(),
            self.answer.as_bytes(),
        ])
    }
}

/// Notes the verdict on an incident, where it is not the one that was reached last.
fn note_verdict(db: &Connection, one: &StoredIncident) -> rusqlite::Result<()> {
    let last: Option<Vec<u8>> = db
        .prepare_cached(
            "SELECT CAST(verdict AS BLOB) FROM verdicts WHERE incident = ?1 ORDER BY explained_at DESC LIMIT 1",
        )?
        .query_row([&one.id], |row| row.get(0))
        .optional()?;
    if one.verdict.is_empty() || last.is_some_and(|last| last == one.verdict.as_bytes()) {
        return Ok(());
    }
    db.prepare_cached(
        "INSERT OR REPLACE INTO verdicts (incident, explained_at, verdict, sum)
         VALUES (?1, ?2, ?3, ?4)",
    )?
    .execute(params![
        one.id,
        one.explained_at,
        one.verdict,
        verdict_sum(&one.id, one.explained_at, one.verdict.as_bytes())
    ])?;
    db.prepare_cached(
        "DELETE FROM verdicts WHERE incident = ?1 AND explained_at NOT IN
           (SELECT explained_at FROM verdicts WHERE incident = ?1
            ORDER BY explained_at DESC LIMIT ?2)",
    )?
    .execute(params![one.id, VERDICTS])?;
    Ok(())
}

fn verdict_sum(incident: &str, explained_at: Nanos, verdict: &[u8]) -> [u8; 8] {
    sum(&[incident.as_bytes(), &explained_at.to_be_bytes(), verdict])
}

/// Puts incidents in place of those that some runs had before.
pub(crate) fn replace(
    db: &Connection,
    runs: &[String],
    incidents: &[StoredIncident],
) -> rusqlite::Result<()> {
    let mut gone: Vec<String> = Vec::new();
    for run in runs {
        let before = read(db, "run_id = ?1", &[run])?;
        note(db, &before.damaged)?;
        gone.extend(before.whole.into_iter().map(|one| one.id));
        gone.extend(before.damaged.into_iter().map(|one| one.id));
        db.prepare_cached(
            "DELETE FROM incident_machines WHERE incident IN
               (SELECT id FROM incidents WHERE run_id = ?1)",
        )?
        .execute([run])?;
        db.prepare_cached("DELETE FROM incidents WHERE run_id = ?1")?
            .execute([run])?;
    }
    for one in incidents {
        db.prepare_cached(
            "INSERT OR REPLACE INTO incidents
               (id, experiment, run_id, time, explained_at, ruleset, answer, sum)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        )?
        .execute(params![
            one.id,
            one.experiment,
            one.run_id,
            one.time,
            one.explained_at,
            one.ruleset,
            one.answer,
            one.sum()
        ])?;
        note_verdict(db, one)?;
        for machine in one.time.iter().flat_map(|_| &one.machines) {
            db.prepare_cached(
                "INSERT OR IGNORE INTO incident_machines (name, time, incident)
                 VALUES (?1, ?2, ?3)",
            )?
            .execute(params![machine, one.time, one.id])?;
        }
        // The run is explained anew, so nothing of it is missed. Where its records are gone
        // as well, that is noted with no verdict, and the damage is told on.
        if !one.verdict.is_empty() {
            db.prepare_cached("DELETE FROM damaged_incidents WHERE run = ?1")?
                .execute([&one.run_id])?;
        }
    }
    // What is no incident any more has no history that anybody could ask for.
    gone.retain(|id| !incidents.iter().any(|one| one.id == *id));
    for id in gone {
        db.prepare_cached("DELETE FROM verdicts WHERE incident = ?1")?
            .execute([id])?;
    }
    Ok(())
}

/// Notes incidents that are damaged, so that it is told until they are explained anew.
fn note(db: &Connection, damaged: &[DamagedIncident]) -> rusqlite::Result<()> {
    for one in damaged.iter().filter(|one| !one.is_calm) {
        tracing::error!(
            incident = one.id,
            "a stored incident is damaged and not shown"
        );
        for run in &one.runs {
            db.prepare_cached(
                "INSERT OR REPLACE INTO damaged_incidents (id, run) VALUES (?1, ?2)",
            )?
            .execute(params![one.id, run])?;
        }
    }
    Ok(())
}

#[cfg(feature = "lake")]
impl Store {
    /// Kept incidents that were explained at `since` or later, with the machines that they are
    /// of, in order of (time, id). What is noted of their verdicts is the last of each.
    pub(crate) fn incidents_with_machines(
        &self,
        since: Nanos,
    ) -> Result<Vec<StoredIncident>, StoreError> {
        let of_each = |one: StoredIncident| -> rusqlite::Result<StoredIncident> {
            let machines = self
                .db
                .prepare_cached(
                    "SELECT name FROM incident_machines WHERE incident = ?1 ORDER BY 1",
                )?
                .query_map([&one.id], |row| row.get(0))?
                .collect::<rusqlite::Result<_>>()?;
            let last = verdicts(&self.db, &one.id)?.pop();
            Ok(StoredIncident {
                machines,
                verdict: last.map_or_else(String::new, |last| last.verdict),
                ..one
            })
        };
        let read = read(&self.db, "explained_at >= ?1", &[&since])
            .map_err(StoreError::database(&self.db_path))?;
        read.whole
            .into_iter()
            .map(of_each)
            .collect::<rusqlite::Result<_>>()
            .map_err(StoreError::database(&self.db_path))
    }
}

impl Store {
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
        let write = || {
            let tx = begin_write(&self.db)?;
            replace(&tx, runs, incidents)?;
            tx.commit()
        };
        write().map_err(StoreError::database(&self.db_path))
    }

    /// Kept incidents, in order of (time, id); without those that are damaged.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn incidents(&self) -> Result<Vec<StoredIncident>, StoreError> {
        let read = read(&self.db, "1", &[]).map_err(StoreError::database(&self.db_path))?;
        Ok(read.whole)
    }

    /// When each run was explained last. A run of which an incident is damaged was not,
    /// which is noted, for [`Store::coverage`].
    ///
    /// # Errors
    /// When the database cannot be used.
    pub fn explained_runs(&mut self) -> Result<HashMap<String, Nanos>, StoreError> {
        let read = read(&self.db, "1", &[]).map_err(StoreError::database(&self.db_path))?;
        if read.damaged.iter().any(|one| !one.is_calm) {
            let noted = begin_write(&self.db).and_then(|tx| {
                note(&tx, &read.damaged)?;
                tx.commit()
            });
            noted.map_err(StoreError::database(&self.db_path))?;
        }
        let mut known: HashMap<String, Nanos> = HashMap::new();
        for one in read.whole {
            let at = known.entry(one.run_id).or_insert(one.explained_at);
            *at = (*at).max(one.explained_at);
        }
        for run in read.damaged.iter().flat_map(|one| &one.runs) {
            known.remove(run);
        }
        Ok(known)
    }

    /// Runs of which the incident of an id may be, where that is damaged.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn runs_of_damaged(&self, incident: &str) -> Result<BTreeSet<String>, StoreError> {
        let read = read(&self.db, "id = ?1", &[&incident]);
        let read = read.map_err(StoreError::database(&self.db_path))?;
        Ok(read.damaged.into_iter().flat_map(|one| one.runs).collect())
    }

    /// Forgets incidents and verdicts that are damaged, and that they were; how many
    /// incidents there were.
    pub(crate) fn forget_damaged_incidents(&mut self) -> Result<u64, StoreError> {
        let forget = || {
            let tx = begin_write(&self.db)?;
            let mut ids: BTreeSet<String> = tx
                .prepare("SELECT DISTINCT id FROM damaged_incidents")?
                .query_map([], |row| row.get(0))?
                .collect::<rusqlite::Result<_>>()?;
            for one in read(&tx, "1", &[])?.damaged {
                tx.execute("DELETE FROM incidents WHERE id = ?1", [&one.id])?;
                ids.insert(one.id);
            }
            for (incident, at) in damaged_verdicts(&tx)? {
                tx.execute(
                    "DELETE FROM verdicts WHERE incident = ?1 AND explained_at = ?2",
                    params![incident, at],
                )?;
            }
            tx.execute("DELETE FROM damaged_incidents", [])?;
            tx.commit()?;
            Ok(ids.len() as u64)
        };
        forget().map_err(StoreError::database(&self.db_path))
    }
}

/// A row for incidents that were damaged and not explained anew since.
pub(crate) fn coverage(db: &Connection) -> rusqlite::Result<Option<Coverage>> {
    if !has(db, "damaged_incidents")? {
        return Ok(None);
    }
    let damaged: u64 = db
        .prepare_cached("SELECT count(DISTINCT id) FROM damaged_incidents")?
        .query_row([], |row| row.get(0))?;
    let (what, are) = match damaged {
        0 => return Ok(None),
        1 => ("incident", "is"),
        _ => ("incidents", "are"),
    };
    Ok(Some(Coverage {
        status: Status::Failed,
        detail: Some(format!(
            "{damaged} stored {what} {are} damaged and not shown; `whathappened explain` explains what is left of the records, and `whathappened store repair` removes what is damaged"
        )),
        would_have_shown: Some(format!("{damaged} {what} as explained before")),
        ..Coverage::new("store", "incidents")
    }))
}

/// The verdicts on an incident, the first one first; without those that are damaged.
pub(crate) fn verdicts(db: &Connection, incident: &str) -> rusqlite::Result<Vec<StoredVerdict>> {
    if !has(db, "verdicts")? {
        return Ok(Vec::new());
    }
    let sum = summed(db, "verdicts")?;
    let sql = format!(
        "SELECT explained_at, verdict, {sum} FROM verdicts WHERE incident = ?1 ORDER BY explained_at"
    );
    let read = |row: &Row<'_>| -> rusqlite::Result<Option<StoredVerdict>> {
        let (at, text) = (row.get(0)?, bytes(row, 1)?);
        if !matches(row.get_ref(2)?, verdict_sum(incident, at, &text)) {
            return Ok(None);
        }
        Ok(String::from_utf8(text).ok().map(|verdict| StoredVerdict {
            explained_at: at,
            verdict,
        }))
    };
    let read = db
        .prepare_cached(&sql)?
        .query_map([incident], read)?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    Ok(read.into_iter().flatten().collect())
}

/// Verdicts that are not what was written: of which incident, and from when.
pub(crate) fn damaged_verdicts(db: &Connection) -> rusqlite::Result<Vec<(String, Nanos)>> {
    if !has(db, "verdicts")? || !has_column(db, "verdicts", "sum")? {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    let mut all = db.prepare("SELECT incident, explained_at, verdict, sum FROM verdicts")?;
    let mut rows = all.query([])?;
    while let Some(row) = rows.next()? {
        let incident = String::from_utf8_lossy(&bytes(row, 0)?).into_owned();
        let at = row.get(1)?;
        if !matches(row.get_ref(3)?, verdict_sum(&incident, at, &bytes(row, 2)?)) {
            found.push((incident, at));
        }
    }
    Ok(found)
}

/// The column of a table's checksums, which tables of older programs have not.
fn summed(db: &Connection, table: &str) -> rusqlite::Result<&'static str> {
    Ok(if has_column(db, table, "sum")? {
        "sum"
    } else {
        "NULL"
    })
}

fn bytes(row: &Row<'_>, column: usize) -> rusqlite::Result<Vec<u8>> {
    Ok(row.get_ref(column)?.as_bytes().unwrap_or_default().to_vec())
}

/// The kept incidents of a condition, in order of (time, id). Of which machines
/// they are stands in their answers.
pub(crate) fn read(
    db: &Connection,
    condition: &str,
    values: &[&dyn ToSql],
) -> rusqlite::Result<ReadIncidents> {
    let sum = summed(db, "incidents")?;
    let sql = format!(
        "SELECT id, experiment, run_id, time, explained_at, ruleset, answer, {sum}
         FROM incidents WHERE {condition} ORDER BY time, id"
    );
    let mut found = ReadIncidents::default();
    let mut statement = db.prepare_cached(&sql)?;
    let mut rows = statement.query(values)?;
    while let Some(row) = rows.next()? {
        match whole(row) {
            Some(one) => found.whole.push(one),
            None => found.damaged.push(damaged(row)?),
        }
    }
    Ok(found)
}

/// An incident, if it is what was written. A column of another type is damage, too.
fn whole(row: &Row<'_>) -> Option<StoredIncident> {
    let one = StoredIncident {
        id: row.get(0).ok()?,
        experiment: row.get(1).ok()?,
        run_id: row.get(2).ok()?,
        time: row.get(3).ok()?,
        explained_at: row.get(4).ok()?,
        ruleset: row.get(5).ok()?,
        machines: Vec::new(),
        answer: row.get(6).ok()?,
        verdict: String::new(),
    };
    matches(row.get_ref(7).ok()?, one.sum()).then_some(one)
}

fn damaged(row: &Row<'_>) -> rusqlite::Result<DamagedIncident> {
    let text = |column| bytes(row, column).map(|text| String::from_utf8_lossy(&text).into_owned());
    let answer = text(6)?;
    let parsed: Option<serde_json::Value> = serde_json::from_str(&answer).ok();
    let parsed =
        parsed.and_then(|parsed| Some(parsed.pointer("/incident/run_id")?.as_str()?.to_owned()));
    Ok(DamagedIncident {
        id: text(0)?,
        runs: parsed.into_iter().chain([text(2)?]).collect(),
        is_calm: answer.starts_with(r#"{"incident":{"cause":"none."#),
    })
}

#[cfg(test)]
mod tests;
