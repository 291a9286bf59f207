//! Damaged segments: set aside, so that they cost what was in
//! them and nothing else, and told of as coverage.

use std::collections::HashSet;

use rusqlite::{Connection, Row, params};
use whathappened_model::coverage::{Coverage, Status};
use whathappened_model::time::Nanos;

use crate::day::Day;
use crate::db::{begin_write, has};
use crate::error::StoreError;
use crate::record::{Record, Table};
use crate::segment::{self, Rows, Segment, VerifiedFile};
use crate::store::Store;
use crate::{dedup, hot, named_rows};

/// A segment that was set aside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct QuarantinedSegment {
    pub(crate) segment: Segment,
    /// Its checksums, where there were some.
    pub(crate) sums: Option<Vec<u8>>,
    /// What is wrong with it.
    pub(crate) why: String,
    /// How many of its rows were saved, once that was tried.
    pub(crate) saved: Option<u64>,
}

impl QuarantinedSegment {
    pub(crate) fn coverage(&self) -> Coverage {
        row(&self.segment, &self.why, self.saved)
    }

    pub(crate) fn reported(&self) -> DamagedSegment {
        DamagedSegment::of(&self.segment, &self.why, self.saved)
    }

    /// Opens what is left of it.
    pub(crate) fn open(&self, store: &Store) -> Result<VerifiedFile, StoreError> {
        let path = self.segment.path(&store.root);
        match VerifiedFile::open_to_heal(&path, Some(self.segment.bytes), self.sums.clone()) {
            // A file of another length is compared with nothing: the decoder is all there is.
            Err(error) if error.is_damage() => VerifiedFile::open(&path, None, None),
            opened => opened,
        }
    }
}

/// A segment that is not what was written, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DamagedSegment {
    /// Its path below the store's folder.
    pub file: String,
    /// Of facts or of objects.
    pub table: Table,
    /// Its partition.
    pub day: Day,
    /// How many rows it had; 0 where nobody knows.
    pub rows: u64,
    /// How many of them were saved, once `store repair` tried.
    pub saved: Option<u64>,
    /// What is wrong with it.
    pub why: String,
}

impl DamagedSegment {
    pub(crate) fn of(segment: &Segment, why: &str, saved: Option<u64>) -> Self {
        Self {
            file: segment.file.clone(),
            table: segment.table,
            day: segment.day,
            rows: segment.rows,
            saved,
            why: why.to_owned(),
        }
    }

    /// How many rows no answer and no statement sees.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.rows.saturating_sub(self.saved.unwrap_or(0))
    }
}

impl std::fmt::Display for DamagedSegment {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (file, rows, why) = (&self.file, self.rows, &self.why);
        write!(
            to,
            "{file} is damaged: {} of its {rows} rows are left out ({why})",
            self.lost()
        )
    }
}

/// What a damaged segment means for whoever asks.
pub(crate) fn row(segment: &Segment, why: &str, saved: Option<u64>) -> Coverage {
    let (file, rows) = (&segment.file, segment.rows);
    let what = match segment.table {
        Table::Events => "facts",
        Table::Objects => "versions of objects",
    };
    let lost = rows.saturating_sub(saved.unwrap_or(0));
    let then = match saved {
        Some(saved) => format!("{saved} of its {rows} {what} were recovered"),
        None => format!(
            "its {rows} {what} are left out; `whathappened store repair` recovers what can be read"
        ),
    };
    let known = |at: Nanos| (at != Nanos::MIN && at != Nanos::MAX).then_some(at);
    Coverage {
        asked_from: known(segment.time_from),
        asked_to: known(segment.time_to),
        status: if lost == 0 {
            Status::Complete
        } else {
            Status::Failed
        },
        rows: saved.unwrap_or(0),
        detail: Some(format!("{file} is damaged: {why}; {then}")),
        would_have_shown: (lost > 0).then(|| format!("{lost} {what} of {}", segment.day)),
        ..Coverage::new("store", segment.table.as_str())
    }
}

/// What it means for whoever asks that the list is wrong about a segment: none of its
/// rows is missing.
pub(crate) fn index_row(segment: &Segment, what: &str) -> Coverage {
    Coverage {
        status: Status::Failed,
        detail: Some(index_detail(segment, what)),
        ..Coverage::new("store", "index")
    }
}

