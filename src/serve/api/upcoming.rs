//! `GET /api/v1/upcoming/{name}`

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use utoipa::IntoParams;

use super::extract::{AuthenticatedCaller, Params, PathName};
use super::problem::{ErrorResponses, Problem};
use super::question::{QuestionParams, moment};
use crate::config::parse_duration;
use crate::report::{self, Report};
use crate::serve::Service;

/// How far ahead is looked where nothing is said.
const USUAL: &str = "60m";

/// How far ahead to look.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct UpcomingParams {
    /// How far ahead, such as `60m`, `2h` or `7d`; one hour by default.
    within: Option<String>,
    /// The time to look ahead from; now by default.
    at: Option<String>,
    /// Whether to query live sources first; true if there are any.
    fetch: Option<bool>,
}

/// Maintenance announced for the machines of a run, or for one machine
///
/// For launchers, to check before starting work on a host.
#[utoipa::path(
    get,
    path = "/api/v1/upcoming/{name}",
    operation_id = "upcoming",
    tag = "ask",
    params(("name" = String, Path, description = "experiment, workload or pod, or node/NAME"), UpcomingParams),
    responses((status = 200, description = "What is announced", body = Report), ErrorResponses)
)]
pub(super) async fn get(
    State(service): State<Arc<Service>>,
    AuthenticatedCaller(caller): AuthenticatedCaller,
    PathName(name): PathName,
    Params(ahead): Params<UpcomingParams>,
) -> Result<Json<Report>, Problem> {
    let text = ahead.within.as_deref().unwrap_or(USUAL);
    let within = parse_duration(text)
        .ok_or_else(|| Problem::bad(format!("within {text:?}: write 60m, 2h or 7d")))?;
    let now = (service.clock)();
    let from = match &ahead.at {
        Some(at) => moment(at, now)?,
        None => now,
    };
    let asked = QuestionParams {
        fetch: ahead.fetch,
        ..QuestionParams::default()
    };
    let asking = asked.about(name.clone(), caller.access, &service)?;
    let live = service.fetched(&asking).await?;
    let look = move |service: &Service| {
        let case = service.case(&asking, live)?;
        report::upcoming(&case, &name, from, within)
    };
    Ok(Json(service.work(look).await?))
}
