//! `GET /api/v1/experiments`

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use serde::{Deserialize, Serialize};
use tokio::runtime::Handle;
use utoipa::{IntoParams, ToSchema};
use whathappened_core::death::RunState;
use whathappened_core::resolve::rank_names;
use whathappened_model::time::{Nanos, rfc3339};
use whathappened_store::Store;

use super::extract::{AuthenticatedCaller, Params};
use super::incidents::{explain, reported};
use super::page::{Page, Paging, descending};
use super::problem::{ErrorResponses, Problem};
use super::question::moment;
use crate::answer::{Level, ListedRun, RunStateWord, no_state};
use crate::fetch;
use crate::serve::Service;

/// Owners or namespaces that are offered for one that nobody has.
const NEAR: usize = 5;

/// Which runs are wanted.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct ExperimentParams {
    /// Only runs of this owner: the full name or the part before the `@`.
    owner: Option<String>,
    /// Only those of this namespace.
    namespace: Option<String>,
    /// Only runs in this state: `completed`, `failed`, `running`, `pending`, `deleted` or `unknown`.
    state: Option<String>,
    /// Only runs that were active at or after this time: RFC 3339, or an age such as `2h`.
    since: Option<String>,
    /// Items of a page, at most 1000; 100 by default.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u32>,
    /// `next` of the page before.
    cursor: Option<String>,
}

/// A run: one root object, such as a Job, with all its pods.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub(super) struct Experiment {
    /// The label or annotation that names its experiment, where there is one.
    #[schema(required)]
    experiment: Option<String>,
    /// Kind of the root object.
    kind: String,
    /// Its namespace; null outside Kubernetes.
    #[schema(required)]
    namespace: Option<String>,
    /// Its name.
    name: String,
    /// Its UID, if a record shows it; else its names.
    #[schema(required)]
    id: Option<String>,
    /// The earliest time in its records.
    #[schema(required)]
    first_seen: Option<String>,
    /// The latest time in its records.
    #[schema(required)]
    last_seen: Option<String>,
    /// Pods it had in all.
    pods: u64,
    /// Its state; null if it was not explained.
    #[schema(required, value_type = Option<RunStateWord>)]
    state: Option<RunState>,
    /// What ended it; null if nothing did, or if it was not explained.
    #[schema(required)]
    cause: Option<String>,
    /// How well that is proven.
    #[schema(required)]
    level: Option<Level>,
    /// Who did it.
    #[schema(required)]
    actor: Option<String>,
    /// The owner of the run, if known.
    #[schema(required)]
    owner: Option<String>,
}

impl Experiment {
    fn of(one: ListedRun) -> (String, Self) {
        // What explaining tells must not move a run from one page to another.
        let key = format!(
            "{} {} {} {} {}",
            descending(one.seen.map_or(Nanos::MIN, |(_, last)| last)),
            one.kind,
            one.namespace.as_deref().unwrap_or_default(),
            one.name,
            one.id.as_deref().unwrap_or_default()
        );
        let reported = Self {
            experiment: one.label,
            kind: one.kind,
            namespace: one.namespace,
            name: one.name,
            id: one.id,
            first_seen: one.seen.map(|(first, _)| rfc3339(first)),
            last_seen: one.seen.map(|(_, last)| rfc3339(last)),
            pods: one.pods,
            state: one.state,
            cause: one.cause,
            level: one.level,
            actor: one.actor,
            owner: one.owner,
        };
        (key, reported)
    }
}

/// What is wrong where an owner or a namespace is asked for that no run has. `list` is
/// what the caller may see, so a name that is hidden and one that is nobody's are told alike.
fn nobodys(list: &[ListedRun], owner: Option<&str>, namespace: Option<&str>) -> Option<Problem> {
    if list.is_empty() {
        return None;
    }
    let has = |owner, namespace| list.iter().any(|one| one.is(owner, namespace, None));
    let known = |of: fn(&ListedRun) -> Option<&String>| -> Vec<String> {
        let names: BTreeSet<String> = list.iter().filter_map(of).cloned().collect();
        names.into_iter().collect()
    };
    let (what, asked, known) = match (owner, namespace) {
        (Some(owner), _) if !has(Some(owner), None) => {
            ("owner", owner, known(|one| one.owner.as_ref()))
        }
        (_, Some(namespace)) if !has(None, Some(namespace)) => {
            ("namespace", namespace, known(|one| one.namespace.as_ref()))
        }
        _ => return None,
    };
    let near = rank_names(asked, known.iter().cloned());
    let some = if near.is_empty() { &known } else { &near };
    let some: Vec<&str> = some.iter().take(NEAR).map(String::as_str).collect();
    let problem = Problem::not_found(format!("no listed run has the {what} {asked:?}"));
    Some(match (some.is_empty(), near.is_empty()) {
        (true, _) => problem.hint(format!("no run has a known {what}")),
        (false, true) => problem.hint(format!("known: {}", some.join(", "))),
        (false, false) => problem.hint(format!("did you mean: {}?", some.join(", "))),
    })
}

/// Every run in the store, newest first, with its state and cause
///
/// Some runs that have not been explained yet are explained on demand; the header
/// `x-whathappened-explained` says how many are, `12 of 15 runs`, and repeating the request explains more.
#[utoipa::path(
    get,
    path = "/api/v1/experiments",
    operation_id = "experiments",
    tag = "ask",
    params(ExperimentParams),
    responses((status = 200, description = "A page of runs", body = Page<Experiment>), ErrorResponses)
)]
pub(super) async fn list(
    State(service): State<Arc<Service>>,
    AuthenticatedCaller(caller): AuthenticatedCaller,
    Params(wanted): Params<ExperimentParams>,
) -> Result<impl IntoResponse, Problem> {
    if let Some(why) = no_state(wanted.state.as_deref()) {
        return Err(Problem::bad(why));
    }
    let now = (service.clock)();
    let since = wanted.since.as_deref().map(|text| moment(text, now));
    let window = (since.transpose()?.unwrap_or(Nanos::MIN), Nanos::MAX);
    let handle = Handle::current();
    let read = move |service: &Service| {
        let explained = handle.block_on(explain(service, window))?;
        let store = Store::open_to_read(&service.store)?;
        let snapshot = store.snapshot_for(&caller.access)?;
        Ok((explained, fetch::listed(&snapshot, window)?))
    };
    let (explained, list) = service.work(read).await?;
    let asked = |text: &Option<String>| text.clone().unwrap_or_default();
    let about = [
        asked(&wanted.owner),
        asked(&wanted.namespace),
        asked(&wanted.state),
    ];
    let [owner, namespace, state] = [&wanted.owner, &wanted.namespace, &wanted.state];
    let is_wanted =
        |one: &ListedRun| one.is(owner.as_deref(), namespace.as_deref(), state.as_deref());
    // Whose run it is comes out when it is explained.
    let owner_is_known = explained.explained == explained.runs;
    let no_owner = owner.as_deref().filter(|_| owner_is_known);
    if let Some(problem) = nobodys(&list, no_owner, namespace.as_deref()) {
        return Err(problem);
    }
    let items = list.into_iter().filter(is_wanted).map(Experiment::of);
    let paging = Paging {
        limit: wanted.limit,
        cursor: wanted.cursor,
    };
    let page = paging.page(
        &["experiments", &about[0], &about[1], &about[2]],
        items.collect(),
    )?;
    Ok((reported(&explained), Json(page)))
}
