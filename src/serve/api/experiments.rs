//! `GET /api/v1/experiments`

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;
use whathappened_connectors::time::{Nanos, rfc3339};
use whathappened_store::{Root, Store};

use super::page::{Page, Paging, descending};
use super::problem::{Problem, Refused};
use super::take::{By, Params};
use crate::serve::Service;

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
    /// Its uid, where a record says it.
    #[schema(required)]
    id: Option<String>,
    /// The earliest time that a record of it tells.
    #[schema(required)]
    first_seen: Option<String>,
    /// The latest time that a record of it tells.
    #[schema(required)]
    last_seen: Option<String>,
    /// Pods it had in all.
    pods: u64,
}

impl Experiment {
    fn of(root: Root) -> (String, Self) {
        let key = format!(
            "{} {} {} {} {}",
            descending(root.last),
            root.kind,
            root.namespace,
            root.name,
            root.uid
        );
        let known = root.first <= root.last;
        let some = |text: String| Some(text).filter(|text| !text.is_empty());
        let told = Self {
            experiment: root.experiment,
            kind: root.kind,
            namespace: some(root.namespace),
            name: root.name,
            id: some(root.uid),
            first_seen: known.then(|| rfc3339(root.first)),
            last_seen: known.then(|| rfc3339(root.last)),
            pods: root.pods,
        };
        (key, told)
    }
}

/// Every run that the store knows, the latest first
#[utoipa::path(
    get,
    path = "/api/v1/experiments",
    operation_id = "experiments",
    tag = "ask",
    params(Paging),
    responses((status = 200, description = "A page of runs", body = Page<Experiment>), Refused)
)]
pub(super) async fn list(
    State(service): State<Arc<Service>>,
    By(caller): By,
    Params(paging): Params<Paging>,
) -> Result<Json<Page<Experiment>>, Problem> {
    let read = move |service: &Service| {
        let store = Store::open_to_read(&service.store)?;
        let snapshot = store.snapshot_for(&caller.access)?;
        Ok(snapshot.roots(Nanos::MIN, Nanos::MAX)?)
    };
    let roots = service.work(read).await?;
    let items = roots.into_iter().map(Experiment::of).collect();
    paging.page(&["experiments"], items).map(Json)
}
