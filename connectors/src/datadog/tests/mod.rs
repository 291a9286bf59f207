//! A small Datadog on loopback, recordings in place, and the real one where
//! the environment names it.

mod conforming;
mod e2e;
mod errors;
mod events;
mod files;
mod health;
mod reading;
mod recordings;
mod search;
mod server;

pub(crate) use conforming::conforming;

use std::time::{Duration, Instant};

use super::{Datadog, DatadogOptions};
use crate::log_store::{LineFilter, LineQuery, LineSubject, PodRef, Span};
use crate::observation::Observation;
use crate::sink::Sink;
use crate::time::Nanos;
use whathappened_loopback::Fake;

/// 2026-11-21T15:00:00Z; the fake's own clock says 15:30:00.
pub(super) const START: Nanos = 1_795_273_200_000_000_000;

pub(super) const MS: Nanos = 1_000_000;

pub(super) const MINUTE: Nanos = 60_000 * MS;

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(20)
}

fn store_with(fake: &Fake, change: impl FnOnce(&mut DatadogOptions)) -> Datadog {
    let mut options = DatadogOptions::new(&fake.url()).unwrap();
    options.api_key = Some("api-key".into());
    options.application_key = Some("app-key".into());
    change(&mut options);
    Datadog::new(options).unwrap()
}

fn store(fake: &Fake) -> Datadog {
    store_with(fake, |_| {})
}

/// The pods of the tests' experiment.
fn pods(count: usize) -> LineSubject {
    let pod = |n| PodRef {
        namespace: Some("research".to_owned()),
        name: format!("llama-ft-7-{n}"),
    };
    LineSubject::Pods((0..count).map(pod).collect())
}

fn all(about: LineSubject, limit: usize) -> LineQuery {
    LineQuery {
        about,
        span: Span {
            from: START,
            to: START + 20 * MINUTE,
        },
        only: LineFilter::All,
        newest: false,
        limit,
    }
}

/// Keeps what arrives.
#[derive(Default)]
struct Collected(Vec<Observation>);

impl Sink for Collected {
    fn observe(&mut self, observations: Vec<Observation>) {
        self.0.extend(observations);
    }
}
