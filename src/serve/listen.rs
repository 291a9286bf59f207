//! One listener for all faces.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::timeout::TimeoutLayer;
use whathappened_model::connector::Stop;

use super::body::{self, BodyBounds};
use super::connections::{self, BoundedListener, Line};
use super::slack::{self, Slack};
use super::{Service, api, metrics, pages, webhooks};
use crate::error::Error;

/// The routes of all faces.
pub fn router(service: Arc<Service>, slack: Option<Arc<Slack>>) -> Router {
    let limits = service.config.serve.limits.clone();
    let (pushing, asking) = (&service.doors.pushing, &service.doors.asking);
    let bounded =
        |places: &Arc<Semaphore>| middleware::from_fn_with_state(Arc::clone(places), bound);
    let faces = webhooks::routes()
        .with_state(Arc::clone(&service))
        .layer(TimeoutLayer::with_status_code(
            StatusCode::GATEWAY_TIMEOUT,
            limits.timeout,
        ))
        .layer(bounded(pushing))
        // An upload takes as long as it takes; statements and answers have times of their own.
        .merge(
            api::router(&service)
                .merge(pages::router(&service))
                .with_state(Arc::clone(&service))
                .layer(bounded(asking))
                // Outside of that: who sends a form slowly takes no place of those who ask.
                .layer(middleware::from_fn(whole_form)),
        );
    // Probes and Slack, which waits for no more than three seconds and is turned
    // away by a limit of its own, are answered however much there is to do.
    faces
        .merge(slack.map_or_else(Router::new, slack::router))
        .merge(metrics::routes().with_state(service))
        .fallback(api::nowhere)
        .layer(CatchPanicLayer::new())
        .layer(middleware::from_fn(one_host))
        .layer(middleware::from_fn(metrics::track))
        .layer(middleware::from_fn(connections::busy))
}

/// Turns away a request that names two hosts, or another in its address than in its
/// header: whoever is let in by the one, here or on the way, could mean the other.
async fn one_host(request: Request, next: Next) -> Response {
    let named = request.headers().get(header::HOST);
    if request.headers().get_all(header::HOST).iter().count() > 1 {
        let why = "a request names one host\n";
        return (StatusCode::BAD_REQUEST, why).into_response();
    }
    let address = request
        .uri()
        .authority()
        .map(|host| host.as_str().as_bytes());
    if address.is_some_and(|address| named.is_none_or(|named| named.as_bytes() != address)) {
        let why = "the address and the header Host name different hosts\n";
        return (StatusCode::BAD_REQUEST, why).into_response();
    }
    next.run(request).await
}

/// Reads what the form of `/login` sends before the request takes a place: nobody has signed in yet.
async fn whole_form(request: Request, next: Next) -> Response {
    const BOUNDS: BodyBounds = BodyBounds {
        most: 16 * 1024,
        in_all: Duration::from_secs(5),
        silence: Duration::from_secs(2),
    };
    if request.method() != Method::POST || request.uri().path() != "/login" {
        return next.run(request).await;
    }
    let (head, body) = request.into_parts();
    let room = |_| Ok::<(), Infallible>(());
    match body::read(&head.headers, body, BOUNDS, room).await {
        Ok(form) => next.run(Request::from_parts(head, Body::from(form))).await,
        Err(why) => why.status().into_response(),
    }
}

/// Sends away what would be too much at once.
pub(super) async fn bound(
    State(places): State<Arc<Semaphore>>,
    request: Request,
    next: Next,
) -> Response {
    let Ok(_place) = places.try_acquire() else {
        let again = [(header::RETRY_AFTER, "1")];
        return (
            StatusCode::SERVICE_UNAVAILABLE,
            again,
            "too many requests\n",
        )
            .into_response();
    };
    next.run(request).await
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
    api::sweep(&service.store);
    let routes = router(service, slack).into_make_service_with_connect_info::<Line>();
    axum::serve(BoundedListener::new(listener), routes)
        .with_graceful_shutdown(stop.cancelled_owned())
        .await
        .map_err(|error| Error::Io {
            path: "the listener".to_owned(),
            error,
        })
}
