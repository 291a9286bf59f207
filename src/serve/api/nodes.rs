//! `GET /api/v1/nodes/{name}`

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use tokio::runtime::Handle;
use utoipa::IntoParams;
use whathappened_store::Store;

use super::extract::{AuthenticatedCaller, Params, PathName};
use super::problem::{ErrorResponses, Problem};
use super::question::moment;
use crate::access::Access;
use crate::answer::NodeHistory;
use crate::history;
use crate::serve::Service;

/// Which part of a machine's history is wanted.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(in crate::serve) struct NodeParams {
    /// Only what happened at or after this time: RFC 3339, or an age such as `7d`; by default 30
    /// days before the latest record.
    pub(in crate::serve) since: Option<String>,
    /// Only what happened before this time.
    pub(in crate::serve) until: Option<String>,
}

/// The history of a machine across all experiments, and what ran on it
///
/// Its faults, drains, reboots, maintenance and upgrades in order of time, how often it failed, and how each run that
/// was on it ended, as far as the caller may see those. From the store.
#[utoipa::path(
    get,
    path = "/api/v1/nodes/{name}",
    operation_id = "node",
    tag = "ask",
    params(("name" = String, Path, description = "the name of a node or host, or the ID of a cloud instance"), NodeParams),
    responses((status = 200, description = "The history", body = NodeHistory), ErrorResponses)
)]
pub(super) async fn get(
    State(service): State<Arc<Service>>,
    AuthenticatedCaller(caller): AuthenticatedCaller,
    PathName(name): PathName,
    Params(wanted): Params<NodeParams>,
) -> Result<Json<NodeHistory>, Problem> {
    node_history(&service, caller.access, name, &wanted)
        .await
        .map(Json)
}

/// The history of a machine as a caller may see it.
pub(in crate::serve) async fn node_history(
    service: &Arc<Service>,
    access: Access,
    name: String,
    wanted: &NodeParams,
) -> Result<NodeHistory, Problem> {
    if name.contains('/') {
        return Err(Problem::bad(
            "give only the name of a machine, without a kind",
        ));
    }
    let now = (service.clock)();
    let time = |text: &Option<String>| text.as_deref().map(|text| moment(text, now)).transpose();
    let (since, until) = (time(&wanted.since)?, time(&wanted.until)?);
    let handle = Handle::current();
    let look = move |service: &Service| {
        let store = Store::open_to_read(&service.store)?;
        let last = store.latest()?;
        let asked = history::NodeQuery { name, since, until };
        let snapshot = store.snapshot_for(&access)?;
        let coverage = snapshot.coverage()?;
        let moments = (last, last);
        handle.block_on(history::of_store_lately(
            &snapshot,
            asked,
            coverage,
            moments,
            &service.rules,
        ))
    };
    Ok(service.work(look).await?)
}
