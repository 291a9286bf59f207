//! Reads and writes the files of a lake for a store whose folder is only its index.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use futures::{StreamExt as _, TryStreamExt as _};
use object_store::buffered::BufWriter;
use object_store::{ObjectStore, ObjectStoreExt as _, PutPayload};
use serde_json::json;
use tokio::io::AsyncWriteExt as _;

use super::Marker;
use super::cache::{BLOCK, Cache, fetched};
use super::delta::{Delta, NewFiles};
use super::place::{Place, cause, tables};
use super::wait::wait;
use crate::elsewhere::{Change, Elsewhere, FilterOf};
use crate::error::StoreError;
use crate::segment::{Draft, SharedDraft};
use crate::store::SharedStore;

/// Requests that go on at once.
const AT_ONCE: usize = 16;
/// Bytes up to which a file is uploaded by one request.
const SMALL: u64 = 8 << 20;
/// How many blocks one request fetches at most.
const RUN: u64 = 32;

/// The files of a lake.
#[derive(Debug)]
pub(super) struct LakeFiles {
    pub(super) place: Place,
    cache: Arc<Cache>,
    /// The tables as they were read last, by name.
    pub(super) tables: BTreeMap<&'static str, Arc<tokio::sync::Mutex<Delta>>>,
}

/// Keepers of this process, by the folder of their index: what one has read of the logs
/// and holds in memory serves all.
static LAKES: LazyLock<Mutex<BTreeMap<String, Arc<LakeFiles>>>> = LazyLock::new(Mutex::default);

/// The keeper of the lake of an index.
pub(super) fn of(root: &Path, marker: &Marker) -> Result<Arc<LakeFiles>, StoreError> {
    let key = format!("{}\0{}", root.display(), marker.url);
    let mut keepers = LAKES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = keepers.get(&key) {
        return Ok(Arc::clone(known));
    }
    let place = Place::parse(&marker.url)?;
    let tables = tables().map(|name| {
        let table = Delta::new(&place, name);
        (name, Arc::new(tokio::sync::Mutex::new(table)))
    });
    let keeper = Arc::new(LakeFiles {
        tables: tables.collect(),
        cache: Arc::new(Cache::new(root.join("blocks"), marker.cache_bytes)),
        place,
    });
    keepers.insert(key, Arc::clone(&keeper));
    Ok(keeper)
}

/// What makes a store of the index in a folder.
pub(super) fn shared(root: &Path, marker: &Marker) -> Result<SharedStore, StoreError> {
    Ok(SharedStore {
        keeper: of(root, marker)?,
        writer: String::new(),
        home: None,
        reorders: false,
    })
}

impl LakeFiles {
    pub(super) fn table(&self, name: &str) -> Result<Arc<tokio::sync::Mutex<Delta>>, StoreError> {
        let found = self.tables.get(name).map(Arc::clone);
        found.ok_or_else(|| StoreError::elsewhere(name, "a lake has no such table"))
    }

    /// Fetches blocks that are not here yet. Returns those of `wanted`, in order.
    fn blocks(&self, wanted: &[(&str, u64)]) -> io::Result<Vec<Arc<Vec<u8>>>> {
        let mut found: Vec<Option<Arc<Vec<u8>>>> = Vec::with_capacity(wanted.len());
        let mut runs: Vec<(String, Range<u64>)> = Vec::new();
        for (file, number) in wanted {
            let here = self.cache.get(&Cache::key(file, *number));
            if here.is_none() {
                match runs.last_mut() {
                    Some((last, run))
                        if last == file && run.end == *number && run.end - run.start < RUN =>
                    {
                        run.end += 1;
                    }
                    Some((last, run)) if last == file && run.contains(number) => {}
                    _ => runs.push(((*file).to_owned(), *number..*number + 1)),
                }
            }
            found.push(here);
        }
        let fetched = self.fetch(runs)?;
        let missing = || io::Error::other("a block of the lake is missing");
        let mut blocks = Vec::with_capacity(wanted.len());
        for ((file, number), here) in wanted.iter().zip(found) {
            let block = match here {
                Some(block) => block,
                None => fetched
                    .get(&Cache::key(file, *number))
                    .map(Arc::clone)
                    .ok_or_else(missing)?,
            };
            blocks.push(block);
        }
        Ok(blocks)
    }

    fn fetch(&self, runs: Vec<(String, Range<u64>)>) -> io::Result<BTreeMap<String, Arc<Vec<u8>>>> {
        let mut blocks = BTreeMap::new();
        if runs.is_empty() {
            return Ok(blocks);
        }
        let (store, cache) = (Arc::clone(&self.place.store), Arc::clone(&self.cache));
        let asked: Vec<_> = runs
            .into_iter()
            .map(|(file, run)| (self.place.path(&file), file, run))
            .collect();
        let place = self.place.url.to_string();
        let work = futures::stream::iter(asked)
            .map(move |(path, file, run)| {
                let (store, cache, place) = (Arc::clone(&store), Arc::clone(&cache), place.clone());
                async move {
                    let range = run.start * BLOCK..run.end * BLOCK;
                    let bytes = store.get_range(&path, range).await.map_err(|error| {
                        StoreError::elsewhere(format!("{place}/{file}"), cause(&error))
                    })?;
                    fetched(bytes.len() as u64);
                    let size = usize::try_from(BLOCK).unwrap_or(usize::MAX);
                    let mut made = Vec::new();
                    for (number, block) in run.zip(bytes.chunks(size)) {
                        let key = Cache::key(&file, number);
                        let block = cache.put(&key, block.to_vec());
                        made.push((key, block));
                    }
                    Ok(made)
                }
            })
            .buffer_unordered(AT_ONCE)
            .try_collect::<Vec<_>>();
        let made = wait(work).map_err(|error| io::Error::other(error.to_string()))?;
        blocks.extend(made.into_iter().flatten());
        Ok(blocks)
    }

