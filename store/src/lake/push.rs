//! Brings what a store of one's own has into a lake.
//!
//! An id is kept once in a lake as in a store: rows are merged with what is there when
//! they are written, by a commit that counts only if the table is what it was made of. So
//! whatever is pushed twice, by two at once, or again after its pusher was killed, is there
//! once; and files that no commit lists count for nothing.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use whathappened_model::time::Nanos;

use super::index::Index;
use super::index_tables::{self, CATALOGUE, COVERAGE, CoverageRow, INCIDENTS};
use super::keeper::TRIES;
use super::whole;
use crate::catalogue::CatalogueUpdate;
use crate::day::Day;
use crate::error::StoreError;
use crate::flushed;
use crate::hot;
use crate::incidents::StoredIncident;
use crate::lock::Lock;
use crate::packed_rows::PackedRows;
use crate::record::{Fact, FactOrObject, Object, Record, Table};
use crate::segment::{Rows, STAGING, Segment, in_path};
use crate::store::Store;

/// The clusters that a store which pushes tells of.
const CLUSTERS: &str =
    "CREATE TABLE IF NOT EXISTS lake_clusters (cluster TEXT PRIMARY KEY) WITHOUT ROWID;";

/// What pushing changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pushed {
    /// Facts and versions of objects that were looked at.
    pub rows: u64,
    /// Those of them that were new to the lake, or told something new.
    pub new: u64,
    /// Segments that were looked at.
    pub segments: u64,
    /// Incidents that were new or had changed.
    pub incidents: u64,
}

/// Brings a whole store into a lake: what is hot becomes segments first. What was brought
/// before is not looked at again. `now` is the present.
///
/// # Errors
/// When the store cannot be read or the lake not be written; what was brought stays.
pub fn push(
    store: &mut Store,
    index: &mut Index,
    now: Nanos,
    progress: &mut dyn FnMut(&str),
) -> Result<Pushed, StoreError> {
    store.flush(now)?;
    let mut pusher = Pusher::new(store, index, now)?;
    pusher.catalogue()?;
    pusher.segments::<Fact>(progress)?;
    pusher.segments::<Object>(progress)?;
    pusher.rest()?;
    Ok(pusher.pushed)
}

/// Brings the hot tier of a collector's store into a lake; a row leaves the store once it
/// is in the lake, unless it changed meanwhile. `now` is the present.
///
/// # Errors
/// When the store cannot be read or the lake not be written; then rows stay in the store.
pub fn flush(store: &mut Store, index: &mut Index, now: Nanos) -> Result<Pushed, StoreError> {
    let mut pusher = Pusher::new(store, index, now)?;
    pusher.hot::<Fact>()?;
    pusher.hot::<Object>()?;
    // What became segments while the lake could not be written.
    pusher.segments::<Fact>(&mut |_| {})?;
    pusher.segments::<Object>(&mut |_| {})?;
    pusher.rest()?;
    Ok(pusher.pushed)
}

struct Pusher<'a> {
    store: &'a mut Store,
    index: &'a mut Index,
    /// Which store this is.
    own: String,
    now: Nanos,
    pushed: Pushed,
}

impl<'a> Pusher<'a> {
    fn new(store: &'a mut Store, index: &'a mut Index, now: Nanos) -> Result<Self, StoreError> {
        if store.is_shared() {
            return Err(StoreError::elsewhere(
                store.root.display(),
                "this is the index of a lake; name the store of a collector with --store",
            ));
        }
        let own = store.identity()?;
        store
            .db
            .execute_batch(CLUSTERS)
            .map_err(StoreError::database(&store.db_path))?;
        index.write_as(&own, now);
        Ok(Self {
            store,
            index,
            own,
            now,
            pushed: Pushed::default(),
        })
    }

    /// Tells the lake of the entities and names of the store that it does not know.
    fn catalogue(&mut self) -> Result<(), StoreError> {
        let known = whole::catalogue(self.store, Nanos::MIN)?;
        self.index.add_unknown(&known, self.now)
    }

    fn segments<R: Record + Into<FactOrObject>>(
        &mut self,
        progress: &mut dyn FnMut(&str),
    ) -> Result<(), StoreError> {
        let failed = || StoreError::database(&self.store.db_path);
        let live = crate::segment::live(&self.store.db, R::TABLE, None).map_err(failed())?;
        let known = flushed::segments(&self.store.db, self.index.url()).map_err(failed())?;
        for segment in live.iter().filter(|one| !known.contains(&one.id)) {
            progress(&segment.file);
            self.segment::<R>(segment)?;
            self.pushed.segments += 1;
            flushed::remember(&self.store.db, self.index.url(), segment.id)
                .map_err(StoreError::database(&self.store.db_path))?;
        }
        Ok(())
    }

