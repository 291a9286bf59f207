//! Days: the partitions of the store.

use std::fmt;
use std::str::FromStr;

use chrono::{DateTime, NaiveDate, NaiveTime, Utc};
use serde::{Deserialize, Serialize};
use whathappened_model::time::{Nanos, SECOND, Stamp};

const SECONDS: i64 = 86_400;

/// A day in UTC, counted from 1970-01-01; facts without a time have one of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Day(pub i64);

impl Day {
    /// The partition of facts whose time nobody knows.
    pub const UNKNOWN: Self = Self(i64::MIN);

    /// The day that an instant falls in.
    #[must_use]
    pub fn of(at: Nanos) -> Self {
        if at == Nanos::MIN {
            return Self::UNKNOWN;
        }
        Self(at.div_euclid(SECONDS * SECOND))
    }

    /// The day that a time begins in.
    #[must_use]
    pub fn of_stamp(stamp: Stamp) -> Self {
        Self::of(stamp.lo)
    }
}

impl FromStr for Day {
    type Err = chrono::ParseError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "unknown" {
            return Ok(Self::UNKNOWN);
        }
        let date: NaiveDate = text.parse()?;
        Ok(Self(
            date.and_time(NaiveTime::MIN)
                .and_utc()
                .timestamp()
                .div_euclid(SECONDS),
        ))
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self
            .0
            .checked_mul(SECONDS)
            .and_then(|seconds| DateTime::<Utc>::from_timestamp(seconds, 0))
        {
            Some(time) => write!(f, "{}", time.format("%Y-%m-%d")),
            None => f.write_str("unknown"),
        }
    }
}
