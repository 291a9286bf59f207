//! The rate at which Datadog may be asked, which we share with people.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::http::RateLimit;

/// How long a period is taken to be where the headers do not say.
const PERIOD: Duration = Duration::from_secs(60);

/// What is known of each bucket of requests. Datadog names a bucket in its
/// answers; several endpoints may share one.
#[derive(Debug)]
pub(super) struct Budget {
    left_to_people: u8,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The bucket of an endpoint, once an answer named it.
    bucket: BTreeMap<&'static str, String>,
    seen: BTreeMap<String, RateLimitState>,
}

#[derive(Clone, Copy, Debug)]
struct RateLimitState {
    limit: Option<u64>,
    remaining: u64,
    until: Instant,
}

/// Whether a request may be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Admission {
    Go,
    /// Not before this long, for `ours` requests of a period are spent.
    Wait {
        time: Duration,
        ours: u64,
    },
}

impl Budget {
    pub(super) fn new(left_to_people: u8) -> Self {
        Self {
            left_to_people: left_to_people.min(95),
            state: Mutex::default(),
        }
    }

    /// Takes one request to an endpoint out of what is left.
    pub(super) fn take(&self, endpoint: &'static str, now: Instant) -> Admission {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let State { bucket, seen } = &mut *state;
        let name = bucket.get(endpoint).map_or(endpoint, String::as_str);
        let Some(known) = seen.get_mut(name) else {
            return Admission::Go;
        };
        if known.until <= now {
            seen.remove(name);
            return Admission::Go;
        }
        let theirs = self.theirs(known.limit);
        if known.remaining <= theirs {
            return Admission::Wait {
                time: known.until - now,
                ours: known.limit.unwrap_or(theirs).saturating_sub(theirs),
            };
        }
        known.remaining -= 1;
        Admission::Go
    }

    /// What of a period's requests is not ours; never all of them.
    fn theirs(&self, limit: Option<u64>) -> u64 {
        let limit = limit.unwrap_or(0);
        let share = (limit * u64::from(self.left_to_people)).div_ceil(100);
        share.min(limit.saturating_sub(1))
    }

    /// Notes what an answer says.
    pub(super) fn note(
        &self,
        endpoint: &'static str,
        bucket: Option<&str>,
        rate: RateLimit,
        now: Instant,
    ) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let name = bucket.unwrap_or(endpoint).to_owned();
        state.bucket.insert(endpoint, name.clone());
        let seen = RateLimitState {
            limit: rate.limit,
            remaining: rate.remaining,
            until: now + rate.reset.unwrap_or(PERIOD),
        };
        state.seen.insert(name, seen);
    }

    /// Notes that nothing is left for a while.
    pub(super) fn spent(&self, endpoint: &'static str, wait: Option<Duration>, now: Instant) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let State { bucket, seen } = &mut *state;
        let name = bucket.get(endpoint).map_or(endpoint, String::as_str);
        let limit = seen.get(name).and_then(|seen| seen.limit);
        let until = now + wait.unwrap_or(PERIOD);
        let empty = RateLimitState {
            limit,
            remaining: 0,
            until,
        };
        seen.insert(name.to_owned(), empty);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEARCH: &str = "search";

    fn rate(limit: u64, remaining: u64, reset: u64) -> RateLimit {
        RateLimit {
            limit: Some(limit),
            remaining,
            reset: Some(Duration::from_secs(reset)),
        }
    }

    #[test]
    fn a_share_is_left_and_a_new_period_begins_anew() {
        let (budget, now) = (Budget::new(30), Instant::now());
        assert_eq!(budget.take(SEARCH, now), Admission::Go);
        budget.note(SEARCH, Some("logs"), rate(10, 5, 8), now);
        // Of the ten that were, five are left and three of these are not ours.
        assert_eq!(budget.take(SEARCH, now), Admission::Go);
        assert_eq!(budget.take(SEARCH, now), Admission::Go);
        let time = Duration::from_secs(8);
        assert_eq!(budget.take(SEARCH, now), Admission::Wait { time, ours: 7 });
        assert_eq!(budget.take(SEARCH, now + time), Admission::Go);
        // Endpoints of one bucket share it, others do not.
        budget.note("count", Some("logs"), rate(10, 1, 8), now);
        assert!(matches!(budget.take(SEARCH, now), Admission::Wait { .. }));
        assert_eq!(budget.take("events", now), Admission::Go);
    }

    #[test]
    fn never_is_nothing_ours_and_a_refusal_counts() {
        let (budget, now) = (Budget::new(100), Instant::now());
        budget.note(SEARCH, None, rate(1, 1, 8), now);
        assert_eq!(budget.take(SEARCH, now), Admission::Go);
        budget.spent("events", Some(Duration::from_secs(3)), now);
        assert!(matches!(budget.take("events", now), Admission::Wait { .. }));
    }
}
