//! One listener for all faces.

use std::sync::Arc;

use axum::Router;
use axum::routing::get;
use tokio::net::TcpListener;
use whathappened_connectors::connector::Stop;

use super::Service;
use super::slack::{self, Slack};
use crate::error::Error;

/// The routes of all faces.
pub fn router(service: Arc<Service>, slack: Option<Arc<Slack>>) -> Router {
    let slack = slack.map_or_else(Router::new, slack::router);
    Router::new()
        .route("/healthz", get(|| async { "ok\n" }))
        .with_state(service)
        .merge(slack)
}

/// Serves until `stop`; requests that are there then are still answered.
///
/// # Errors
/// When the listener breaks.
pub async fn serve(
    service: Arc<Service>,
    slack: Option<Arc<Slack>>,
    listener: TcpListener,
    stop: Stop,
) -> Result<(), Error> {
    axum::serve(listener, router(service, slack))
        .with_graceful_shutdown(stop.cancelled_owned())
        .await
        .map_err(|error| Error::Io {
            path: "the listener".to_owned(),
            error,
        })
}
