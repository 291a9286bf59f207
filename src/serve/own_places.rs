//! Places of each caller's own, so that whoever asks much makes only themselves wait.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Semaphore;

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
        let own = known.entry(caller.to_owned());
        Arc::clone(own.or_insert_with(|| Arc::new(Semaphore::new(self.of_one))))
    }
}
