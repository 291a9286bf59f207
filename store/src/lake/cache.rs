//! Blocks of what was read of a lake, kept on this machine up to a bound.

use std::collections::{HashMap, VecDeque};
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use crate::permissions;

/// Bytes that are fetched at once, and kept together.
pub(super) const BLOCK: u64 = 128 << 10;
/// Blocks that are held in memory.
const HELD: usize = 256;
/// Of the bound, what is left of the cache when it is swept.
const KEEP: u64 = 3;
const OF: u64 = 4;

/// Bytes fetched from lakes since the program began.
static FETCHED: AtomicU64 = AtomicU64::new(0);
/// Requests that this took.
static REQUESTS: AtomicU64 = AtomicU64::new(0);
/// Bytes that were taken from the cache on disk instead.
static SPARED: AtomicU64 = AtomicU64::new(0);

/// What lakes were asked for since the program began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Bytes of data files that were fetched.
    pub fetched: u64,
    /// Requests that this took.
    pub requests: u64,
    /// Bytes that the cache on this machine had.
    pub spared: u64,
}

/// What lakes were asked for by this process.
#[must_use]
pub fn traffic() -> Traffic {
    Traffic {
        fetched: FETCHED.load(Ordering::Relaxed),
        requests: REQUESTS.load(Ordering::Relaxed),
        spared: SPARED.load(Ordering::Relaxed),
    }
}

/// Notes a request and what came of it.
pub(super) fn fetched(bytes: u64) {
    FETCHED.fetch_add(bytes, Ordering::Relaxed);
    REQUESTS.fetch_add(1, Ordering::Relaxed);
}

/// A block: its name is of the file and its number.
type Key = String;

/// The blocks in memory, the latest last.
#[derive(Debug, Default)]
struct CachedBlocks {
    blocks: HashMap<Key, Arc<Vec<u8>>>,
    order: VecDeque<Key>,
}

/// Keeps blocks in a folder, the oldest go first.
#[derive(Debug)]
pub(super) struct Cache {
    folder: PathBuf,
    limit: u64,
    /// Bytes in the folder as far as this process knows.
    bytes: Mutex<Option<u64>>,
    held: Mutex<CachedBlocks>,
}

impl Cache {
    pub(super) fn new(folder: PathBuf, limit: u64) -> Self {
        Self {
            folder,
            limit,
            bytes: Mutex::new(None),
            held: Mutex::default(),
        }
    }

    /// The name of a block of a file.
    pub(super) fn key(file: &str, number: u64) -> Key {
        let hash = blake3::hash(file.as_bytes()).to_hex();
        format!("{}-{number}", &hash[..24])
    }

    /// A block, if it is here.
    pub(super) fn get(&self, key: &str) -> Option<Arc<Vec<u8>>> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(block) = held.blocks.get(key) {
            return Some(Arc::clone(block));
        }
        let bytes = fs::read(self.folder.join(key)).ok()?;
        let block = whole(bytes)?;
        SPARED.fetch_add(block.len() as u64, Ordering::Relaxed);
        let block = Arc::new(block);
        held.keep(key, &block);
        Some(block)
    }

    /// Keeps a block. Where the disk does not take it, it is only held in memory.
    pub(super) fn put(&self, key: &str, block: Vec<u8>) -> Arc<Vec<u8>> {
        let block = Arc::new(block);
        self.held
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .keep(key, &block);
        if self.limit > 0 {
            // A cache that cannot be written costs time, and nothing else.
            if let Err(error) = self.write(key, &block) {
                tracing::debug!(%error, "a block of the lake was not cached");
            }
        }
        block
    }

    fn write(&self, key: &str, block: &[u8]) -> std::io::Result<()> {
        permissions::folder(&self.folder)?;
        let beside = self.folder.join(format!("{key}.{}", std::process::id()));
        let mut bytes = blake3::hash(block).as_bytes()[..SUM].to_vec();
        bytes.extend_from_slice(block);
        let written = permissions::private_file()
            .create(true)
            .truncate(true)
            .write(true)
            .open(&beside)
            .and_then(|mut file| std::io::Write::write_all(&mut file, &bytes))
            .and_then(|()| fs::rename(&beside, self.folder.join(key)));
        if written.is_err() {
            // It may never have been there.
            let _gone = fs::remove_file(&beside);
        }
        written?;
        let mut there = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        let sum = match *there {
            Some(known) => known + bytes.len() as u64,
            None => self.files()?.iter().map(|(_, len, _)| len).sum(),
        };
        *there = Some(if sum > self.limit { self.sweep()? } else { sum });
        Ok(())
    }

    /// Removes the oldest blocks; returns the bytes that are left.
    fn sweep(&self) -> std::io::Result<u64> {
        let mut files = self.files()?;
        files.sort();
        let mut left: u64 = files.iter().map(|(_, len, _)| len).sum();
        for (_, len, path) in files {
            if left <= self.limit / OF * KEEP {
                break;
            }
            // Another process may have swept it away.
            let _gone = fs::remove_file(path);
            left -= len;
        }
        Ok(left)
    }

    fn files(&self) -> std::io::Result<Vec<(SystemTime, u64, PathBuf)>> {
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            if let Ok(data) = entry.metadata() {
                files.push((data.modified()?, data.len(), entry.path()));
            }
        }
        Ok(files)
    }
}

/// Bytes of the checksum before a block.
const SUM: usize = 8;

/// A block as it was written, or nothing.
fn whole(mut bytes: Vec<u8>) -> Option<Vec<u8>> {
    let block = bytes.split_off(bytes.len().min(SUM));
    (blake3::hash(&block).as_bytes().get(..SUM)? == bytes.as_slice()).then_some(block)
}

impl CachedBlocks {
    fn keep(&mut self, key: &str, block: &Arc<Vec<u8>>) {
        if self
            .blocks
            .insert(key.to_owned(), Arc::clone(block))
            .is_none()
        {
            self.order.push_back(key.to_owned());
        }
        while self.order.len() > HELD {
            if let Some(oldest) = self.order.pop_front() {
                self.blocks.remove(&oldest);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_stays_within_its_bound_and_gives_back_only_what_was_put() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("blocks");
        let cache = Cache::new(root.clone(), 10_000);
        for number in 0..40_u8 {
            let key = Cache::key("a", u64::from(number));
            cache.put(&key, vec![number; 1_000]);
        }
        let there: u64 = cache.files().unwrap().iter().map(|(_, len, _)| len).sum();
        assert!(there <= 10_000, "{there}");
        let again = Cache::new(root.clone(), 10_000);
        let last = Cache::key("a", 39);
        assert_eq!(*again.get(&last).unwrap(), vec![39; 1_000]);
        assert!(again.get(&Cache::key("b", 39)).is_none());
        let mut bytes = fs::read(root.join(&last)).unwrap();
        bytes[500] ^= 1;
        fs::write(root.join(&last), bytes).unwrap();
        assert!(Cache::new(root, 10_000).get(&last).is_none());
    }
}
