//! Counts panics, also those that the program catches: a reader that goes on without the
//! record that it has a mistake about has that mistake all the same.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

static SEEN: AtomicU64 = AtomicU64::new(0);
static PLACES: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// Begins to count; each place of a panic is told once.
pub(crate) fn watch() {
    std::panic::set_hook(Box::new(|panic| {
        SEEN.fetch_add(1, Ordering::Relaxed);
        let place = panic.location().map(ToString::to_string);
        let place = place.unwrap_or_default();
        let mut places = PLACES.lock().unwrap_or_else(PoisonError::into_inner);
        if places.insert(place) {
            eprintln!("{panic}");
        }
    }));
}

/// How many there were.
pub(crate) fn seen() -> u64 {
    SEEN.load(Ordering::Relaxed)
}
