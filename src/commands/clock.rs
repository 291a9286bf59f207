//! The clock. Everything below the commands is told what time it is.

use whathappened_model::time::Nanos;

/// The present, in nanoseconds since 1970.
#[must_use]
pub fn now() -> Nanos {
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place that asks the clock"
    )]
    let now = chrono::Utc::now();
    now.timestamp_nanos_opt().unwrap_or(Nanos::MAX)
}
