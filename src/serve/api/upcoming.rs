//! `GET /api/v1/upcoming/{name}`

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use utoipa::IntoParams;

use super::problem::{Problem, Refused};
use super::question::{Asked, moment};
use super::take::{By, Named, Params};
use crate::assemble::{self, Report};
use crate::config::parse_duration;
use crate::serve::Service;

/// How far ahead is looked where nothing is said.
const USUAL: &str = "60m";

/// How far ahead to look.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct Ahead {
    /// How far ahead, such as `60m`, `2h` or `7d`; an hour where nothing is said.
    within: Option<String>,
    /// The moment to look from; now where nothing is said.
    at: Option<String>,
    /// Whether live sources are asked before; true where there are some.
    fetch: Option<bool>,
}

/// Maintenance that is announced for the machines of a run, or for one machine
///
/// For launchers: ask before starting work on a host.
#[utoipa::path(
    get,
    path = "/api/v1/upcoming/{name}",
    operation_id = "upcoming",
    tag = "ask",
    params(("name" = String, Path, description = "experiment, workload or pod, or node/NAME"), Ahead),
    responses((status = 200, description = "What is announced", body = Report), Refused)
)]
pub(super) async fn get(
    State(service): State<Arc<Service>>,
    By(caller): By,
    Named(name): Named,
    Params(ahead): Params<Ahead>,
) -> Result<Json<Report>, Problem> {
    let text = ahead.within.as_deref().unwrap_or(USUAL);
    let within = parse_duration(text)
        .ok_or_else(|| Problem::bad(format!("within {text:?}: write 60m, 2h or 7d")))?;
    let now = (service.clock)();
    let from = match &ahead.at {
        Some(at) => moment(at, now)?,
        None => now,
    };
    let asked = Asked {
        fetch: ahead.fetch,
        ..Asked::default()
    };
    let asking = asked.about(name.clone(), caller.access, &service)?;
    let live = service.fetched(&asking).await?;
    let look = move |service: &Service| {
        let case = service.case(&asking, live)?;
        assemble::upcoming(&case, &name, from, within)
    };
    Ok(Json(service.work(look).await?))
}