    fn segment<R: Record + Into<FactOrObject>>(
        &mut self,
        segment: &Segment,
    ) -> Result<(), StoreError> {
        let most = self.store.limits.buffer_bytes;
        let mut rows = Rows::<R>::open(self.store.open_segment(segment)?)?;
        loop {
            let mut pack = PackedRows::new();
            for row in rows.by_ref() {
                pack.push(row?)
                    .map_err(|error| StoreError::damaged(&self.store.root, error))?;
                if pack.bytes() >= most {
                    break;
                }
            }
            if pack.slots().is_empty() {
                return Ok(());
            }
            self.land(segment.day, &pack)?;
        }
    }

    fn hot<R: Record + Into<FactOrObject>>(&mut self) -> Result<(), StoreError> {
        let days = hot::days(&self.store.db, R::TABLE)
            .map_err(StoreError::database(&self.store.db_path))?;
        for (day, _) in days {
            let rows = hot::of_day::<R>(&self.store.db, day)
                .map_err(StoreError::database(&self.store.db_path))?;
            let (mut pack, mut seen) = (PackedRows::new(), CatalogueUpdate::default());
            let mut revs = Vec::with_capacity(rows.len());
            for hot in rows {
                revs.push((hot.row.place().id, hot.rev));
                seen.see(&hot.row.clone().into());
                pack.push(hot.row)
                    .map_err(|error| StoreError::damaged(&self.store.root, error))?;
            }
            self.index.add_unknown(&seen, self.now)?;
            self.land(day, &pack)?;
            let drop = || -> rusqlite::Result<()> {
                let tx = crate::db::begin_write(&self.store.db)?;
                for (id, rev) in &revs {
                    hot::settled(&tx, R::TABLE, *id, *rev)?;
                }
                tx.commit()
            };
            drop().map_err(StoreError::database(&self.store.db_path))?;
        }
        Ok(())
    }

    /// Puts rows of one day into the lake.
    fn land<R: Record>(&mut self, day: Day, rows: &PackedRows<R>) -> Result<(), StoreError> {
        self.pushed.rows += rows.slots().len() as u64;
        if R::TABLE == Table::Events {
            self.see_clusters(rows)?;
        }
        let home = self.home()?;
        self.index.store_mut().set_home(home);
        self.pushed.new += self.index.land(day, rows, self.now)?;
        Ok(())
    }

    /// Which clusters the facts of this store are of.
    fn see_clusters<R: Record>(&self, rows: &PackedRows<R>) -> Result<(), StoreError> {
        let mut clusters = BTreeSet::new();
        for number in 0..rows.slots().len() {
            let row = rows
                .row(number)
                .map_err(|error| StoreError::damaged(&self.store.root, error))?;
            if let Some(cluster) = row.watched() {
                clusters.insert(cluster.to_owned());
            }
        }
        for cluster in clusters {
            self.store
                .db
                .execute(
                    "INSERT OR IGNORE INTO lake_clusters (cluster) VALUES (?1)",
                    [cluster],
                )
                .map_err(StoreError::database(&self.store.db_path))?;
        }
        Ok(())
    }

    /// The one cluster that this store tells of, if it is one: that of its objects.
    fn home(&self) -> Result<Option<String>, StoreError> {
        let mut clusters: Vec<String> = self
            .store
            .db
            .prepare_cached("SELECT cluster FROM lake_clusters ORDER BY 1 LIMIT 2")
            .and_then(|mut all| all.query_map([], |row| row.get(0))?.collect())
            .map_err(StoreError::database(&self.store.db_path))?;
        Ok(clusters.pop().filter(|_| clusters.is_empty()))
    }

    /// What is beside facts and objects.
    fn rest(&mut self) -> Result<(), StoreError> {
        let home = self.home()?;
        self.index.store_mut().set_home(home);
        self.coverage()?;
        self.incidents()
    }

    fn coverage(&mut self) -> Result<(), StoreError> {
        let prefix = format!("{}/", self.own);
        let there = by_key(whole::coverage(&self.index.store)?);
        let mut here = whole::coverage(self.store)?;
        for (key, ..) in &mut here {
            key.insert_str(0, &prefix);
        }
        let here = by_key(here);
        let known = |key: &String| there.get(key).map(|(.., row)| row);
        let news = here
            .values()
            .filter(|(key, _, row)| known(key) != Some(row));
        let mut rows: Vec<CoverageRow> = news.cloned().collect();
        let gone = there.keys().filter(|key| key.starts_with(&prefix));
        for key in gone.filter(|key| !here.contains_key(*key)) {
            rows.push((key.clone(), self.now, None));
        }
        self.index
            .append(COVERAGE, index_tables::of_coverage(&rows), self.now)
    }

    fn incidents(&mut self) -> Result<(), StoreError> {
        let by_run = |store: &Store| -> Result<BTreeMap<String, Vec<StoredIncident>>, StoreError> {
            let mut runs: BTreeMap<String, Vec<StoredIncident>> = BTreeMap::new();
            for one in store.incidents_with_machines(Nanos::MIN)? {
                runs.entry(one.run_id.clone()).or_default().push(one);
            }
            Ok(runs)
        };
        let there = by_run(&self.index.store)?;
        let mut changed = Vec::new();
        for (run, incidents) in by_run(self.store)? {
            if there.get(&run) != Some(&incidents) {
                changed.extend(incidents);
            }
        }
        self.pushed.incidents = changed.len() as u64;
        self.index
            .append(INCIDENTS, index_tables::of_incidents(&changed), self.now)
    }
}

