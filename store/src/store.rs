//! A store: a folder with a database and segments.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::{Connection, Transaction};
use whathappened_model::connector::Cursor;
use whathappened_model::coverage::Coverage;
use whathappened_model::observation::Observation;
use whathappened_model::time::Nanos;

use crate::access::Access;
use crate::catalogue::{CatalogueUpdate, Root, kept_roots};
use crate::db::begin_write;
use crate::elsewhere::Elsewhere;
use crate::error::StoreError;
use crate::limits::Limits;
use crate::metadata;
use crate::place_cache::PlaceCache;
use crate::record::{Fact, FactOrObject, Object, Table};
use crate::segment::{self, Segment, VerifiedFile};
use crate::snapshot::Snapshot;
use crate::{bulk, db, health, hot, lake, lock, permissions, reserve, retain, upsert, version};

/// The format of stores that this program writes, and the newest one it reads.
pub const FORMAT: i64 = 1;

/// The database's name in the store's folder.
pub(crate) const DATABASE: &str = "store.db";

/// Where segments are read from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin<'a> {
    pub(crate) root: &'a Path,
    pub(crate) db_path: &'a Path,
    /// Whoever keeps them, if they lie elsewhere.
    pub(crate) keeper: Option<&'a Arc<dyn Elsewhere>>,
}

/// What makes a folder the index of a store that many share.
#[derive(Clone, Debug)]
#[cfg_attr(
    not(feature = "lake"),
    allow(dead_code, reason = "only a lake makes or reads it")
)]
pub(crate) struct SharedStore {
    pub(crate) keeper: Arc<dyn Elsewhere>,
    /// What names of segments begin with that are written here.
    pub(crate) writer: String,
    /// The cluster of what does not say its own.
    pub(crate) home: Option<String>,
    /// What is committed now tells nothing new, but puts rows in another order.
    pub(crate) reorders: bool,
}

/// What was collected, in one folder. Many processes may have it open at once.
#[derive(Debug)]
pub struct Store {
    pub(crate) root: PathBuf,
    pub(crate) db_path: PathBuf,
    pub(crate) db: Connection,
    pub(crate) limits: Limits,
    /// What is wrong with the database, where it was looked at when it was opened to read.
    pub(crate) problems: Vec<String>,
    /// Who keeps the segments, where the folder is only an index of them.
    pub(crate) shared: Option<SharedStore>,
    /// What was read of segments, while many runs are explained one after the other.
    pub(crate) places: Option<PlaceCache>,
}

impl Store {
    /// Opens a store for writing; makes it where there is none.
    ///
    /// # Errors
    /// When the folder cannot be used, or a newer program wrote it.
    pub fn open(root: &Path, limits: Limits) -> Result<Self, StoreError> {
        permissions::folder(root).map_err(StoreError::io(root))?;
        let db_path = root.join(DATABASE);
        let db = db::open(&db_path)?;
        health::at_opening(&db, &db_path)?;
        reserve::keep(root);
        Ok(Self {
            root: root.to_owned(),
            db_path,
            db,
            limits,
            problems: Vec::new(),
            shared: lake::of_index(root)?,
            places: None,
        })
    }

    /// Opens a store for reading only.
    ///
    /// # Errors
    /// When there is none, or a newer program wrote it.
    pub fn open_to_read(root: &Path) -> Result<Self, StoreError> {
        let db_path = root.join(DATABASE);
        if !db_path.exists() {
            let segments = retain::on_disk(root)?.len();
            if segments > 0 {
                return Err(StoreError::Unlisted {
                    path: db_path,
                    segments,
                });
            }
            return Err(StoreError::Missing {
                path: root.to_owned(),
            });
        }
        let db = db::open_to_read(&db_path)?;
        let problems = health::at_reading(&db, &db_path)?;
        Ok(Self {
            root: root.to_owned(),
            db,
            db_path,
            limits: Limits::default(),
            problems,
            shared: lake::of_index(root)?,
            places: None,
        })
    }