    /// A whole small file: from the cache, else fetched. Empty where there is none.
    fn whole(&self, files: Vec<String>) -> io::Result<Vec<Arc<Vec<u8>>>> {
        let (store, cache) = (Arc::clone(&self.place.store), Arc::clone(&self.cache));
        let asked: Vec<_> = files
            .into_iter()
            .map(|file| (self.place.path(&file), file))
            .collect();
        let place = self.place.url.to_string();
        let work = futures::stream::iter(asked)
            .map(move |(path, file)| {
                let (store, cache, place) = (Arc::clone(&store), Arc::clone(&cache), place.clone());
                async move {
                    let key = Cache::key(&file, 0);
                    if let Some(here) = cache.get(&key) {
                        return Ok(here);
                    }
                    let failed = |error: object_store::Error| {
                        StoreError::elsewhere(format!("{place}/{file}"), cause(&error))
                    };
                    let bytes = match store.get(&path).await {
                        Ok(found) => found.bytes().await.map_err(failed)?,
                        Err(object_store::Error::NotFound { .. }) => return Ok(Arc::default()),
                        Err(error) => return Err(failed(error)),
                    };
                    fetched(bytes.len() as u64);
                    Ok(cache.put(&key, bytes.to_vec()))
                }
            })
            .buffered(AT_ONCE)
            .try_collect::<Vec<_>>();
        wait(work).map_err(|error| io::Error::other(error.to_string()))
    }
}

/// Where a filter of a segment lies: hidden from those who clean up after Delta tables.
pub(super) fn filter_file(file: &str, of: FilterOf) -> String {
    let (table, rest) = file.split_once('/').unwrap_or(("", file));
    let name = rest.rsplit('/').next().unwrap_or(rest);
    let name = name.trim_end_matches(".parquet");
    let of = match of {
        FilterOf::Words => "words",
        FilterOf::Ids => "ids",
    };
    format!("{table}/_filters/{name}.{of}")
}

impl Elsewhere for LakeFiles {
    fn read(&self, file: &str, range: Range<u64>) -> io::Result<Vec<u8>> {
        if range.is_empty() {
            return Ok(Vec::new());
        }
        let first = range.start / BLOCK;
        let numbers: Vec<_> = (first..range.end.div_ceil(BLOCK))
            .map(|number| (file, number))
            .collect();
        let blocks = self.blocks(&numbers)?;
        let mut bytes = Vec::new();
        for block in blocks {
            bytes.extend_from_slice(&block);
        }
        let at = |place: u64| usize::try_from(place - first * BLOCK).unwrap_or(usize::MAX);
        let cut = bytes
            .get(at(range.start)..at(range.end))
            .map(<[u8]>::to_vec);
        cut.ok_or_else(|| io::Error::new(io::ErrorKind::UnexpectedEof, "the file is shorter"))
    }

    fn prefetch(&self, wanted: &[(&str, Range<u64>)]) -> io::Result<()> {
        let mut blocks: Vec<(&str, u64)> = Vec::new();
        for (file, range) in wanted {
            for number in range.start / BLOCK..range.end.div_ceil(BLOCK) {
                blocks.push((file, number));
            }
        }
        blocks.sort_unstable();
        blocks.dedup();
        self.blocks(&blocks).map(drop)
    }

    fn prefetch_filters(&self, files: &[&str], of: FilterOf) -> io::Result<()> {
        let files = files.iter().map(|file| filter_file(file, of)).collect();
        self.whole(files).map(drop)
    }

    fn filter(&self, file: &str, of: FilterOf) -> io::Result<Vec<u8>> {
        let found = self.whole(vec![filter_file(file, of)])?;
        Ok(found
            .first()
            .map(|bytes| bytes.to_vec())
            .unwrap_or_default())
    }

