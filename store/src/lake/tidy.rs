//! Keeps a lake in order: few files, none that nobody can read, nothing that is too old.

use std::collections::BTreeSet;
use std::sync::Arc;

use chrono::TimeDelta;
use futures::TryStreamExt as _;
use object_store::{ObjectStore as _, ObjectStoreExt as _};
use whathappened_model::time::Nanos;

use super::delta::NewFiles;
use super::index::Index;
use super::index_tables::{self, CATALOGUE, COVERAGE, TABLES};
use super::place::{cause, tables};
use super::wait::wait;
use super::whole;
use crate::catalogue::CatalogueUpdate;
use crate::compact::{NewRows, merge};
use crate::day::Day;
use crate::error::StoreError;
use crate::record::{Fact, Object, Record, Table};
use crate::segment::{self, Segment, cluster_of, in_path};

/// Files of a cluster's day that whoever flushes leaves as they are, of those it wrote.
const FEW: usize = 16;
/// Files of a table beside facts and objects after which they become one.
const MANY: usize = 16;
/// How long a file that no commit lists stays: who uploads one commits it sooner, and who
/// reads by an older list is done by then.
const GRACE: TimeDelta = TimeDelta::days(7);

/// What compaction and retention changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tidied {
    /// Files that others stand in for, or that were too old.
    pub replaced: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// What vacuuming removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Vacuumed {
    /// Files that were removed.
    pub removed: u64,
}

