//! `/`: a search, what is running, what happened lately.

use std::sync::Arc;
use std::time::Duration;

use axum::response::Response;
use tokio::runtime::Handle;
use whathappened_core::death::RunState;
use whathappened_model::time::{Nanos, rfc3339};
use whathappened_store::Store;

use super::visit::Visit;
use crate::error::Error;
use crate::fetch;
use crate::render::site::{self, Home, Tab};
use crate::serve::Service;
use crate::serve::api::{Problem, explain};

/// Incidents and runs that are shown.
const SHOWN: usize = 20;

/// How long a reader waits for what is being explained; the rest is there the next time.
const PATIENCE: Duration = Duration::from_millis(1_500);

pub(super) async fn get(visit: Visit) -> Response {
    explain_some(&visit.service).await;
    let page = page(&visit).await;
    visit.reply(Tab::Home, page)
}

async fn page(visit: &Visit) -> Result<String, Problem> {
    let access = visit.reader.caller.access.clone();
    let read = move |service: &Service| {
        let store = match Store::open_to_read(&service.store).map_err(Error::from) {
            Ok(store) => store,
            // Nothing was collected yet.
            Err(Error::Store(whathappened_store::StoreError::Missing { .. })) => {
                return Ok(Home::default());
            }
            Err(error) => return Err(error),
        };
        let snapshot = store.snapshot_for(&access)?;
        let mut incidents = fetch::stored_incidents(&snapshot)?;
        let all = incidents.len();
        incidents.reverse();
        incidents.truncate(SHOWN);
        let list = fetch::listed(&snapshot, (Nanos::MIN, Nanos::MAX))?;
        let runs = list.len();
        let explained = list.iter().filter(|run| run.state.is_some()).count();
        let mut running = list;
        running.retain(|run| run.state.is_some_and(RunState::goes_on));
        let running_all = running.len();
        running.truncate(SHOWN);
        Ok(Home {
            incidents,
            all,
            running,
            running_all,
            runs,
            explained,
            now: rfc3339((service.clock)()),
        })
    };
    let home = visit
        .service
        .work(read)
        .await
        .map_err(|error| Problem::from(&error))?;
    Ok(site::home(&visit.frame(Tab::Home), &home))
}

/// Explains some of what is not explained yet, for as long as a reader waits and to its end.
pub(super) async fn explain_some(service: &Arc<Service>) {
    let Ok(alone) = Arc::clone(&service.pages.explaining).try_lock_owned() else {
        return;
    };
    let service = Arc::clone(service);
    let work = tokio::spawn(async move {
        let handle = Handle::current();
        let always = (Nanos::MIN, Nanos::MAX);
        let done = service
            .work(move |service: &Service| handle.block_on(explain(service, always)))
            .await;
        if let Err(error) = done {
            tracing::debug!("nothing was explained: {error}");
        }
        drop(alone);
    });
    // It goes on where nobody waits any more.
    let _waited = tokio::time::timeout(PATIENCE, work).await;
}
