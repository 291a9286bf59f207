//! Whether everything that is kept is what was written.

use whathappened_model::time::Nanos;

use crate::catalogue::{self, CatalogueUpdate};
use crate::damage;
use crate::elsewhere::FilterOf;
use crate::error::StoreError;
use crate::health::{self, CheckDepth};
use crate::hot;
use crate::incidents;
use crate::metadata;
use crate::record::{Fact, FactOrObject, Object, Record, Table};
use crate::segment::{self, Rows, Segment, id_key, subject_key};
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
    /// What else the database keeps that is not what was written: rows of the list of
    /// segments, rows that came lately, incidents, verdicts on them, rows of coverage.
    pub wrong_rows: Vec<String>,
}

/// A segment that was read to its end.
pub(crate) struct Decoded {
    /// Whether there were checksums to compare it with.
    has_sums: bool,
    /// How many rows it has.
    pub(crate) rows: u64,
    /// What the list says of it that hides some of its rows.
    pub(crate) hides: Option<&'static str>,
    /// How many of its pods the catalogue does not know.
    pub(crate) unknown_pods: usize,
}

impl Verified {
    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_well(&self) -> bool {
        self.damaged.is_empty()
            && self.unknown.is_empty()
            && self.database.is_empty()
            && self.wrong_rows.is_empty()
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
            wrong_rows: self.damaged_rows().map_err(failed())?,
            ..Verified::default()
        };
        for aside in damage::all(&self.db).map_err(failed())? {
            let why = match aside.saved {
                Some(saved) => format!("{}; {saved} of its rows were recovered", aside.why),
                None => aside.why,
            };
            verified.damaged.push((aside.segment.file, why));
        }
        let begins = self.begins()?;
        let mut unknown = 0;
        for one in segment::all_live(&self.db).map_err(failed())? {
            progress(&one);
            if let Some(what) = segment::wrong(&self.db, &one).map_err(failed())? {
                verified.wrong_rows.push(damage::index_detail(&one, what));
            }
            let read = match one.table {
                Table::Events => self.decode::<Fact>(&one, begins),
                Table::Objects => self.decode::<Object>(&one, begins),
            };
            match read {
                Ok(found) if found.rows != one.rows && !one.is_doubtful => {
                    let why = format!("it has {} rows instead of {}", found.rows, one.rows);
                    verified.damaged.push((one.file, why));
                }
                Ok(found) => {
                    verified.segments += 1;
                    verified.rows += found.rows;
                    unknown += found.unknown_pods;
                    verified.unchecked += u64::from(!found.has_sums);
                    // Of an older program's row, the segment itself is all that tells.
                    let hides = found.hides.filter(|_| !one.is_doubtful);
                    verified
                        .wrong_rows
                        .extend(hides.map(|what| damage::index_detail(&one, what)));
                }
                Err(error) if error.is_unreadable() => {
                    verified.damaged.push((one.file, damage::why(&error)));
                }
                Err(error) => return Err(error),
            }
        }
        if unknown > 0 || catalogue::count_wrong(&self.db).map_err(failed())? > 0 {
            verified.wrong_rows.push(damage::CATALOGUE.to_owned());
        }
        Ok(verified)
    }

    /// The earliest time that a segment tells of; nobody keeps what ended before it in
    /// the catalogue.
    pub(crate) fn begins(&self) -> Result<Nanos, StoreError> {
        let live = segment::all_live(&self.db).map_err(StoreError::database(&self.db_path))?;
        let known = live.iter().map(|one| one.time_from);
        let known = known.filter(|at| *at != Nanos::MIN);
        Ok(known.min().unwrap_or(Nanos::MAX))
    }

    /// Kept rows of the database that are not what was written.
    fn damaged_rows(&self) -> rusqlite::Result<Vec<String>> {
        let mut damaged: Vec<String> = hot::coverage(&self.db)?
            .into_iter()
            .filter_map(|row| row.detail)
            .collect();
        for one in incidents::read(&self.db, "1", &[])?.damaged {
            damaged.push(format!("incident {} is damaged", one.id));
        }
        for (incident, _) in incidents::damaged_verdicts(&self.db)? {
            damaged.push(format!("a past verdict on incident {incident} is damaged"));
        }
        if metadata::damaged_coverage(&self.db)? {
            damaged.push("rows of coverage are damaged".to_owned());
        }
        Ok(damaged)
    }

    /// What the database says of itself where it is not well.
    ///
    /// # Errors
    /// When it cannot be asked.
    pub fn close_check(&self) -> Result<Vec<String>, StoreError> {
        health::look(&self.db, CheckDepth::Close).map_err(StoreError::database(&self.db_path))
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

    /// Reads a segment to its end. Pods that ended before `begins` may be forgotten.
    pub(crate) fn decode<R: Record + Into<FactOrObject>>(
        &self,
        one: &Segment,
        begins: Nanos,
    ) -> Result<Decoded, StoreError> {
        let file = self.open_segment(one)?;
        let has_sums = file.has_sums();
        if has_sums {
            file.compare()?;
        }
        let ids = segment::filter(&self.db, self.origin(), one, FilterOf::Ids)?;
        let words = segment::filter(&self.db, self.origin(), one, FilterOf::Words)?;
        let (mut rows, mut hides, mut seen) = (0, None, CatalogueUpdate::default());
        for row in Rows::<R>::open(file)? {
            let row = row?;
            let place = row.place();
            if place.time < one.time_from || row.last() > one.time_to {
                hides = Some("of which time it is");
            } else if !ids.filter.may_hold(id_key(place.id)) {
                hides = Some("which ids are in it");
            } else if !words.filter.may_hold(subject_key(&place)) {
                hides = Some("which words are in it");
            }
            rows += 1;
            seen.see(&row.into());
        }
        let unknown = seen.unknown_pods(&self.db, begins);
        Ok(Decoded {
            has_sums,
            rows,
            hides,
            unknown_pods: unknown.map_err(StoreError::database(&self.db_path))?,
        })
    }
}