    /// Reads what some runs are told by all at once, and keeps it until these are explained:
    /// read for each by itself, every segment is opened for every run.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn read_ahead(&mut self, roots: &[&Root]) -> Result<(), StoreError> {
        if self.places.as_ref().is_none_or(PlaceCache::is_half_full) {
            self.places = Some(PlaceCache::default());
        }
        self.snapshot()?.read_ahead(roots)
    }

    /// Forgets what was read ahead.
    pub fn forget_places(&mut self) {
        self.places = None;
    }

    /// The store's folder.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn origin(&self) -> Origin<'_> {
        Origin {
            root: &self.root,
            db_path: &self.db_path,
            keeper: self.shared.as_ref().map(|shared| &shared.keeper),
        }
    }

    /// Whether this is the index of a store that many share: a lake.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        self.shared.is_some()
    }

    /// The cluster of what does not say its own.
    pub(crate) fn home(&self) -> Option<String> {
        self.shared.as_ref()?.home.clone()
    }

    /// Says of which cluster is what does not say its own.
    #[cfg(feature = "lake")]
    pub(crate) fn set_home(&mut self, home: Option<String>) {
        if let Some(shared) = &mut self.shared {
            shared.home = home;
        }
    }

    /// Says whether what is committed from here on only puts rows in another order.
    #[cfg(feature = "lake")]
    pub(crate) fn only_reordering(&mut self, reorders: bool) {
        if let Some(shared) = &mut self.shared {
            shared.reorders = reorders;
        }
    }

    /// Says what names of segments begin with from here on.
    #[cfg(feature = "lake")]
    pub(crate) fn set_writer(&mut self, writer: String) {
        if let Some(shared) = &mut self.shared {
            shared.writer = writer;
        }
    }

    /// What names of segments begin with.
    #[cfg(feature = "lake")]
    pub(crate) fn writer(&self) -> String {
        let shared = self.shared.as_ref();
        shared.map_or_else(String::new, |shared| shared.writer.clone())
    }

    /// The index of a lake is no place to keep anything: it may be deleted at any time.
    pub(crate) fn refuse_shared(&self) -> Result<(), StoreError> {
        if self.is_shared() {
            return Err(StoreError::elsewhere(
                self.root.display(),
                "this is the index of a lake; rows get into a lake by `whathappened store push` or `whathappened collect --lake`",
            ));
        }
        Ok(())
    }

    /// For whom segments are written.
    pub(crate) fn shape(&self, cluster: Option<String>) -> segment::Shape {
        match &self.shared {
            None => segment::Shape::Own,
            Some(shared) => segment::Shape::Shared {
                cluster,
                writer: shared.writer.clone(),
            },
        }
    }

    /// How much is kept.
    #[must_use]
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Everything as it is at this moment; writers do not change it.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn snapshot(&self) -> Result<Snapshot<'_>, StoreError> {
        Snapshot::take(self, &Access::default())
    }

    /// The same, as far as one caller may see it.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn snapshot_for(&self, access: &Access) -> Result<Snapshot<'_>, StoreError> {
        Snapshot::take(self, access)
    }

    /// Takes in many rows, straight into segments.
    #[must_use]
    pub fn bulk(&mut self, now: Nanos) -> bulk::BulkImport<'_> {
        bulk::BulkImport::new(self, now)
    }

    /// Takes in a small batch and the cursors that it moves, in one
    /// transaction: when this returns, they are kept. Returns how many rows
    /// were new or told something new.
    ///
    /// # Errors
    /// When the database or a segment cannot be used; then nothing is taken in.
    pub fn write(
        &mut self,
        observations: Vec<Observation>,
        cursors: &[Cursor],
    ) -> Result<u64, StoreError> {
        self.write_covered(observations, cursors, &[], 0)
    }

    /// The same with what a source could and could not show, in the same
    /// transaction: a cursor never moves over a gap that nothing tells of.
    /// See [`Store::keep_coverage`] for the keys; `at` is the present.
    ///
    /// # Errors
    /// When the database or a segment cannot be used; then nothing is taken in.
    pub fn write_covered(
        &mut self,
        observations: Vec<Observation>,
        cursors: &[Cursor],
        coverage: &[(String, Coverage)],
        at: Nanos,
    ) -> Result<u64, StoreError> {
        let mut seen = CatalogueUpdate::default();
        let (mut facts, mut objects) = (Vec::new(), Vec::new());
        for observation in observations {
            let row = FactOrObject::of(observation);
            seen.see(&row);
            match row {
                FactOrObject::Fact(fact) => facts.push(fact),
                FactOrObject::Object(object) => objects.push(object),
            }
        }
        self.upsert_all((facts, objects), &seen, |tx| {
            metadata::set_cursors(tx, cursors)?;
            metadata::set_coverage(tx, coverage, at)
        })
    }

    /// Takes in rows of another hot tier, with every witness.
    pub(crate) fn put_hot(
        &mut self,
        facts: Vec<Fact>,
        objects: Vec<Object>,
    ) -> Result<u64, StoreError> {
        let mut seen = CatalogueUpdate::default();
        for fact in &facts {
            seen.see(&fact.clone().into());
        }
        for object in &objects {
            seen.see(&object.clone().into());
        }
        self.upsert_all((facts, objects), &seen, |_| Ok(()))
    }

    fn upsert_all(
        &mut self,
        (facts, objects): (Vec<Fact>, Vec<Object>),
        seen: &CatalogueUpdate,
        also: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<()>,
    ) -> Result<u64, StoreError> {
        self.refuse_shared()?;
        let failed = StoreError::database(&self.db_path);
        let tx = begin_write(&self.db).map_err(failed)?;
        let keeper = self.shared.as_ref().map(|shared| &shared.keeper);
        let place = Origin {
            root: &self.root,
            db_path: &self.db_path,
            keeper,
        };
        let mut news = upsert::rows::<Fact>(&tx, place, facts)?;
        news += upsert::rows::<Object>(&tx, place, objects)?;
        seen.write(&tx)
            .and_then(|()| also(&tx))
            .and_then(|()| tx.commit())
            .map_err(StoreError::database(&self.db_path))?;
        Ok(news)
    }

    /// Keeps what runs are of, for those who ask for all of them until who is known changes: in a large
    /// store that is most of what a list of runs or a report takes.
    ///
    /// # Errors
    /// When the database cannot be used.
    pub fn keep_roots(&self) -> Result<(), StoreError> {
        /// A catalogue of fewer is read as quickly as it is kept.
        const FEW: i64 = 5_000;
        if self.is_shared() {
            return Ok(());
        }
        let failed = || StoreError::database(&self.db_path);
        let last: Option<i64> = self
            .db
            .query_row("SELECT max(id) FROM entities", [], |row| row.get(0))
            .map_err(failed())?;
        if last.is_none_or(|last| last < FEW) {
            return Ok(());
        }
        let now = || version::of_catalogue(&self.db).map_err(failed());
        let Some(before) = now()? else {
            return Ok(());
        };
        if kept_roots::read(&self.db, before)
            .map_err(failed())?
            .is_some()
        {
            return Ok(());
        }
        let snapshot = self.snapshot()?;
        let roots = snapshot.roots(Nanos::MIN, Nanos::MAX)?;
        // What a disk changed is to be told of each time.
        let is_whole = snapshot.look().wrong.get() == 0;
        drop(snapshot);
        if !is_whole {
            return Ok(());
        }
        let write = || {
            let tx = begin_write(&self.db)?;
            if version::of_catalogue(&tx)? == Some(before) {
                kept_roots::write(&tx, before, &roots)?;
            }
            tx.commit()
        };
        write().map_err(failed())
    }

    /// Turns hot rows into segments where there are too many of them. Returns
    /// how many rows moved; none where another process is at it.
    ///
    /// # Errors
    /// When a segment cannot be written; then the rows stay where they are.
    pub fn settle(&mut self, now: Nanos) -> Result<u64, StoreError> {
        if self.hot_rows()? <= self.limits.hot_rows {
            return Ok(0);
        }
        let Some(_lock) = lock::Lock::try_now(&self.root)? else {
            return Ok(0);
        };
        self.flush_held(now)
    }

    /// How many rows are in the hot tier.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn hot_rows(&self) -> Result<u64, StoreError> {
        let mut total = 0;
        for table in [Table::Events, Table::Objects] {
            total += hot::days(&self.db, table)
                .map_err(StoreError::database(&self.db_path))?
                .iter()
                .map(|(_, rows)| rows)
                .sum::<u64>();
        }
        Ok(total)
    }

    /// Keeps that some logs, by their names, are of one run.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn keep_gang(
        &mut self,
        gang: &str,
        logs: &[String],
        life: (Nanos, Nanos),
    ) -> Result<(), StoreError> {
        let mut seen = CatalogueUpdate::default();
        seen.gang(gang, logs, life);
        self.keep_seen(&seen)
    }

    /// Keeps that a log, or the files of an experiment tracker, by their names, are of the run of another log.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn keep_of_log(
        &mut self,
        log: &str,
        part: &str,
        life: (Nanos, Nanos),
    ) -> Result<(), StoreError> {
        let mut seen = CatalogueUpdate::default();
        seen.of_log(log, part, life);
        self.keep_seen(&seen)
    }

    /// A segment of the list, to be compared with its checksums while it is read.
    pub(crate) fn open_segment(&self, segment: &Segment) -> Result<VerifiedFile, StoreError> {
        segment::open(&self.db, self.origin(), segment)
    }

    /// Says that a file of that name counts for nothing until it is on the list.
    pub(crate) fn announce(&self, file: &str, now: Nanos) -> Result<(), StoreError> {
        segment::announce(&self.db, file, now).map_err(StoreError::database(&self.db_path))
    }

    /// The next number of a segment, for its file's name.
    pub(crate) fn next_number(&self) -> Result<i64, StoreError> {
        self.db
            .query_row(
                "SELECT coalesce(max(seq), 0) + 1 FROM sqlite_sequence WHERE name = 'segments'",
                [],
                |row| row.get(0),
            )
            .map_err(StoreError::database(&self.db_path))
    }
}
