//! Where a case comes from: recordings, or the store after asking live sources.

mod incidents;
mod kept;
mod live;

pub use incidents::{Kept, keep, kept};
pub use kept::{all_of_window, case_of, of_found};
pub use live::{Live, fetch, options};

use whathappened_connectors::time::Nanos;

/// The present, in nanoseconds since 1970: the one place that looks at a clock.
#[must_use]
pub fn now() -> Nanos {
    chrono::Utc::now()
        .timestamp_nanos_opt()
        .unwrap_or(Nanos::MAX)
}
