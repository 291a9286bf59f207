//! `/fleet`: what was lost by cause, day, owner and machine.

use std::sync::Arc;

use axum::response::Response;
use serde::Deserialize;
use tokio::runtime::Handle;
use whathappened_model::time::{Nanos, Stamp};
use whathappened_store::Store;

use super::home::explain_some;
use super::visit::Visit;
use crate::config::parse_duration;
use crate::fetch;
use crate::render::site::{self, Tab};
use crate::serve::Service;
use crate::serve::api::Problem;
use crate::sql::{FleetScope, Session, StoredTables, fleet, window};

/// The window where nothing is asked for.
const SINCE: &str = "7d";

pub(super) async fn get(visit: Visit) -> Response {
    explain_some(&visit.service).await;
    let page = page(&visit).await;
    visit.reply(Tab::Fleet, page)
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct FleetQuery {
    since: Option<String>,
    until: Option<String>,
}

async fn page(visit: &Visit) -> Result<String, Problem> {
    let FleetQuery { since, until } = visit.params()?;
    let until = until.map(|text| {
        let read = Stamp::parse(&text).map(|until| until.lo);
        let wrong =
            || Problem::bad(format!("{text:?} is not a time")).hint("write 2026-11-28T10:00:00Z");
        read.ok_or_else(wrong)
    });
    let until = until.transpose()?;
    let since = since.unwrap_or_else(|| SINCE.to_owned());
    let length = parse_duration(&since)
        .filter(|length| *length > 0)
        .ok_or_else(|| {
            Problem::bad(format!("{since:?} is not a length of time"))
                .hint("write 1d, 7d, 30d or 12h")
        })?;
    let access = visit.reader.caller.access.clone();
    let handle = Handle::current();
    let work = move |service: &Service| {
        let store = Store::open_to_read(&service.store)?;
        let snapshot = store.snapshot_for(&access)?;
        let latest: Nanos = store.latest()?.unwrap_or_else(|| (service.clock)());
        let (from, to) = match until {
            Some(until) => (until.saturating_sub(length), until),
            None => window(latest, length),
        };
        let runs = fetch::listed(&snapshot, (Nanos::MIN, Nanos::MAX))?;
        drop(snapshot);
        let of_window = runs.iter().filter(|run| run.is_seen_in((from, to)));
        let of_window: Vec<_> = of_window.collect();
        let scope = FleetScope {
            from,
            to,
            runs: of_window.len(),
            explained: of_window.iter().filter(|run| run.state.is_some()).count(),
            ruleset: service.rules.version.clone(),
            ..FleetScope::default()
        };
        let stored = StoredTables::new(service.store.clone(), Arc::clone(&service.rules))
            .seen_by(access)
            .with_runs(runs);
        let session = Session::of_store(stored)?;
        handle.block_on(fleet(&session, &scope))
    };
    let report = visit
        .service
        .work(work)
        .await
        .map_err(|error| Problem::from(&error))?;
    Ok(site::fleet(&visit.frame(Tab::Fleet), &report, &since))
}
