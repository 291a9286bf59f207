//! `GET /api/v1/coverage`

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use whathappened_store::Store;

use super::extract::{AuthenticatedCaller, Params};
use super::page::{Page, Paging};
use super::problem::{ErrorResponses, Problem};
use crate::answer::CoverageRow;
use crate::fetch;
use crate::report::coverage_row;
use crate::serve::Service;

/// What each source could and could not show while the store was filled
#[utoipa::path(
    get,
    path = "/api/v1/coverage",
    operation_id = "coverage",
    tag = "ask",
    params(Paging),
    responses((status = 200, description = "A page of rows", body = Page<CoverageRow>), ErrorResponses)
)]
pub(super) async fn list(
    State(service): State<Arc<Service>>,
    AuthenticatedCaller(caller): AuthenticatedCaller,
    Params(paging): Params<Paging>,
) -> Result<Json<Page<CoverageRow>>, Problem> {
    let read = move |service: &Service| {
        let store = Store::open_to_read(&service.store)?;
        let snapshot = store.snapshot_for(&caller.access)?;
        let mut rows = snapshot.coverage()?;
        // What imports, webhooks and collectors told, from when to when.
        rows.extend(fetch::held_sources(&snapshot)?);
        rows.sort();
        Ok(rows)
    };
    let mut rows: Vec<(String, CoverageRow)> = Vec::new();
    for row in &service.work(read).await? {
        let reported = coverage_row(row);
        let rest = serde_json::to_string(&reported).map_err(|error| Problem::inside(&error))?;
        // Rows that say the same are one.
        let key = format!("{} {} {rest}", reported.source, reported.resource);
        if rows.last().is_none_or(|(last, _)| *last != key) {
            rows.push((key, reported));
        }
    }
    paging.page(&["coverage"], rows).map(Json)
}
