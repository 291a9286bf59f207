//! `GET /api/v1/nodes/{name}`

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use tokio::runtime::Handle;
use utoipa::IntoParams;
use whathappened_connectors::time::{Nanos, SECOND};
use whathappened_store::Store;

use super::problem::{Problem, Refused};
use super::question::moment;
use super::take::{By, Named, Params};
use crate::answer::NodeHistory;
use crate::history;
use crate::serve::Service;

/// Which part of a machine's history is wanted.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct Wanted {
    /// Only what happened at or after this time: RFC 3339, or a distance back from now such as `7d`; 30 days before
    /// the latest record where nothing is said.
    since: Option<String>,
    /// Only what happened before this time.
    until: Option<String>,
}

/// What befell a machine over all experiments, and what ran on it
///
/// Its faults, drains, reboots, maintenance and upgrades in order of time, how often it failed, and how each run that
/// was on it ended, as far as the caller may see those. From the store.
#[utoipa::path(
    get,
    path = "/api/v1/nodes/{name}",
    operation_id = "node",
    tag = "ask",
    params(("name" = String, Path, description = "a node's or host's name, or the id of a cloud instance"), Wanted),
    responses((status = 200, description = "The history", body = NodeHistory), Refused)
)]
pub(super) async fn get(
    State(service): State<Arc<Service>>,
    By(caller): By,
    Named(name): Named,
    Params(wanted): Params<Wanted>,
) -> Result<Json<NodeHistory>, Problem> {
    if name.contains('/') {
        return Err(Problem::bad("the name of a machine alone, without a kind"));
    }
    let now = (service.clock)();
    let time = |text: &Option<String>| text.as_deref().map(|text| moment(text, now)).transpose();
    let (since, until) = (time(&wanted.since)?, time(&wanted.until)?);
    let handle = Handle::current();
    let look = move |service: &Service| {
        let store = Store::open_to_read(&service.store)?;
        let last = store.latest()?;
        let back = Nanos::from(history::DAYS) * 86_400 * SECOND;
        let asked = history::Asked {
            name,
            since: since.or(last.map(|last| last.saturating_sub(back))),
            until,
        };
        let snapshot = store.snapshot_for(&caller.access)?;
        let coverage = snapshot.coverage()?;
        handle.block_on(history::of_store(
            &snapshot,
            &asked,
            coverage,
            last,
            &service.rules,
        ))
    };
    Ok(Json(service.work(look).await?))
}
