//! One listener for all faces.

use std::sync::Arc;

use axum::Router;
use axum::routing::get;
use tokio::net::TcpListener;
use whathappened_connectors::connector::Stop;

use super::Service;
use crate::error::Error;

/// The routes of all faces.
pub fn router(service: Arc<Service>) -> Router {
    Router::new()
        .route("/healthz", get(|| async { "ok\n" }))
        .with_state(service)
}

/// Serves until `stop`; requests that are there then are still answered.
///
/// # Errors
/// When the listener breaks.
pub async fn serve(service: Arc<Service>, listener: TcpListener, stop: Stop) -> Result<(), Error> {
    axum::serve(listener, router(service))
        .with_graceful_shutdown(stop.cancelled_owned())
        .await
        .map_err(|error| Error::Io {
            path: "the listener".to_owned(),
            error,
        })
}
