//! Slack over HTTP.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use axum::{Json, Router, middleware};
use serde_json::{Value, json};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, TryAcquireError};
use tower_http::timeout::TimeoutLayer;
use whathappened_slack::{Command, EventRequest, Interaction, Unreadable};

use super::Slack;
use crate::serve::body::{self, BodyBounds};
use crate::serve::listen;

/// The largest request that is looked at.
const LARGEST: usize = 1 << 20;
/// How it may come: Slack waits for three seconds in all.
const BOUNDS: BodyBounds = BodyBounds {
    most: LARGEST,
    in_all: Duration::from_secs(3),
    silence: Duration::from_secs(3),
};
/// How long it may take to be noted.
const SLOWEST: Duration = Duration::from_secs(3);
/// Requests that are here and worked on at once.
const AT_ONCE: usize = 128;
/// Bytes of requests that have not come in full, in KiB. Whoever sends nothing takes nothing.
const COMING: usize = 64 << 10;

/// `/slack/commands`, `/slack/events` and `/slack/interactivity`; nothing where no
/// signing secret is.
pub fn router(slack: Arc<Slack>) -> Router {
    if slack.verifier.is_none() {
        return Router::new();
    }
    Router::new()
        .route("/slack/commands", post(commands))
        .route("/slack/events", post(events))
        .route("/slack/interactivity", post(interactivity))
        .layer(DefaultBodyLimit::max(LARGEST))
        .layer(TimeoutLayer::with_status_code(
            StatusCode::REQUEST_TIMEOUT,
            SLOWEST,
        ))
        .layer(middleware::from_fn_with_state(
            Arc::new(Semaphore::new(AT_ONCE)),
            listen::bound,
        ))
        // Who is not Slack can send bodies as well, and wait with them: that takes no place.
        .layer(middleware::from_fn_with_state(
            Arc::new(Semaphore::new(COMING)),
            whole,
        ))
        .with_state(slack)
}

/// Lets a request on when it has come in full.
async fn whole(State(room): State<Arc<Semaphore>>, request: Request, next: Next) -> Response {
    let (head, body) = request.into_parts();
    let mut held: Option<OwnedSemaphorePermit> = None;
    let take = |bytes: usize| {
        let size = u32::try_from(bytes.div_ceil(1024)).unwrap_or(u32::MAX);
        let more = Arc::clone(&room).try_acquire_many_owned(size)?;
        match &mut held {
            Some(held) => held.merge(more),
            None => held = Some(more),
        }
        Ok::<(), TryAcquireError>(())
    };
    let bytes = match body::read(&head.headers, body, BOUNDS, take).await {
        Ok(bytes) => bytes,
        Err(why) => return why.status().into_response(),
    };
    next.run(Request::from_parts(head, Body::from(bytes))).await
}

async fn commands(State(slack): State<Arc<Slack>>, headers: HeaderMap, body: Bytes) -> Response {
    if Command::is_ssl_check(&body) {
        return StatusCode::OK.into_response();
    }
    if let Err(done) = slack.authenticate(&headers, &body) {
        return *done;
    }
    match Command::from_form(&body) {
        Ok(command) => match slack.command(command) {
            Value::Null => StatusCode::OK.into_response(),
            answer => Json(answer).into_response(),
        },
        Err(error) => unreadable(&error),
    }
}

async fn events(State(slack): State<Arc<Slack>>, headers: HeaderMap, body: Bytes) -> Response {
    if let Err(done) = slack.authenticate(&headers, &body) {
        return *done;
    }
    match EventRequest::from_body(&body) {
        Ok(EventRequest::UrlVerification { challenge }) => {
            Json(json!({"challenge": challenge})).into_response()
        }
        Ok(EventRequest::Callback(callback)) => taken(slack.event(callback)),
        Ok(EventRequest::RateLimited) => {
            tracing::warn!("Slack is sending no events for a minute because there were too many");
            StatusCode::OK.into_response()
        }
        Ok(EventRequest::Other(_)) => StatusCode::OK.into_response(),
        Err(error) => unreadable(&error),
    }
}

async fn interactivity(
    State(slack): State<Arc<Slack>>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    if Command::is_ssl_check(&body) {
        return StatusCode::OK.into_response();
    }
    if let Err(done) = slack.authenticate(&headers, &body) {
        return *done;
    }
    match Interaction::from_form(&body) {
        Ok(interaction) => taken(slack.interaction(interaction)),
        Err(error) => unreadable(&error),
    }
}

/// What was noted is acknowledged; what was not has to come again.
fn taken(noted: Result<(), crate::error::Error>) -> Response {
    match noted {
        Ok(()) => StatusCode::OK.into_response(),
        Err(error) => {
            tracing::error!("a request from Slack cannot be recorded: {error}");
            StatusCode::SERVICE_UNAVAILABLE.into_response()
        }
    }
}

/// Slack signed it, so that sending it again would not help.
fn unreadable(error: &Unreadable) -> Response {
    tracing::warn!("{error}");
    StatusCode::OK.into_response()
}

impl Slack {
    /// Believes a request that is new; anything else has its answer already.
    fn authenticate(&self, headers: &HeaderMap, body: &[u8]) -> Result<(), Box<Response>> {
        let refused = |why: String| {
            tracing::warn!("a request to Slack's address was refused: {why}");
            Err(Box::new((StatusCode::UNAUTHORIZED, why).into_response()))
        };
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let Some(verifier) = &self.verifier else {
            return refused("no SLACK_SIGNING_SECRET is set".to_owned());
        };
        let (time, signature) = (text("x-slack-request-timestamp"), text("x-slack-signature"));
        let key = match verifier.verify(time, signature, body, self.now()) {
            Ok(key) => key,
            Err(error) => return refused(error.to_string()),
        };
        match self.is_first("signed", &key) {
            Ok(true) => Ok(()),
            // Sent again by Slack: it was taken down before.
            Ok(false) if headers.contains_key("x-slack-retry-num") => {
                Err(Box::new(StatusCode::OK.into_response()))
            }
            Ok(false) => refused("this request was received before".to_owned()),
            Err(error) => {
                tracing::error!("a request from Slack cannot be recorded: {error}");
                Err(Box::new(StatusCode::SERVICE_UNAVAILABLE.into_response()))
            }
        }
    }
}
