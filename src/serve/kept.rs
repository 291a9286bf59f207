//! What was found once and is right for as long as the store says the same: answers and pages, in
//! bounded memory.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};

use whathappened_store::StoreVersion;

/// Values of one kind by what they answer. Who may see what is a part of each key, so nobody is
/// given what was found for others.
#[derive(Debug)]
pub(super) struct Kept<K, V> {
    /// Bytes that all of them may take.
    room: usize,
    inner: Mutex<Inner<K, V>>,
}

#[derive(Debug)]
struct Inner<K, V> {
    entries: HashMap<K, Entry<V>>,
    /// Which of them were not asked for the longest.
    uses: BTreeMap<u64, K>,
    used: u64,
    taken: usize,
}

#[derive(Debug)]
struct Entry<V> {
    value: V,
    version: StoreVersion,
    bytes: usize,
    used: u64,
}

/// What an entry takes beside its value.
const ENTRY: usize = 512;

impl<K: Clone + Eq + Hash, V: Clone> Kept<K, V> {
    pub(super) fn in_bytes(room: usize) -> Self {
        Self {
            room,
            inner: Mutex::new(Inner {
                entries: HashMap::new(),
                uses: BTreeMap::new(),
                used: 0,
                taken: 0,
            }),
        }
    }

    /// The value of a key, if it was found in the store as it is now.
    pub(super) fn get(&self, key: &K, version: StoreVersion) -> Option<V> {
        self.last(key)
            .filter(|(_, of)| *of == version)
            .map(|(value, _)| value)
    }

    /// The value of a key that was found last, and in which store.
    pub(super) fn last(&self, key: &K) -> Option<(V, StoreVersion)> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let inner = &mut *inner;
        inner.used += 1;
        let entry = inner.entries.get_mut(key)?;
        if let Some(key) = inner.uses.remove(&entry.used) {
            inner.uses.insert(inner.used, key);
        }
        entry.used = inner.used;
        Some((entry.value.clone(), entry.version))
    }

    /// Keeps a value that takes about so many bytes, in place of those that were not asked for the
    /// longest. One that would take more than a quarter of the room is not kept.
    pub(super) fn put(&self, key: K, version: StoreVersion, value: V, bytes: usize) {
        let bytes = bytes.saturating_add(ENTRY);
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let inner = &mut *inner;
        inner.remove(&key);
        if bytes > self.room / 4 {
            return;
        }
        while inner.taken + bytes > self.room
            && let Some(oldest) = inner.uses.values().next().cloned()
        {
            inner.remove(&oldest);
        }
        inner.used += 1;
        inner.taken += bytes;
        inner.uses.insert(inner.used, key.clone());
        let used = inner.used;
        inner.entries.insert(
            key,
            Entry {
                value,
                version,
                bytes,
                used,
            },
        );
    }

    /// The most bytes that a value may take to be kept.
    pub(super) fn most(&self) -> usize {
        (self.room / 4).saturating_sub(ENTRY)
    }
}

impl<K: Eq + Hash, V> Inner<K, V> {
    fn remove(&mut self, key: &K) {
        if let Some(gone) = self.entries.remove(key) {
            self.uses.remove(&gone.used);
            self.taken -= gone.bytes;
        }
    }
}

/// About how many bytes an answer takes in memory; `None` where that is more than `most`.
pub(super) fn size(answer: &crate::answer::Answer, most: usize) -> Option<usize> {
    /// Memory for a byte of JSON: names of fields are not in it, but room for texts is.
    const BYTES: usize = 2;
    let mut counted = Counted {
        left: most / BYTES,
        bytes: 0,
    };
    serde_json::to_writer(&mut counted, answer).ok()?;
    Some(counted.bytes * BYTES)
}

/// Counts what is written, until it is too much.
struct Counted {
    left: usize,
    bytes: usize,
}

impl std::io::Write for Counted {
    fn write(&mut self, text: &[u8]) -> std::io::Result<usize> {
        let Some(left) = self.left.checked_sub(text.len()) else {
            return Err(std::io::ErrorKind::FileTooLarge.into());
        };
        self.left = left;
        self.bytes += text.len();
        Ok(text.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(records: i64) -> StoreVersion {
        StoreVersion {
            records,
            ..StoreVersion::default()
        }
    }

    #[test]
    fn what_was_found_is_given_until_the_store_is_another() {
        let kept = Kept::in_bytes(100_000);
        kept.put("a", version(1), 7, 10);
        assert_eq!(kept.get(&"a", version(1)), Some(7));
        assert_eq!(kept.get(&"a", version(2)), None);
        assert_eq!(kept.last(&"a"), Some((7, version(1))));
        assert_eq!(kept.get(&"b", version(1)), None);
        kept.put("a", version(2), 8, 10);
        assert_eq!(kept.get(&"a", version(2)), Some(8));
    }

    #[test]
    fn what_nobody_asks_for_makes_room() {
        let kept = Kept::in_bytes(10 * (ENTRY + 1_000));
        for number in 0..10 {
            kept.put(number, version(1), number, 1_000);
        }
        assert_eq!(kept.get(&0, version(1)), Some(0));
        kept.put(10, version(1), 10, 1_000);
        assert_eq!(kept.get(&0, version(1)), Some(0), "asked for a moment ago");
        assert_eq!(kept.get(&1, version(1)), None, "not for the longest");
        assert_eq!(kept.get(&10, version(1)), Some(10));
        kept.put(11, version(1), 11, kept.most() + 1);
        assert_eq!(kept.get(&11, version(1)), None, "too large");
        assert_eq!(kept.get(&2, version(1)), Some(2), "and puts nothing out");
        let inner = kept.inner.lock().unwrap();
        assert_eq!(inner.entries.len(), inner.uses.len());
        assert!(inner.taken <= 10 * (ENTRY + 1_000));
    }
}
