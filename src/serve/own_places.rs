//! Places of each caller's own, so that whoever asks much makes only themselves wait.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Semaphore;

/// Callers whose places are kept though they use none; more of them are forgotten.
const KNOWN: usize = 4_096;

/// How many of some places each caller may have.
#[derive(Debug)]
pub(super) struct OwnPlaces {
    of_one: usize,
    own: Mutex<HashMap<String, Arc<Semaphore>>>,
}

impl OwnPlaces {
    /// Half of the places for each caller, one at the least.
    pub(super) fn half_of(all: usize) -> Self {
        Self {
            of_one: (all / 2).max(1),
            own: Mutex::default(),
        }
    }

    /// The places of one caller.
    pub(super) fn of(&self, caller: &str) -> Arc<Semaphore> {
        // A map of semaphores is sound whoever panicked over it.
        let mut known = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= KNOWN {
            // Whoever has a place holds a share of its semaphore.
            known.retain(|_, own| Arc::strong_count(own) > 1);
        }
        let own = known.entry(caller.to_owned());
        Arc::clone(own.or_insert_with(|| Arc::new(Semaphore::new(self.of_one))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_caller_has_half_and_who_has_none_is_forgotten() {
        let places = OwnPlaces::half_of(4);
        let busy = places.of("a");
        let held = [busy.try_acquire().unwrap(), busy.try_acquire().unwrap()];
        assert!(places.of("a").try_acquire().is_err());
        for number in 0..2 * KNOWN {
            assert!(places.of(&number.to_string()).try_acquire().is_ok());
        }
        assert!(places.own.lock().unwrap().len() <= KNOWN);
        assert!(places.of("a").try_acquire().is_err());
        drop(held);
        assert!(places.of("a").try_acquire().is_ok());
    }
}
