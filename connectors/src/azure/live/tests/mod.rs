//! Azure played on loopback, by the rules of its contract.

mod access;
mod cluster;
mod conforming;
mod live;
mod manager;
mod outside;
mod reading;
mod shortfalls;

pub(crate) use conforming::conforming;

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::login::Login;
use super::{Azure, AzureOptions};
use crate::connector::{Clock, Connector as _, Entity, FetchRequest, Scope, Window};
use crate::coverage::Coverage;
use crate::event::Event;
use crate::observation::Observation;
use crate::time::{Nanos, SECOND, Stamp};
use whathappened_loopback::Fake;

/// Sat, 21 Nov 2026 12:00:00 UTC.
const NOON: &str = "2026-11-21T12:00:00Z";

const SUBSCRIPTION: &str = "0b1f6471-1bf0-4dda-aec3-cb9272f09590";

fn at(text: &str) -> Nanos {
    Stamp::parse(text).unwrap().lo
}

fn clock() -> Clock {
    Arc::new(|| at(NOON))
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(20)
}

/// Azure whose manager is `fake`, and whose tokens come from `outside`.
fn azure_with(fake: &Fake, outside: &Fake, change: impl Fn(&mut AzureOptions)) -> Azure {
    let mut options = AzureOptions {
        subscriptions: vec![SUBSCRIPTION.to_uppercase()],
        tenant: Some("t-1".to_owned()),
        client: Some("c-1".to_owned()),
        client_secret: Some("hunter2hunter2".into()),
        ..AzureOptions::default()
    };
    options.cloud.manager = fake.url();
    options.http.tries = 2;
    change(&mut options);
    let login = Login::through(
        &options,
        outside::through(outside),
        outside::az(1, "", "Please run 'az login' to setup account."),
    );
    Azure::with(options, login, clock()).unwrap()
}

fn azure(fake: &Fake, outside: &Fake) -> Azure {
    azure_with(fake, outside, |_| {})
}

/// From ten to half past eleven.
fn fetch_request(nodes: Vec<Entity>) -> FetchRequest {
    FetchRequest {
        scope: Scope {
            nodes,
            ..Scope::default()
        },
        window: Window {
            from: Some(at("2026-11-21T10:00:00Z")),
            to: Some(at("2026-11-21T11:30:00Z")),
        },
        now: at(NOON),
        deadline: soon(),
    }
}

fn node(name: &str, uid: Option<&str>) -> Entity {
    Entity {
        name: name.to_owned(),
        uid: uid.map(str::to_owned),
        ..Entity::default()
    }
}

/// The machine with this number of the scale set of a cluster.
fn of_set(number: u32) -> Entity {
    let uid = format!(
        "azure:///subscriptions/{SUBSCRIPTION}/resourceGroups/MC_rg_lab_eastus/providers/Microsoft.Compute/virtualMachineScaleSets/aks-gpu-1-vmss/virtualMachines/{number}"
    );
    node(&format!("aks-gpu-1-vmss00000{number}"), Some(&uid))
}

async fn fetched(
    azure: &Azure,
    fetch_request: &FetchRequest,
) -> (Vec<Event>, Vec<Observation>, Vec<Coverage>) {
    let mut kept: Vec<Observation> = Vec::new();
    let rows = azure.fetch(fetch_request, &mut kept).await;
    let events = kept.iter().filter_map(|one| match one {
        Observation::Event(event) => Some((**event).clone()),
        _ => None,
    });
    (events.collect(), kept, rows)
}

fn row<'r>(rows: &'r [Coverage], resource: &str) -> &'r Coverage {
    let mut of = rows.iter().filter(|row| row.resource == resource);
    let found = of.next().unwrap_or_else(|| panic!("{resource}: {rows:#?}"));
    assert!(of.next().is_none(), "{rows:#?}");
    found
}

fn detail(row: &Coverage) -> &str {
    row.detail.as_deref().unwrap_or_default()
}

const HOUR: Nanos = 3600 * SECOND;
