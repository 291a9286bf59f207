//! What has to be known still after a restart: what was answered already.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

/// What was noted cannot be looked up, or not be noted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("what was answered cannot be remembered: {0}")]
pub struct MemoryError(pub String);

/// Remembers keys for a while.
pub trait Memory: Send + Sync + fmt::Debug {
    /// Notes `key` for `keep` seconds from `now` (seconds since 1970); `true` if
    /// it was not noted yet, or long ago. Of many who ask at once, one hears `true`.
    ///
    /// # Errors
    /// When it cannot be kept; then nobody may rely on having been the first.
    fn is_first(&self, key: &str, now: i64, keep: i64) -> Result<bool, MemoryError>;
}

/// A memory that a restart empties.
#[derive(Debug, Default)]
pub struct Forgetful {
    /// Until when each key is kept.
    until: Mutex<BTreeMap<String, i64>>,
}

impl Memory for Forgetful {
    fn is_first(&self, key: &str, now: i64, keep: i64) -> Result<bool, MemoryError> {
        let mut until = self.until.lock().unwrap_or_else(PoisonError::into_inner);
        until.retain(|_, end| *end > now);
        if until.contains_key(key) {
            return Ok(false);
        }
        until.insert(key.to_owned(), now.saturating_add(keep));
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_new_once_until_its_time_is_over() {
        let memory = Forgetful::default();
        assert_eq!(memory.is_first("a", 100, 10), Ok(true));
        assert_eq!(memory.is_first("a", 109, 10), Ok(false));
        assert_eq!(memory.is_first("b", 109, 10), Ok(true));
        assert_eq!(memory.is_first("a", 110, 10), Ok(true));
    }
}
