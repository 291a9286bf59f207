//! A small REST daemon on loopback, and tools that are shell scripts.

mod conforming;
mod rest;
mod tools;

pub(crate) use conforming::conforming;

use std::time::{Duration, Instant};

use super::{Slurm, SlurmOptions};
use crate::connector::{Connector as _, Entity, FetchRequest, Scope, Window};
use crate::coverage::{Coverage, Status};
use crate::event::Event;
use crate::observation::Observation;
use crate::time::{Nanos, Stamp};

fn at(text: &str) -> Nanos {
    Stamp::parse(text).unwrap().lo
}

/// About an experiment; it is half past eleven.
fn about(experiment: &str) -> FetchRequest {
    of(Scope {
        experiments: vec![experiment.to_owned()],
        ..Scope::default()
    })
}

fn of(scope: Scope) -> FetchRequest {
    FetchRequest {
        scope,
        window: Window::default(),
        now: at("2026-11-21T11:30:00Z"),
        deadline: Instant::now() + Duration::from_secs(20),
    }
}

async fn fetch(slurm: &Slurm, fetch_request: &FetchRequest) -> (Vec<Observation>, Vec<Coverage>) {
    let mut kept = Vec::new();
    let rows = slurm.fetch(fetch_request, &mut kept).await;
    (kept, rows)
}

/// What was told: of which job or node, its state.
fn emitted(observations: &[Observation]) -> Vec<(&str, &str)> {
    let events = observations.iter().filter_map(|one| match one {
        Observation::Event(event) => Some(&**event),
        _ => None,
    });
    events.map(words).collect()
}

fn words(event: &Event) -> (&str, &str) {
    let about = event.object_uid.as_deref();
    let node = event.entities.node.as_deref();
    (
        about.or(node).unwrap_or_default(),
        event.reason.as_deref().unwrap_or_default(),
    )
}

fn row<'a>(rows: &'a [Coverage], resource: &str) -> &'a Coverage {
    let mut found = rows.iter().filter(|row| row.resource == resource);
    let row = found.next();
    assert!(found.next().is_none(), "{rows:#?}");
    row.unwrap_or_else(|| panic!("no {resource}: {rows:#?}"))
}

fn said(row: &Coverage) -> (Status, &str) {
    (row.status, row.detail.as_deref().unwrap_or_default())
}
