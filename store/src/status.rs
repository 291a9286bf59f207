//! How much is kept.

use crate::damage::DamagedSegment;
use crate::error::StoreError;
use crate::record::Table;
use crate::segment::Segment;
use crate::store::Store;
use crate::{catalogue, damage, hot, segment};

/// What a store holds, for people.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// Facts in segments.
    pub facts: u64,
    /// Versions of objects in segments.
    pub versions: u64,
    /// Rows in the hot tier.
    pub hot: u64,
    /// Live segments.
    pub segments: u64,
    /// Days that have segments.
    pub days: u64,
    /// Bytes of live segments.
    pub segment_bytes: u64,
    /// Bytes of the database.
    pub database_bytes: u64,
    /// Pods and workloads known.
    pub entities: u64,
    /// Incidents kept.
    pub incidents: u64,
    /// The earliest time of any row.
    pub from: Option<i64>,
    /// The latest time of any row.
    pub to: Option<i64>,
    /// Damaged segments, as far as a look at their lengths and
    /// footers tells; `verify` reads them to their ends.
    pub damaged: Vec<DamagedSegment>,
    /// How many segments were redacted under fewer rules than now; whatever reads them redacts them again.
    pub outdated: u64,
    /// Segments in the folder that the list does not know; no answer sees what is in them.
    pub unlisted: Vec<String>,
    /// What the database said of itself when it was checked last, where it was not well.
    pub database: Vec<String>,
}

/// What a look at the length and the footer of a segment tells.
enum Glance {
    Damaged(DamagedSegment),
    Outdated,
    Well,
}

impl Status {
    /// Whether nothing is known to be wrong.
    #[must_use]
    pub fn is_well(&self) -> bool {
        self.damaged.is_empty() && self.unlisted.is_empty() && self.database.is_empty()
    }

    /// How many rows of damaged segments no answer sees.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.damaged.iter().map(DamagedSegment::lost).sum()
    }

    /// What to do where something is wrong.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        if !self.database.is_empty() {
            return Some(
                "the database is damaged; keep the data and rebuild the index from the segments: whathappened store repair",
            );
        }
        if self.damaged.is_empty() && !self.unlisted.is_empty() {
            return Some(
                "add the segments that the index does not know: whathappened store repair",
            );
        }
        let is_tried = self.damaged.iter().all(|one| one.saved.is_some());
        match (self.damaged.is_empty(), is_tried) {
            (true, _) if self.outdated > 0 => Some(
                "rewrite the segments that were redacted by older rules: whathappened store repair",
            ),
            (true, _) => None,
            (false, false) => Some(
                "see what else is damaged: whathappened store verify; recover what can be read: whathappened store repair",
            ),
            (false, true) => Some(
                "what could be read was recovered; import the missing facts again, then: whathappened store repair",
            ),
        }
    }
}

impl Store {
    /// How much is kept.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn status(&self) -> Result<Status, StoreError> {
        self.reported(true)
    }

    /// The time of the latest record, in nanoseconds.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn latest(&self) -> Result<Option<i64>, StoreError> {
        Ok(self.reported(false)?.to)
    }

    /// How much is kept; the segments themselves are opened only where one looks `closely`.
    fn reported(&self, closely: bool) -> Result<Status, StoreError> {
        let mut status = Status::default();
        let failed = || StoreError::database(&self.db_path);
        let mut days = std::collections::BTreeSet::new();
        for table in [Table::Events, Table::Objects] {
            for one in segment::live(&self.db, table, None).map_err(failed())? {
                match table {
                    Table::Events => status.facts += one.rows,
                    Table::Objects => status.versions += one.rows,
                }
                if closely {
                    match self.glance(&one)? {
                        Glance::Damaged(damaged) => status.damaged.push(damaged),
                        Glance::Outdated => status.outdated += 1,
                        Glance::Well => {}
                    }
                }
                status.segments += 1;
                status.segment_bytes += one.bytes;
                days.insert(one.day);
                if closely && let Some(what) = segment::wrong(&self.db, &one).map_err(failed())? {
                    status.database.push(damage::index_detail(&one, what));
                }
                if one.time_from != i64::MIN && table == Table::Events {
                    status.from = Some(
                        status
                            .from
                            .map_or(one.time_from, |at| at.min(one.time_from)),
                    );
                }
                if one.time_to != i64::MIN && !one.is_doubtful {
                    status.to = status.to.max(Some(one.time_to));
                }
            }
            for (_, rows) in hot::days(&self.db, table).map_err(failed())? {
                status.hot += rows;
            }
        }
        let (first, last): (Option<i64>, Option<i64>) = self
            .db
            .query_row(
                "SELECT min(time), max(time) FROM hot WHERE time > ?1",
                [i64::MIN],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )
            .map_err(failed())?;
        status.from = status.from.into_iter().chain(first).min();
        status.to = status.to.max(last);
        status.days = days.len() as u64;
        status.database.splice(..0, self.problems()?);
        if closely {
            status.unlisted = self.unlisted()?;
            let damaged = hot::coverage(&self.db).map_err(failed())?;
            status
                .database
                .extend(damaged.into_iter().filter_map(|row| row.detail));
            if catalogue::count_wrong(&self.db).map_err(failed())? > 0 {
                status.database.push(damage::CATALOGUE.to_owned());
            }
        }
        status.entities = self.count(
            "SELECT count(*) FROM entities WHERE kind <> 'Heard'",
            &mut status.database,
        )?;
        // That nothing happened is kept as well, so that nobody looks again.
        status.incidents = self.count(
            r#"SELECT count(*) FROM incidents WHERE answer NOT LIKE '{"incident":{"cause":"none.%'"#,
            &mut status.database,
        )?;
        let aside = damage::all(&self.db).map_err(failed())?;
        status
            .damaged
            .extend(aside.iter().map(damage::QuarantinedSegment::reported));
        status.damaged.sort_by(|a, b| a.file.cmp(&b.file));
        status.database_bytes = self.db_path.metadata().map_or(0, |meta| meta.len());
        Ok(status)
    }

    /// A count; 0 where a damaged database cannot tell, which is noted.
    fn count(&self, sql: &str, problems: &mut Vec<String>) -> Result<u64, StoreError> {
        match self.db.query_row(sql, [], |row| row.get(0)) {
            Err(error)
                if error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseCorrupt) =>
            {
                if problems.is_empty() {
                    problems.push(error.to_string());
                }
                Ok(0)
            }
            counted => counted.map_err(StoreError::database(&self.db_path)),
        }
    }

    /// Looks whether a segment is there, as long as it was, and has a footer.
    fn glance(&self, segment: &Segment) -> Result<Glance, StoreError> {
        let looked = self.open_segment(segment);
        match looked.and_then(|file| segment::footer(&file)) {
            Ok(true) => Ok(Glance::Outdated),
            Ok(false) => Ok(Glance::Well),
            Err(error) if error.is_unreadable() => {
                let why = damage::why(&error);
                Ok(Glance::Damaged(DamagedSegment::of(segment, &why, None)))
            }
            Err(error) => Err(error),
        }
    }
}