/// What it means for whoever asks that the catalogue has rows that are not what was
/// written: what they tell of may be missing.
pub(crate) fn catalogue_row() -> Coverage {
    Coverage {
        status: Status::Failed,
        detail: Some(CATALOGUE.to_owned()),
        would_have_shown: Some("pods and workloads under their names".to_owned()),
        ..Coverage::new("store", "database")
    }
}

/// What is told of wrong rows of the catalogue.
pub(crate) const CATALOGUE: &str = "what the store's index says of some pods and workloads is damaged, so some of them may be missing; `whathappened store repair` rebuilds it from the segments";

/// What is told of a wrong row of the list.
pub(crate) fn index_detail(segment: &Segment, what: &str) -> String {
    format!(
        "what the store's index says of {} is damaged ({what}): all of it is read; `whathappened store repair` rebuilds that from the segment",
        segment.file
    )
}

/// A row of coverage for each segment about which the list is wrong, as far as a look at
/// it tells; the filters are compared where they are read.
pub(crate) fn doubtful(db: &Connection) -> rusqlite::Result<Vec<Coverage>> {
    let mut rows = Vec::new();
    for one in segment::all_live(db)?.iter().filter(|one| one.is_doubtful) {
        if let Some(what) = segment::wrong(db, one)? {
            rows.push(index_row(one, what));
        }
    }
    Ok(rows)
}

/// What is wrong, without where.
pub(crate) fn why(error: &StoreError) -> String {
    // The Parquet reader says what kind of error it passes on.
    let plain = |text: String| text.trim_start_matches("External: ").to_owned();
    match error {
        StoreError::Damaged { why, .. } => plain(why.clone()),
        StoreError::Segment { error, .. } => plain(error.to_string()),
        StoreError::Io { error, .. } if error.kind() == std::io::ErrorKind::NotFound => {
            "the file is missing".to_owned()
        }
        StoreError::Io { error, .. } if error.kind() == std::io::ErrorKind::PermissionDenied => {
            "this user may not read the file".to_owned()
        }
        other => other.to_string(),
    }
}

/// Takes a segment off the list; its file stays, for whoever can read more of it.
pub(crate) fn set_aside(db: &Connection, segment: &Segment, why: &str) -> rusqlite::Result<()> {
    note(db, segment, why)?;
    // No hot row stands in for what nobody reads any more.
    hot::shadow_instead(db, segment.id, None)?;
    segment::unlist(db, segment)
}

/// Notes that a segment is damaged, with its checksums where it was on the list.
pub(crate) fn note(db: &Connection, segment: &Segment, why: &str) -> rusqlite::Result<()> {
    db.execute(
        "INSERT OR REPLACE INTO damaged
           (file, tbl, day, rows, bytes, time_from, time_to, stored_at, sums, why)
         VALUES (?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9,
                 (SELECT sums FROM checksums WHERE segment = ?1), ?10)",
        params![
            segment.id,
            segment.file,
            segment.table.number(),
            segment.day.0,
            segment.rows,
            segment.bytes,
            segment.time_from,
            segment.time_to,
            segment.stored_at,
            why
        ],
    )?;
    named_rows::keep(db, segment)
}

/// Notes what became of a segment that was set aside.
pub(crate) fn saved(db: &Connection, file: &str, rows: u64) -> rusqlite::Result<()> {
    db.execute(
        "UPDATE damaged SET saved = ?2 WHERE file = ?1",
        params![file, rows],
    )?;
    Ok(())
}

/// Forgets a segment of which nothing is missed any more: no line tells of it, and
/// its file goes with other files that nobody needs. Whether there was one.
pub(crate) fn is_back(db: &Connection, file: &str, now: Nanos) -> rusqlite::Result<bool> {
    let gone = db.execute("DELETE FROM damaged WHERE file = ?1", [file])? > 0;
    if gone {
        segment::announce(db, file, now)?;
        named_rows::tidy(db)?;
    }
    Ok(gone)
}

/// Forgets what was stored too long ago; the files go with other files that nobody needs.
pub(crate) fn forget(db: &Connection, oldest: Nanos, now: Nanos) -> rusqlite::Result<()> {
    db.execute(
        "INSERT OR IGNORE INTO garbage (file, since)
         SELECT file, ?2 FROM damaged WHERE stored_at < ?1",
        [oldest, now],
    )?;
    db.execute("DELETE FROM damaged WHERE stored_at < ?1", [oldest])?;
    named_rows::tidy(db)
}

