//! `GET /api/v1/incidents`

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use whathappened_connectors::event::EventId;
use whathappened_connectors::time::{Nanos, Stamp};
use whathappened_store::Store;

use super::page::{Page, Paging, descending};
use super::problem::{Problem, Refused};
use super::question::moment;
use super::take::{By, Params};
use crate::answer::{Incident, Run};
use crate::gather;
use crate::serve::Service;

/// Which incidents are wanted.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct Wanted {
    /// Only those of this experiment.
    experiment: Option<String>,
    /// Only those of this cause.
    cause: Option<String>,
    /// Only those at or after this time: RFC 3339, or a distance back from now such as `2h`.
    since: Option<String>,
    /// Only those before this time.
    until: Option<String>,
    /// Items of a page, at most 1000; 100 where nothing is said.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u32>,
    /// `next` of the page before.
    cursor: Option<String>,
}

/// An incident and the run that it hurt.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct Kept {
    /// The run's experiment.
    experiment: String,
    /// The incident.
    incident: Incident,
    /// The run, where it is known.
    #[schema(required)]
    run: Option<Run>,
}

/// Incidents as they were explained, the latest first
///
/// `whathappened explain` keeps them for a whole window, and a question on the command line for its runs.
#[utoipa::path(
    get,
    path = "/api/v1/incidents",
    operation_id = "incidents",
    tag = "ask",
    params(Wanted),
    responses((status = 200, description = "A page of incidents", body = Page<Kept>), Refused)
)]
pub(super) async fn list(
    State(service): State<Arc<Service>>,
    By(caller): By,
    Params(wanted): Params<Wanted>,
) -> Result<Json<Page<Kept>>, Problem> {
    let now = (service.clock)();
    let time = |text: &Option<String>| text.as_deref().map(|text| moment(text, now)).transpose();
    let (since, until) = (time(&wanted.since)?, time(&wanted.until)?);
    let read = move |service: &Service| {
        let store = Store::open_to_read(&service.store)?;
        gather::kept(&store.snapshot_for(&caller.access)?)
    };
    let mut items = Vec::new();
    for (experiment, one) in service.work(read).await? {
        let at = one.incident.time.as_deref().and_then(Stamp::parse);
        let at = at.map_or(Nanos::MIN, |stamp| stamp.lo);
        let is =
            |asked: &Option<String>, told: &str| asked.as_deref().is_none_or(|asked| asked == told);
        if !is(&wanted.experiment, &experiment)
            || !is(&wanted.cause, &one.incident.cause)
            || since.is_some_and(|since| at < since)
            || until.is_some_and(|until| at >= until)
        {
            continue;
        }
        let rest = serde_json::to_string(&one).map_err(|error| Problem::inside(&error))?;
        let key = format!("{} {}", descending(at), EventId::of(&[&experiment, &rest]));
        items.push((
            key,
            Kept {
                experiment,
                incident: one.incident,
                run: one.run,
            },
        ));
    }
    let said = |text: &Option<String>| text.clone().unwrap_or_default();
    let about = [said(&wanted.experiment), said(&wanted.cause)];
    let paging = Paging {
        limit: wanted.limit,
        cursor: wanted.cursor,
    };
    paging
        .page(&["incidents", &about[0], &about[1]], items)
        .map(Json)
}
