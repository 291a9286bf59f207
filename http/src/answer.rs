//! What is answered.

use std::time::Duration;

use chrono::DateTime;
use reqwest::StatusCode;
use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};
use serde::Deserialize;

use super::error::HttpError;
use super::error_body;
use whathappened_model::time::Nanos;

/// An answer that the server meant well.
#[derive(Clone, Debug)]
pub struct Answer {
    /// 200 to 299.
    pub status: StatusCode,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body, unpacked.
    pub body: Vec<u8>,
}

impl Answer {
    /// The body as JSON.
    ///
    /// # Errors
    /// [`HttpError::Garbage`] with the body's beginning: login pages and gateways answer 200, too.
    pub fn json<'a, T: Deserialize<'a>>(&'a self) -> Result<T, HttpError> {
        serde_json::from_slice(&self.body).map_err(|error| {
            HttpError::Garbage(format!("{} ({error})", error_body::beginning(&self.body)))
        })
    }

    /// A header as text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The server's time by its `Date` header, to the second.
    #[must_use]
    pub fn date(&self) -> Option<Nanos> {
        let date = self.headers.get(DATE)?.to_str().ok()?;
        DateTime::parse_from_rfc2822(date)
            .ok()?
            .timestamp_nanos_opt()
    }

    /// What the server says of our rate.
    #[must_use]
    pub fn rate_limit(&self) -> Option<RateLimit> {
        RateLimit::of(&self.headers)
    }
}

/// What a server says of the rate at which it may be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimit {
    /// Requests in one period.
    pub limit: Option<u64>,
    /// Requests left in this one.
    pub remaining: u64,
    /// When the next period begins, from now.
    pub reset: Option<Duration>,
}

impl RateLimit {
    /// `X-RateLimit-*` as Datadog and GitHub write them, `RateLimit-*` as the
    /// IETF's draft has them.
    pub(super) fn of(headers: &HeaderMap) -> Option<Self> {
        let number = |names: [&str; 2]| {
            let value = names.iter().find_map(|name| headers.get(*name))?;
            value.to_str().ok()?.trim().parse::<u64>().ok()
        };
        Some(Self {
            limit: number(["x-ratelimit-limit", "ratelimit-limit"]),
            remaining: number(["x-ratelimit-remaining", "ratelimit-remaining"])?,
            // Some write the time of day instead of a distance; nobody waits for years.
            reset: number(["x-ratelimit-reset", "ratelimit-reset"])
                .filter(|seconds| *seconds < 100_000)
                .map(Duration::from_secs),
        })
    }
}

/// How long a server asks us to wait: `Retry-After` in seconds or as a date,
/// else the start of its next rate period.
pub(super) fn wait_asked(headers: &HeaderMap) -> Option<Duration> {
    let emitted = headers.get(RETRY_AFTER).and_then(|value| {
        let value = value.to_str().ok()?.trim();
        if let Ok(seconds) = value.parse::<f64>() {
            return Duration::try_from_secs_f64(seconds).ok();
        }
        let until = DateTime::parse_from_rfc2822(value).ok()?;
        let now = DateTime::parse_from_rfc2822(headers.get(DATE)?.to_str().ok()?).ok()?;
        (until - now).to_std().ok()
    });
    emitted.or_else(|| RateLimit::of(headers)?.reset)
}
