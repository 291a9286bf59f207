//! The HTTP API: what the command line answers, for programs.
//!
//! A file a resource; `guard` lets callers through and writes the audit trail
//! for all of them, `take` and `problem` say what is wrong with a request,
//! `page` makes pages of lists. The `OpenAPI` document is made of the same
//! declarations as the routes.
#![expect(
    unused_qualifications,
    reason = "the macros that make the document write them"
)]

mod answers;
mod coverage;
mod document;
mod experiments;
mod extract;
mod guard;
mod imports;
mod incidents;
mod nodes;
mod page;
mod problem;
mod question;
mod rules;
mod sql;
mod timelines;
mod upcoming;

use std::path::Path;
use std::sync::Arc;

use axum::http::StatusCode;
use axum::response::IntoResponse;
use axum::routing::get;
use axum::{Json, Router};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::Service;

pub(super) use self::answers::dated_answer;
pub use self::document::document;
pub(super) use self::guard::{is_for_this_machine, may_read_metrics, who};
pub(super) use self::incidents::explain;
pub(super) use self::nodes::{NodeParams, node_history};
pub(super) use self::problem::Problem;
pub(super) use self::question::QuestionParams;
pub(super) use self::sql::explained_for;

/// Removes what services that were killed left in the store's folder.
pub(super) fn sweep(store: &Path) {
    if let Err(error) = imports::sweep(store) {
        tracing::warn!(%error, "the remains of uploads were not removed");
    }
}

/// All routes and what the document says of them.
fn routes() -> OpenApiRouter<Arc<Service>> {
    document::begun()
        .routes(routes!(answers::get))
        .routes(routes!(timelines::get))
        .routes(routes!(experiments::list))
        .routes(routes!(nodes::get))
        .routes(routes!(coverage::list))
        .routes(routes!(incidents::list))
        .routes(routes!(upcoming::get))
        .routes(routes!(rules::list))
        .routes(routes!(rules::get))
        .routes(routes!(imports::post))
        .routes(routes!(sql::post))
}

/// The API's part of the listener. The document is for everybody: it says what
/// can be asked, and nothing of what happened.
pub(super) fn router(service: &Arc<Service>) -> Router<Arc<Service>> {
    let (asked, _) = routes().split_for_parts();
    let layer = axum::middleware::from_fn_with_state(Arc::clone(service), guard::guard);
    let asked = asked
        .fallback(nowhere)
        .method_not_allowed_fallback(other_method)
        .layer(layer);
    Router::new()
        .route("/api/v1/openapi.json", get(|| async { Json(document()) }))
        .merge(asked)
}

/// Whoever is lost, on any face, is told where the way is.
pub(super) async fn nowhere() -> impl IntoResponse {
    Problem::not_found("there is no such resource")
        .hint("see GET /api/v1/openapi.json for all resources")
}

async fn other_method() -> Problem {
    Problem::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "this resource does not support this method",
    )
    .hint("see GET /api/v1/openapi.json for its methods")
}
