//! Times after which nobody waits for what a statement has other machines do. They are told as times of the clock, for
//! there is nothing else that two machines share.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// So much later than now, in milliseconds since 1970.
pub(super) fn after(wait: Duration) -> u64 {
    now().saturating_add(millis(wait))
}

/// Whether a deadline, in milliseconds since 1970, has been over for longer than a grace.
pub(super) fn is_over(deadline: u64, grace: Duration) -> bool {
    now() > deadline.saturating_add(millis(grace))
}

fn now() -> u64 {
    #[expect(
        clippy::disallowed_methods,
        reason = "a deadline that another machine set is a time of the clock"
    )]
    let now = SystemTime::now();
    millis(now.duration_since(UNIX_EPOCH).unwrap_or_default())
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
