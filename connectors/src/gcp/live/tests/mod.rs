//! A small Google Cloud on loopback that keeps to the contract, recordings in
//! place, and the real one where the environment names a project.

mod conforming;
mod e2e;
mod errors;
mod health;
mod inventory;
mod language;
mod logging;
mod login;
mod recordings;
mod server;

pub(crate) use conforming::conforming;

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::{Gcp, GcpOptions};
use crate::connector::{Connector as _, Entity, FetchRequest, Scope, Window};
use crate::coverage::Coverage;
use crate::event::Event;
use crate::observation::Observation;
use crate::time::{Nanos, Stamp};
use whathappened_loopback::Fake;

/// A token that the fake takes.
const TOKEN: &str = "token-1";

fn at(text: &str) -> Nanos {
    Stamp::parse(text).unwrap().lo
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(20)
}

/// Options that reach nothing but the fake.
fn options(fake: &Fake) -> GcpOptions {
    let mut options = GcpOptions::default();
    options.logging.base_url = fake.url();
    options.compute.base_url = format!("{}/compute/v1", fake.url());
    options.login.metadata = None;
    options.login.access_token = Some(TOKEN.into());
    options.quota_wait = Duration::from_millis(20);
    options
}

fn open(options: GcpOptions) -> Gcp {
    let observed = at("2026-11-21T15:30:01Z");
    Gcp::open(options, Arc::new(move || observed)).unwrap()
}

/// A node of a project's zone `z-a`.
fn node(project: &str, name: &str) -> Entity {
    Entity {
        name: name.to_owned(),
        uid: Some(format!("gce://{project}/z-a/{name}")),
        ..Entity::default()
    }
}

/// About nodes, from 10 to 12 o'clock; it is half past three.
fn about(nodes: Vec<Entity>) -> FetchRequest {
    FetchRequest {
        scope: Scope {
            nodes,
            ..Scope::default()
        },
        window: Window {
            from: Some(at("2026-11-21T10:00:00Z")),
            to: Some(at("2026-11-21T12:00:00Z")),
        },
        now: at("2026-11-21T15:30:00Z"),
        deadline: soon(),
    }
}

async fn fetch(gcp: &Gcp, fetch_request: &FetchRequest) -> (Vec<Observation>, Vec<Coverage>) {
    let mut kept = Vec::new();
    let rows = gcp.fetch(fetch_request, &mut kept).await;
    (kept, rows)
}

fn events(observations: &[Observation]) -> Vec<&Event> {
    let events = observations.iter().filter_map(|one| match one {
        Observation::Event(event) => Some(&**event),
        _ => None,
    });
    events.collect()
}

fn row<'a>(rows: &'a [Coverage], resource: &str, project: &str) -> &'a Coverage {
    let mut found = rows
        .iter()
        .filter(|row| row.resource == resource && row.namespace.as_deref() == Some(project));
    let row = found
        .next()
        .unwrap_or_else(|| panic!("no {resource} of {project}: {rows:#?}"));
    assert!(found.next().is_none());
    row
}

fn said(row: &Coverage) -> &str {
    row.detail.as_deref().unwrap_or_default()
}