/// Everything that was set aside, by file.
pub(crate) fn all(db: &Connection) -> rusqlite::Result<Vec<QuarantinedSegment>> {
    if !has(db, "damaged")? {
        return Ok(Vec::new());
    }
    let read = |row: &Row<'_>| {
        Ok(QuarantinedSegment {
            segment: segment::of_row(row)?,
            sums: row.get("sums")?,
            why: row.get("why")?,
            saved: row.get("saved")?,
        })
    };
    db.prepare_cached("SELECT *, 0 AS id FROM damaged ORDER BY file")?
        .query_map([], read)?
        .collect()
}

/// A row of coverage for each.
pub(crate) fn rows(db: &Connection) -> rusqlite::Result<Vec<Coverage>> {
    Ok(all(db)?.iter().map(QuarantinedSegment::coverage).collect())
}

impl Store {
    /// Forgets a damaged segment, by its file as `verify` names it, whose rows nobody
    /// misses: from then on nothing tells of it, and retention removes the file.
    /// Whether there was one.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn forget_damaged(&mut self, file: &str, now: Nanos) -> Result<bool, StoreError> {
        let forget = || {
            let tx = begin_write(&self.db)?;
            let gone = is_back(&tx, file, now)?;
            tx.commit()?;
            Ok(gone)
        };
        forget().map_err(StoreError::database(&self.db_path))
    }

    /// Whether all rows of a damaged segment, by their ids, are in the store again.
    /// Where not all ids can be read, its name may tell.
    pub(crate) fn has_all_of<R: Record>(
        &self,
        aside: &QuarantinedSegment,
    ) -> Result<bool, StoreError> {
        let opened = aside
            .open(self)
            .and_then(|file| segment::Salvage::open(&file));
        let left = match opened {
            Ok(left) => left,
            Err(error) if error.is_damage() => return self.has_all_named::<R>(&aside.segment),
            Err(error) => return Err(error),
        };
        let mut ids = HashSet::new();
        left.ids(&mut |id| {
            ids.insert(id);
        });
        let all = left.total().max(aside.segment.rows);
        if all == 0 || ids.len() as u64 != all {
            return self.has_all_named::<R>(&aside.segment);
        }
        let day = aside.segment.day;
        let known = dedup::known::<R>(&self.db, self.origin(), day, &ids)?;
        for id in ids {
            let is_hot =
                || hot::get::<R>(&self.db, id).map(|hot| hot.is_some_and(|hot| hot.row.is_some()));
            if !known.rows.contains_key(&id)
                && !is_hot().map_err(StoreError::database(&self.db_path))?
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Sets segments aside in a transaction of its own.
    pub(crate) fn set_aside(
        &mut self,
        damaged: &[(Segment, StoreError)],
    ) -> Result<(), StoreError> {
        if damaged.is_empty() {
            return Ok(());
        }
        let set = || {
            let tx = begin_write(&self.db)?;
            for (segment, error) in damaged {
                tracing::error!(segment = segment.file, %error, "segment {} is damaged and set aside", segment.file);
                set_aside(&tx, segment, &why(error))?;
            }
            tx.commit()
        };
        set().map_err(StoreError::database(&self.db_path))
    }

    /// Those of some segments that can be read to their ends; the others are set aside.
    pub(crate) fn whole<R: Record>(
        &mut self,
        segments: Vec<Segment>,
    ) -> Result<Vec<Segment>, StoreError> {
        let (mut whole, mut damaged) = (Vec::new(), Vec::new());
        for segment in segments {
            match self.read_through::<R>(&segment) {
                Ok(()) => whole.push(segment),
                Err(error) if error.is_damage() => damaged.push((segment, error)),
                Err(error) => return Err(error),
            }
        }
        self.set_aside(&damaged)?;
        Ok(whole)
    }

    fn read_through<R: Record>(&self, segment: &Segment) -> Result<(), StoreError> {
        let file = self.open_segment(segment)?;
        if file.has_sums() {
            return file.compare();
        }
        for row in Rows::<R>::open(file)? {
            row?;
        }
        Ok(())
    }
}
