//! `GET /api/v1/timelines/{name}`

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use utoipa::IntoParams;
use whathappened_model::time::{Nanos, Stamp};

use super::answers::answer;
use super::extract::{AuthenticatedCaller, Params, PathName};
use super::page::{Page, Paging, ascending};
use super::problem::{ErrorResponses, Problem};
use super::question::QuestionParams;
use crate::answer::TimelineRow;
use crate::serve::Service;

/// Which part of a timeline is wanted.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct TimelineParams {
    /// Only what happened at or after this time: RFC 3339, or an age such as `2h`.
    since: Option<String>,
    /// Only what happened before this time.
    until: Option<String>,
    /// Only this run, by the beginning of its id.
    run: Option<String>,
    /// Whether to query live sources first; false by default.
    fetch: Option<bool>,
    /// Items of a page, at most 1000; 100 by default.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u32>,
    /// `next` of the page before.
    cursor: Option<String>,
}

/// What happened to an experiment or a machine, in order
#[utoipa::path(
    get,
    path = "/api/v1/timelines/{name}",
    operation_id = "timeline",
    tag = "ask",
    params(("name" = String, Path, description = "experiment, workload, pod, or kind/[namespace/]name"), TimelineParams),
    responses((status = 200, description = "A page of the timeline", body = Page<TimelineRow>), ErrorResponses)
)]
pub(super) async fn get(
    State(service): State<Arc<Service>>,
    AuthenticatedCaller(caller): AuthenticatedCaller,
    PathName(name): PathName,
    Params(wanted): Params<TimelineParams>,
) -> Result<Json<Page<TimelineRow>>, Problem> {
    let TimelineParams {
        since,
        until,
        run,
        fetch,
        limit,
        cursor,
    } = wanted;
    let asked = QuestionParams {
        since,
        until,
        run,
        // Pages of one timeline should be of one state of the store.
        fetch: Some(fetch.unwrap_or(false)),
        ..QuestionParams::default()
    };
    let asking = asked.about(name.clone(), caller.access, &service)?;
    let answer = answer(&service, "api", asking).await?;
    let rows = answer.timeline.iter().map(|row| {
        let at = Stamp::parse(&row.time).map_or(Nanos::MIN, |stamp| stamp.lo);
        let first = row.event_ids.first().map_or("", String::as_str);
        let key = format!("{} {first} {} {}", ascending(at), row.entity, row.text);
        (key, row.clone())
    });
    let paging = Paging { limit, cursor };
    paging.page(&["timeline", &name], rows.collect()).map(Json)
}
