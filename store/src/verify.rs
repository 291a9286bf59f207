//! Whether everything that is kept is what was written.

use crate::damage;
use crate::error::StoreError;
use crate::health::{self, Look};
use crate::hot;
use crate::incidents;
use crate::metadata;
use crate::record::{Fact, Object, Record, Table};
use crate::segment::{self, Rows, Segment};
use crate::store::Store;

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// Segments that are what was written.
    pub segments: u64,
    /// Rows in them.
    pub rows: u64,
    /// Those of them without checksums, which an older program wrote: they decode.
    pub unchecked: u64,
    /// Segments that are not, and what is wrong; also those that were set aside before.
    pub damaged: Vec<(String, String)>,
    /// Segments in the folder that the list does not know.
    pub unknown: Vec<String>,
    /// What the database says of itself where it is not well.
    pub database: Vec<String>,
    /// What else the database keeps that is not what was written: rows that came lately,
    /// incidents, verdicts on them, rows of coverage.
    pub kept: Vec<String>,
}

impl Verified {
    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_well(&self) -> bool {
        self.damaged.is_empty()
            && self.unknown.is_empty()
            && self.database.is_empty()
            && self.kept.is_empty()
    }
}

impl Store {
    /// Reads everything that is kept, to its end. Nothing is changed.
    ///
    /// # Errors
    /// When the database cannot be read, or the system cannot read a file now.
    pub fn verify(&self, progress: &mut dyn FnMut(&Segment)) -> Result<Verified, StoreError> {
        let failed = || StoreError::database(&self.db_path);
        let mut verified = Verified {
            database: self.close_check()?,
            unknown: self.unlisted()?,
            kept: self.damaged_rows().map_err(failed())?,
            ..Verified::default()
        };
        for aside in damage::all(&self.db).map_err(failed())? {
            let why = match aside.saved {
                Some(saved) => format!("{}; {saved} of its rows were recovered", aside.why),
                None => aside.why,
            };
            verified.damaged.push((aside.segment.file, why));
        }
        for table in [Table::Events, Table::Objects] {
            for one in segment::live(&self.db, table, None).map_err(failed())? {
                progress(&one);
                let read = match table {
                    Table::Events => self.decode::<Fact>(&one),
                    Table::Objects => self.decode::<Object>(&one),
                };
                match read {
                    Ok(has_sums) => {
                        verified.segments += 1;
                        verified.rows += one.rows;
                        verified.unchecked += u64::from(!has_sums);
                    }
                    Err(error) if error.is_damage() => {
                        verified.damaged.push((one.file, damage::why(&error)));
                    }
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(verified)
    }

    /// Kept rows of the database that are not what was written.
    fn damaged_rows(&self) -> rusqlite::Result<Vec<String>> {
        let mut said: Vec<String> = hot::coverage(&self.db)?
            .into_iter()
            .filter_map(|row| row.detail)
            .collect();
        for one in incidents::read(&self.db, "1", &[])?.damaged {
            said.push(format!("incident {} is damaged", one.id));
        }
        for (incident, _) in incidents::damaged_verdicts(&self.db)? {
            said.push(format!("a past verdict on incident {incident} is damaged"));
        }
        if metadata::damaged_coverage(&self.db)? {
            said.push("rows of coverage are damaged".to_owned());
        }
        Ok(said)
    }

    /// What the database says of itself where it is not well.
    ///
    /// # Errors
    /// When it cannot be asked.
    pub fn close_check(&self) -> Result<Vec<String>, StoreError> {
        health::look(&self.db, Look::Close).map_err(StoreError::database(&self.db_path))
    }

    /// What tells this store from all others; made when it is first asked for. A copy
    /// of a store is the same store.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn identity(&mut self) -> Result<String, StoreError> {
        let make = "INSERT OR IGNORE INTO identity VALUES (1, lower(hex(randomblob(16))))";
        let made = self.db.execute(make, []);
        made.and_then(|_| {
            self.db
                .query_row("SELECT id FROM identity", [], |row| row.get(0))
        })
        .map_err(StoreError::database(&self.db_path))
    }

    /// Whether there were checksums to compare it with.
    fn decode<R: Record>(&self, one: &Segment) -> Result<bool, StoreError> {
        let file = self.open_segment(one)?;
        let has_sums = file.has_sums();
        if has_sums {
            file.compare()?;
        }
        let mut rows = 0;
        for row in Rows::<R>::open(file)? {
            row?;
            rows += 1;
        }
        if rows != one.rows {
            let why = format!("it has {rows} rows instead of {}", one.rows);
            return Err(StoreError::damaged(&one.path(&self.root), why));
        }
        Ok(has_sums)
    }
}
