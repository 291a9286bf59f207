//! `GET /api/v1/incidents`

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use serde::{Deserialize, Serialize};
use tokio::runtime::Handle;
use utoipa::{IntoParams, ToSchema};
use whathappened_model::event::EventId;
use whathappened_model::time::{Nanos, Stamp};
use whathappened_store::Store;

use super::extract::{AuthenticatedCaller, Params};
use super::page::{Page, Paging, descending};
use super::problem::{ErrorResponses, Problem};
use super::question::moment;
use crate::answer::{Incident, Run};
use crate::error::Error;
use crate::fetch::{self, Explained};
use crate::serve::Service;

/// Which incidents are wanted.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct IncidentParams {
    /// Only those of this experiment.
    experiment: Option<String>,
    /// Only those of this cause.
    cause: Option<String>,
    /// Only those at or after this time: RFC 3339, or an age such as `2h`.
    since: Option<String>,
    /// Only those before this time.
    until: Option<String>,
    /// Items of a page, at most 1000; 100 by default.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u32>,
    /// `next` of the page before.
    cursor: Option<String>,
}

/// An incident and the run that it affected.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct IncidentOfExperiment {
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
/// Some runs of the window that have not been explained yet are explained on demand; the header
/// `x-whathappened-explained` says how many are, `12 of 15 runs`, and repeating the request explains more.
#[utoipa::path(
    get,
    path = "/api/v1/incidents",
    operation_id = "incidents",
    tag = "ask",
    params(IncidentParams),
    responses((status = 200, description = "A page of incidents", body = Page<IncidentOfExperiment>), ErrorResponses)
)]
pub(super) async fn list(
    State(service): State<Arc<Service>>,
    AuthenticatedCaller(caller): AuthenticatedCaller,
    Params(wanted): Params<IncidentParams>,
) -> Result<impl IntoResponse, Problem> {
    let now = (service.clock)();
    let time = |text: &Option<String>| text.as_deref().map(|text| moment(text, now)).transpose();
    let (since, until) = (time(&wanted.since)?, time(&wanted.until)?);
    let handle = Handle::current();
    let window = (since.unwrap_or(Nanos::MIN), until.unwrap_or(Nanos::MAX));
    let read = move |service: &Service| {
        let explained = handle.block_on(explain(service, window))?;
        let store = Store::open_to_read(&service.store)?;
        Ok((
            explained,
            fetch::stored_incidents(&store.snapshot_for(&caller.access)?)?,
        ))
    };
    let mut items = Vec::new();
    let (explained, stored) = service.work(read).await?;
    for (experiment, mut one) in stored {
        let id = one.incident.id.as_deref();
        one.incident.page = id.and_then(|id| service.addresses().incident(id));
        let at = one.incident.time.as_deref().and_then(Stamp::parse);
        let at = at.map_or(Nanos::MIN, |stamp| stamp.lo);
        let is = |asked: &Option<String>, reported: &str| {
            asked.as_deref().is_none_or(|asked| asked == reported)
        };
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
            IncidentOfExperiment {
                experiment,
                incident: one.incident,
                run: one.run,
            },
        ));
    }
    let or_empty = |text: &Option<String>| text.clone().unwrap_or_default();
    let about = [or_empty(&wanted.experiment), or_empty(&wanted.cause)];
    let paging = Paging {
        limit: wanted.limit,
        cursor: wanted.cursor,
    };
    let page = paging.page(&["incidents", &about[0], &about[1]], items)?;
    Ok((reported(&explained), Json(page)))
}

/// Runs that are explained for one request.
const MOST: usize = 20;

/// Explains what is not yet, as far as it is little.
pub(in crate::serve) async fn explain(
    service: &Service,
    window: (Nanos, Nanos),
) -> Result<Explained, Error> {
    // A store that is not there is not to be made.
    drop(Store::open_to_read(&service.store)?);
    let mut store = Store::open(&service.store, service.config.limits())?;
    let (rules, now) = (&service.rules, (service.clock)());
    fetch::explain_rest(&mut store, window, MOST, rules, now, &mut |_, _| true).await
}

/// The header that says how many of the runs are explained.
pub(super) const EXPLAINED: &str = "x-whathappened-explained";

/// How many of the runs are explained, in a header.
pub(super) fn reported(explained: &Explained) -> [(&'static str, String); 1] {
    [(EXPLAINED, many(explained))]
}

/// How many of the runs are explained.
pub(super) fn many(explained: &Explained) -> String {
    let Explained {
        runs, explained, ..
    } = explained;
    format!("{explained} of {runs} runs")
}