impl Index {
    /// Turns the files of each cluster's day that has more than `most` into one. Others go
    /// on writing; who is outrun begins again.
    ///
    /// # Errors
    /// When the lake cannot be read or written; what was done before stays.
    pub fn compact(
        &mut self,
        most: usize,
        now: Nanos,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Tidied, StoreError> {
        let identity = self.store.identity()?;
        self.write_as(&identity, now);
        let mut tidied = Tidied::default();
        let choose = |live| crowded(live, most);
        while let Some(done) = self.compact_one::<Fact>(&choose, now, progress)? {
            tidied.add(&done);
        }
        while let Some(done) = self.compact_one::<Object>(&choose, now, progress)? {
            tidied.add(&done);
        }
        self.sum_all_up(now)?;
        Ok(tidied)
    }

    /// Merges the smallest files of those that this writer flushed, where a cluster's day
    /// has many of them. To be called after each flush: what is large is seldom written
    /// again, and nobody else merges the same files.
    ///
    /// # Errors
    /// When the lake cannot be read or written; what was done before stays.
    pub fn merge_small(&mut self, now: Nanos) -> Result<Tidied, StoreError> {
        let writer = self.store.writer();
        let own = writer.split('-').next().unwrap_or_default().to_owned();
        let choose = |live| smallest(live, &own);
        let mut tidied = Tidied::default();
        while let Some(done) = self.compact_one::<Fact>(&choose, now, &mut |_| {})? {
            tidied.add(&done);
        }
        while let Some(done) = self.compact_one::<Object>(&choose, now, &mut |_| {})? {
            tidied.add(&done);
        }
        self.sum_all_up(now)?;
        Ok(tidied)
    }

    fn sum_all_up(&mut self, now: Nanos) -> Result<(), StoreError> {
        for table in TABLES {
            self.sum_up(table, now, Nanos::MIN)?;
        }
        Ok(())
    }

    fn compact_one<R: Record>(
        &mut self,
        choose: &dyn Fn(Vec<Segment>) -> Option<Vec<Segment>>,
        now: Nanos,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Option<Vec<Segment>>, StoreError> {
        let mut tried = Vec::new();
        self.changing(|store| {
            let live = segment::live(&store.db, R::TABLE, None)
                .map_err(StoreError::database(&store.db_path))?;
            if went(&tried, &live) {
                return Ok(Some(std::mem::take(&mut tried)));
            }
            let Some(many) = choose(live) else {
                return Ok(None);
            };
            let Some(first) = many.first() else {
                return Ok(None);
            };
            progress(first.file.rsplit_once('/').map_or("", |(folder, _)| folder));
            let drafts = merge::<R>(store, first.day, &many, NewRows::none(), now)?;
            tried.clone_from(&many);
            store.only_reordering(true);
            let seen = CatalogueUpdate::default();
            let done = store.commit(&drafts, &many, &seen, (now, now), |_, _| Ok(()));
            store.only_reordering(false);
            done.map(|_| Some(many))
        })
    }

    /// Removes what speaks of nothing later than `oldest`: whole files of facts and
    /// versions of objects, and entities that were not heard of since.
    ///
    /// # Errors
    /// When the lake cannot be read or written.
    pub fn retain(&mut self, oldest: Nanos, now: Nanos) -> Result<Tidied, StoreError> {
        let identity = self.store.identity()?;
        self.write_as(&identity, now);
        let mut tidied = Tidied::default();
        for table in [Table::Events, Table::Objects] {
            let mut tried = Vec::new();
            let gone = self.changing(|store| {
                let mut old = segment::live(&store.db, table, None)
                    .map_err(StoreError::database(&store.db_path))?;
                if went(&tried, &old) {
                    return Ok(std::mem::take(&mut tried));
                }
                old.retain(|one| one.time_to < oldest && one.time_to != Nanos::MIN);
                tried.clone_from(&old);
                if !old.is_empty() {
                    let seen = CatalogueUpdate::default();
                    store.commit(&[], &old, &seen, (now, now), |_, _| Ok(()))?;
                }
                Ok(old)
            })?;
            tidied.add(&gone);
        }
        self.sum_up(CATALOGUE, now, oldest)?;
        Ok(tidied)
    }

    /// Writes the files of a small table as one, where they are many or something of them
    /// is older than `oldest`.
    fn sum_up(&mut self, table: &'static str, now: Nanos, oldest: Nanos) -> Result<(), StoreError> {
        let handle = self.keeper.table(table)?;
        self.sync()?;
        let files = {
            let handle = Arc::clone(&handle);
            wait(async move { handle.lock().await.files() })?
        };
        let is_due = files.len() > MANY || (oldest != Nanos::MIN && !files.is_empty());
        let Some(last) = files.iter().filter_map(|one| name(&one.file)).max() else {
            return Ok(());
        };
        if !is_due {
            return Ok(());
        }
        let batch = match table {
            CATALOGUE => index_tables::of_catalogue(&whole::catalogue(&self.store, oldest)?),
            COVERAGE => index_tables::of_coverage(&whole::coverage(&self.store)?),
            _ => index_tables::of_incidents(&self.store.incidents_with_machines(Nanos::MIN)?),
        };
        let mut change = NewFiles::new(true);
        for old in &files {
            change.remove(&old.file, old.bytes, now / 1_000_000);
        }
        let mut new = None;
        if let Some(batch) = batch {
            let bytes =
                index_tables::to_file(&batch).map_err(|why| StoreError::elsewhere(table, why))?;
            // Later than what it is made of, earlier than what is told from here on.
            let at = last.split('-').next().unwrap_or_default();
            let file = format!(
                "{table}/cluster={}/day={}/{at}-{}-sum.parquet",
                in_path(None),
                Day::of(now),
                self.store.writer()
            );
            let stats = serde_json::json!({ "numRecords": batch.num_rows() });
            change.add(
                &file,
                bytes.len() as u64,
                now / 1_000_000,
                stats.to_string(),
            );
            new = Some((file, bytes));
        }
        let (place, seen) = (self.keeper.place.clone(), files);
        let done = wait(async move {
            if let Some((file, bytes)) = new {
                let put = place.store.put(&place.path(&file), bytes.into()).await;
                put.map_err(place.failed())?;
            }
            let mut handle = handle.lock().await;
            if handle.files()? != seen {
                return Ok(());
            }
            handle.commit(change).await.map(drop)
        });
        match done {
            // It is summed up the next time.
            Err(StoreError::Outrun { .. }) => Ok(()),
            done => done.and_then(|()| self.sync()),
        }
    }

    /// Removes files that no version of the last seven days lists.
    ///
    /// # Errors
    /// When the lake cannot be listed, or does not let files be removed.
    pub fn vacuum(&mut self) -> Result<Vacuumed, StoreError> {
        self.sync()?;
        let mut vacuumed = Vacuumed::default();
        for name in tables() {
            let handle = self.keeper.table(name)?;
            let place = self.keeper.place.clone();
            vacuumed.removed += wait(async move {
                let mut handle = handle.lock().await;
                handle.refresh().await?;
                let Some(table) = handle.table() else {
                    return Ok(0);
                };
                let failed = |error| StoreError::elsewhere(name, cause(&error));
                let (_, done) = table
                    .vacuum()
                    .with_retention_period(GRACE)
                    .await
                    .map_err(failed)?;
                handle.refresh().await?;
                let filters = filters_of_none(&place, name).await?;
                Ok(done.files_deleted.len() as u64 + filters)
            })?;
        }
        self.sync()?;
        Ok(vacuumed)
    }
}

impl Tidied {
    fn add(&mut self, gone: &[Segment]) {
        self.replaced += gone.len() as u64;
        self.bytes += gone.iter().map(|one| one.bytes).sum::<u64>();
    }
}

/// Whether files went by a commit of which nobody heard that it counts.
fn went(tried: &[Segment], live: &[Segment]) -> bool {
    let is_live = |one: &Segment| live.iter().any(|other| other.file == one.file);
    !tried.is_empty() && !tried.iter().any(is_live)
}

/// The first cluster's day that has more files than `most`.
fn crowded(mut live: Vec<Segment>, most: usize) -> Option<Vec<Segment>> {
    live.sort_by_cached_key(|one| (one.day, cluster_of(&one.file), one.file.clone()));
    let same =
        |a: &Segment, b: &Segment| a.day == b.day && cluster_of(&a.file) == cluster_of(&b.file);
    let mut groups = live.chunk_by(same);
    let found = groups.find(|group| group.len() > most.max(1));
    found.map(<[Segment]>::to_vec)
}

/// The smallest files of the first cluster's day that has many of one writer; half as many
/// as it may have stay as they are.
fn smallest(mut live: Vec<Segment>, writer: &str) -> Option<Vec<Segment>> {
    live.retain(|one| {
        let of = name(&one.file).and_then(|name| name.split('-').next());
        of == Some(writer)
    });
    let mut many = crowded(live, FEW)?;
    many.sort_by_key(|one| one.bytes);
    many.truncate(many.len() - FEW / 2);
    Some(many)
}

fn name(file: &str) -> Option<&str> {
    file.rsplit('/').next()
}

/// Removes filters of segments that are gone; how many.
async fn filters_of_none(place: &super::place::Place, table: &str) -> Result<u64, StoreError> {
    let root = place.path(table);
    let mut segments = BTreeSet::new();
    let mut filters = Vec::new();
    let mut listed = place.store.list(Some(&root));
    let mut latest = None;
    while let Some(meta) = listed.try_next().await.map_err(place.failed())? {
        latest = latest.max(Some(meta.last_modified));
        let Some(file) = meta.location.filename() else {
            continue;
        };
        if let Some(stem) = file.strip_suffix(".parquet") {
            segments.insert(stem.to_owned());
        } else if meta.location.as_ref().contains("/_filters/") {
            let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
            filters.push((stem.to_owned(), meta.last_modified, meta.location));
        }
    }
    let mut removed = 0;
    for (stem, at, path) in filters {
        // The object store's own clock says what is old.
        let is_old = latest.is_some_and(|latest| at + GRACE < latest);
        if is_old && !segments.contains(&stem) {
            place.store.delete(&path).await.map_err(place.failed())?;
            removed += 1;
        }
    }
    Ok(removed)
}