    fn upload(&self, drafts: &[Draft]) -> Result<(), StoreError> {
        for draft in drafts {
            let Some(SharedDraft { staged, .. }) = &draft.shared else {
                continue;
            };
            let store = Arc::clone(&self.place.store);
            let to = self.place.path(&draft.file);
            let beside = [(FilterOf::Words, &draft.words), (FilterOf::Ids, &draft.ids)].map(
                |(of, bytes)| {
                    (
                        self.place.path(&filter_file(&draft.file, of)),
                        bytes.clone(),
                    )
                },
            );
            let (bytes, from, failed) = (draft.bytes, staged.clone(), self.place.failed());
            wait(async move {
                for (path, bytes) in beside {
                    let put = store.put(&path, PutPayload::from(bytes)).await;
                    put.map_err(&failed)?;
                }
                if bytes <= SMALL {
                    let bytes = tokio::fs::read(&from)
                        .await
                        .map_err(StoreError::io(&from))?;
                    let put = store.put(&to, PutPayload::from(bytes)).await;
                    put.map_err(&failed)?;
                } else {
                    let mut file = tokio::fs::File::open(&from)
                        .await
                        .map_err(StoreError::io(&from))?;
                    let mut writer = BufWriter::new(Arc::<dyn ObjectStore>::clone(&store), to);
                    let sent = tokio::io::copy(&mut file, &mut writer).await;
                    sent.map_err(|error| StoreError::elsewhere(from.display(), error))?;
                    let done = writer.shutdown().await;
                    done.map_err(|error| StoreError::elsewhere(from.display(), error))?;
                }
                // What stays is removed when the next segment is staged.
                let _gone = tokio::fs::remove_file(&from).await;
                Ok(())
            })?;
        }
        Ok(())
    }

    fn commit(&self, change: &Change<'_>) -> Result<i64, StoreError> {
        let table = self.table(change.table.as_str())?;
        let now = change.now / 1_000_000;
        let mut files = NewFiles::new(change.is_news);
        for segment in change.removed {
            files.remove(&segment.file, segment.bytes, now);
        }
        for draft in change.added {
            files.add(&draft.file, draft.bytes, now, stats(draft));
        }
        let (wanted, place) = (change.version, self.place.url.to_string());
        wait(async move {
            let mut table = table.lock().await;
            if table.version() != wanted {
                return Err(StoreError::Outrun { place });
            }
            table.commit(files).await
        })
    }
}

/// What is told of a segment in the log: how many rows, and their times.
fn stats(draft: &Draft) -> String {
    let time = |micros: i64| {
        let at = chrono::DateTime::from_timestamp_micros(micros);
        at.map(|at| at.to_rfc3339_opts(chrono::SecondsFormat::Micros, true))
    };
    let (mut min, mut max, mut nulls) = (json!({}), json!({}), json!({}));
    let bounds = draft.shared.as_ref().map(|shared| &shared.bounds.0);
    for (name, of) in bounds.into_iter().flatten() {
        nulls[name] = json!(of.nulls);
        if of.min <= of.max {
            min[name] = json!(time(of.min));
            max[name] = json!(time(of.max));
        }
    }
    json!({
        "numRecords": draft.rows,
        "minValues": min,
        "maxValues": max,
        "nullCount": nulls,
    })
    .to_string()
}

impl LakeFiles {
    /// Whole files of the tables beside facts and objects, which are small.
    pub(super) fn files(&self, files: Vec<String>) -> Result<Vec<Vec<u8>>, StoreError> {
        let store = Arc::clone(&self.place.store);
        let asked: Vec<_> = files
            .into_iter()
            .map(|file| (self.place.path(&file), file))
            .collect();
        let place = self.place.url.to_string();
        wait(
            futures::stream::iter(asked)
                .map(move |(path, file)| {
                    let (store, place) = (Arc::clone(&store), place.clone());
                    async move {
                        let failed = |error: object_store::Error| {
                            StoreError::elsewhere(format!("{place}/{file}"), cause(&error))
                        };
                        let found = store.get(&path).await.map_err(failed)?;
                        let bytes = found.bytes().await.map_err(failed)?;
                        fetched(bytes.len() as u64);
                        Ok(bytes.to_vec())
                    }
                })
                .buffered(AT_ONCE)
                .try_collect::<Vec<_>>(),
        )
    }

    /// Adds a file to a table whatever others do to it meanwhile; once, however often it
    /// is tried.
    pub(super) fn append(
        &self,
        table: &'static str,
        file: String,
        (bytes, rows): (Vec<u8>, u64),
        at: i64,
    ) -> Result<(), StoreError> {
        let (store, path) = (Arc::clone(&self.place.store), self.place.path(&file));
        let (failed, handle) = (self.place.failed(), self.table(table)?);
        wait(async move {
            let size = bytes.len() as u64;
            let put = store.put(&path, PutPayload::from(bytes)).await;
            put.map_err(&failed)?;
            let mut table = handle.lock().await;
            let mut last = None;
            for _try in 0..TRIES {
                table.refresh().await?;
                if table.files()?.iter().any(|live| live.file == file) {
                    return Ok(());
                }
                let mut files = NewFiles::new(true);
                files.add(&file, size, at, json!({ "numRecords": rows }).to_string());
                match table.commit(files).await {
                    Ok(_) => return Ok(()),
                    // Of a commit that failed nobody knows whether it counts: it is looked for.
                    Err(error) => last = Some(error),
                }
            }
            Err(last.unwrap_or_else(|| StoreError::elsewhere(&file, "was not added")))
        })
    }
}

/// How often something is tried that others may have been quicker with.
pub(super) const TRIES: u32 = 30;
