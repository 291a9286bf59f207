//! Which segments cannot hold a word: a split-block Bloom filter, as Parquet has them.

use std::collections::HashSet;

use parquet::bloom_filter::Sbbf;

/// Share of segments opened in vain.
const FALSE_POSITIVES: f64 = 0.01;

/// The key of a word of a column.
#[must_use]
pub fn filter_key(column: &str, value: &str) -> i64 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(column.as_bytes());
    hasher.update(&[0]);
    hasher.update(value.as_bytes());
    let mut key = [0; 8];
    key.copy_from_slice(&hasher.finalize().as_bytes()[..8]);
    i64::from_le_bytes(key)
}

/// A set of keys that may claim to hold what it does not, never the reverse.
#[derive(Debug)]
pub(crate) struct Filter(Sbbf);

impl Filter {
    pub(crate) fn of(keys: &HashSet<i64>) -> Self {
        let count = u64::try_from(keys.len()).unwrap_or(u64::MAX).max(8);
        let mut filter = Sbbf::new_with_ndv_fpp(count, FALSE_POSITIVES)
            .unwrap_or_else(|_| Sbbf::new_with_num_of_bytes(1 << 16));
        for key in keys {
            filter.insert(key);
        }
        Self(filter)
    }

    pub(crate) fn may_hold(&self, key: i64) -> bool {
        self.0.check(&key)
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        // Writing to memory does not fail; an empty filter would hide rows, so one
        // that could not be written holds everything.
        match self.0.write_bitset(&mut bytes) {
            Ok(()) => bytes,
            Err(_) => vec![0xff; 32],
        }
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Self {
        if bytes.is_empty() || !bytes.len().is_multiple_of(32) {
            return Self(Sbbf::new(&[0xff; 32]));
        }
        Self(Sbbf::new(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holds_what_was_put_in_and_little_else() {
        let keys: HashSet<i64> = (0..1_000)
            .map(|n| filter_key("pod", &n.to_string()))
            .collect();
        let filter = Filter::from_bytes(&Filter::of(&keys).to_bytes());
        assert!(keys.iter().all(|key| filter.may_hold(*key)));
        let wrong = (0..10_000)
            .filter(|n| filter.may_hold(filter_key("node", &n.to_string())))
            .count();
        assert!(wrong < 500, "{wrong} of 10000");
    }
}