impl Index {
    /// Says whose files are written from here on. A name is for one run of one process.
    pub(super) fn write_as(&mut self, own: &str, now: Nanos) {
        let mut hasher = blake3::Hasher::new();
        hasher.update(own.as_bytes());
        hasher.update(&std::process::id().to_le_bytes());
        hasher.update(&now.to_le_bytes());
        hasher.update(self.store.root.as_os_str().as_encoded_bytes());
        let own: String = own
            .chars()
            .filter(char::is_ascii_alphanumeric)
            .take(8)
            .collect();
        let run = &hasher.finalize().to_hex()[..12];
        self.store.set_writer(format!("{own}-{run}"));
    }

    pub(super) fn store_mut(&mut self) -> &mut Store {
        &mut self.store
    }

    /// Puts rows of one day into the lake, each id once. Returns how many were new or told
    /// something new.
    pub(super) fn land<R: Record>(
        &mut self,
        day: Day,
        rows: &PackedRows<R>,
        now: Nanos,
    ) -> Result<u64, StoreError> {
        self.changing(|store| {
            let seen = CatalogueUpdate::default();
            store.land::<R>(day, rows.clone(), &seen, &HashMap::new(), now)
        })
    }

    /// Does something that ends in a commit, anew whenever others were quicker. Of a
    /// commit that failed nobody knows whether it counts, so the index is made to follow
    /// the log first: what counts already is not told twice.
    pub(super) fn changing<T>(
        &mut self,
        mut work: impl FnMut(&mut Store) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let _lock = Lock::wait(&self.store.root)?;
        let mut tried = 0;
        let mut failed = 0;
        loop {
            let done = self.sync_held().and_then(|()| {
                clear(&self.store)?;
                work(&mut self.store)
            });
            match done {
                Err(StoreError::Outrun { .. }) if tried < TRIES => {
                    tried += 1;
                    // Each waits a time of its own, so that two do not meet again and again.
                    std::thread::sleep(pause(&self.store.writer(), tried));
                }
                Err(StoreError::Elsewhere { .. }) if failed < FAILURES => {
                    failed += 1;
                    std::thread::sleep(pause(&self.store.writer(), 4 * failed));
                }
                done => return done,
            }
        }
    }

    /// Tells the lake of entities and names that it does not know.
    pub(super) fn add_unknown(
        &mut self,
        seen: &CatalogueUpdate,
        now: Nanos,
    ) -> Result<(), StoreError> {
        let news = seen
            .news(&self.store.db)
            .map_err(StoreError::database(&self.store.db_path))?;
        self.append(CATALOGUE, index_tables::of_catalogue(&news), now)
    }

    /// Adds rows to a table beside facts and objects, and takes them in.
    pub(super) fn append(
        &mut self,
        table: &'static str,
        batch: Option<arrow_array::RecordBatch>,
        now: Nanos,
    ) -> Result<(), StoreError> {
        let Some(batch) = batch else {
            return Ok(());
        };
        let bytes =
            index_tables::to_file(&batch).map_err(|why| StoreError::elsewhere(table, why))?;
        let hash = blake3::hash(&bytes).to_hex();
        let file = format!(
            "{table}/cluster={}/day={}/{now:020}-{}-{}.parquet",
            in_path(self.store.home().as_deref()),
            Day::of(now),
            self.store.writer(),
            &hash[..16]
        );
        let rows = batch.num_rows() as u64;
        self.keeper
            .append(table, file, (bytes, rows), now / 1_000_000)?;
        self.sync()
    }
}

fn by_key(rows: Vec<CoverageRow>) -> BTreeMap<String, CoverageRow> {
    rows.into_iter().map(|row| (row.0.clone(), row)).collect()
}

/// How often a lake that does not answer is asked again.
const FAILURES: u32 = 5;

/// How long one who was outrun waits.
fn pause(writer: &str, tried: u32) -> std::time::Duration {
    let spread = blake3::hash(format!("{writer}{tried}").as_bytes());
    let spread = u64::from(spread.as_bytes()[0]);
    std::time::Duration::from_millis(spread * u64::from(tried.min(10)) / 4)
}

/// Removes what was staged by whoever died meanwhile. To be called with the lock held.
fn clear(store: &Store) -> Result<(), StoreError> {
    let folder = store.root.join(STAGING);
    let Ok(entries) = std::fs::read_dir(&folder) else {
        return Ok(());
    };
    for entry in entries {
        let path = entry.map_err(StoreError::io(&folder))?.path();
        std::fs::remove_file(&path).map_err(StoreError::io(&path))?;
    }
    Ok(())
}
