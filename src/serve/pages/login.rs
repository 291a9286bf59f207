//! `/login` and `/logout`: a token of the API for a session of the browser.

use std::sync::Arc;
use std::time::Instant;

use axum::Form;
use axum::extract::rejection::FormRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::{Html, IntoResponse as _, Redirect, Response};
use serde::Deserialize;

use super::guard::is_own_form;
use super::oidc;
use super::sessions::no_cookie;
use crate::render::site;
use crate::serve::audit::AuditEntry;
use crate::serve::{Caller, Service};

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct LoginQuery {
    next: String,
}

/// What the form sends.
#[derive(Deserialize)]
pub(super) struct Sent {
    token: String,
    #[serde(default)]
    next: String,
}

/// `GET /login`
pub(super) async fn form(State(service): State<Arc<Service>>, uri: Uri) -> Response {
    let asked = Query::<LoginQuery>::try_from_uri(&uri);
    let next = asked.map(|Query(asked)| asked.next).unwrap_or_default();
    if service.callers.is_open() {
        return Redirect::to(within(&next)).into_response();
    }
    Html(site::login(within(&next), None, oidc::title(&service))).into_response()
}

/// `POST /login`
pub(super) async fn sign_in(
    State(service): State<Arc<Service>>,
    headers: HeaderMap,
    sent: Result<Form<Sent>, FormRejection>,
) -> Response {
    let begun = Instant::now();
    let (caller, response) = signed_in(&service, &headers, sent);
    audit(&service, "POST /login", &caller, &response, begun);
    response
}

fn signed_in(
    service: &Service,
    headers: &HeaderMap,
    sent: Result<Form<Sent>, FormRejection>,
) -> (String, Response) {
    let nobody = || "-".to_owned();
    let refused = |status: StatusCode, next: &str, why: &str| {
        (
            nobody(),
            (
                status,
                Html(site::login(within(next), Some(why), oidc::title(service))),
            )
                .into_response(),
        )
    };
    let Ok(Form(sent)) = sent else {
        return refused(
            StatusCode::BAD_REQUEST,
            "",
            "The form was not sent completely.",
        );
    };
    if !is_own_form(headers, service.config.serve.public_url.as_deref()) {
        let why = "The form was sent by a page of another site.";
        return refused(StatusCode::FORBIDDEN, &sent.next, why);
    }
    let Some(caller) = service.callers.of_token(sent.token.trim()) else {
        return refused(
            StatusCode::UNAUTHORIZED,
            &sent.next,
            "The token is not valid.",
        );
    };
    match signs_in_with(service, headers, caller) {
        Ok(cookie) => {
            let mut response = Redirect::to(within(&sent.next)).into_response();
            response.headers_mut().insert(header::SET_COOKIE, cookie);
            (caller.name.clone(), response)
        }
        Err(error) => {
            tracing::error!("signing in failed: {error}");
            let why = "An internal error occurred; the service's log says which.";
            refused(StatusCode::INTERNAL_SERVER_ERROR, &sent.next, why)
        }
    }
}

/// Begins a session: the cookie that a browser is to hold.
pub(super) fn signs_in_with(
    service: &Service,
    headers: &HeaderMap,
    caller: &Caller,
) -> Result<HeaderValue, String> {
    let secure = is_secure(service, headers);
    let sessions = &service.pages.sessions;
    let cookie = sessions
        .begin(caller.clone(), (service.clock)(), secure)
        .map_err(|error| error.to_string())?;
    HeaderValue::try_from(cookie).map_err(|error| error.to_string())
}

/// `POST /logout`
pub(super) async fn sign_out(State(service): State<Arc<Service>>, headers: HeaderMap) -> Response {
    let begun = Instant::now();
    let who = service.pages.sessions.of(&headers, (service.clock)());
    let who = who.map_or_else(|| "-".to_owned(), |caller| caller.name);
    let response = if is_own_form(&headers, service.config.serve.public_url.as_deref()) {
        service.pages.sessions.end(&headers);
        let mut response = Redirect::to("/login").into_response();
        if let Ok(cookie) = HeaderValue::try_from(no_cookie(is_secure(&service, &headers))) {
            response.headers_mut().insert(header::SET_COOKIE, cookie);
        }
        response
    } else {
        (
            StatusCode::FORBIDDEN,
            "the form was sent by a page of another site\n",
        )
            .into_response()
    };
    audit(&service, "POST /logout", &who, &response, begun);
    response
}

/// Whether people reach the service by an encrypted connection: only then a browser keeps a
/// cookie that says so.
pub(super) fn is_secure(service: &Service, headers: &HeaderMap) -> bool {
    let public = service.config.serve.public_url.as_deref();
    let forwarded = headers.get("x-forwarded-proto");
    public.is_some_and(|url| url.starts_with("https://"))
        || forwarded.is_some_and(|proto| proto == "https")
}

/// An address within the service; its first page instead of any other.
pub(super) fn within(next: &str) -> &str {
    let mut letters = next.chars();
    let is_path = letters.next() == Some('/') && !matches!(letters.next(), Some('/' | '\\'));
    let is_plain = next.bytes().all(|byte| byte.is_ascii_graphic());
    if is_path && is_plain && !next.contains('\\') {
        next
    } else {
        "/"
    }
}

pub(super) fn audit(
    service: &Service,
    what: &str,
    caller: &str,
    response: &Response,
    begun: Instant,
) {
    let status = response.status();
    let entry = AuditEntry {
        caller,
        face: "page",
        what,
        outcome: status.as_str(),
        rows: None,
        took: begun.elapsed(),
    };
    service.audit.write(&entry, (service.clock)());
}

#[cfg(test)]
mod tests {
    use super::within;

    #[test]
    fn one_goes_on_within_the_service() {
        for (next, leads) in [
            ("/x/a%2Fb?run=1", "/x/a%2Fb?run=1"),
            ("", "/"),
            ("//evil.example", "/"),
            ("/\\evil.example", "/"),
            ("https://evil.example", "/"),
            ("javascript:alert(1)", "/"),
            ("/a\r\nset-cookie: x", "/"),
        ] {
            assert_eq!(within(next), leads, "{next}");
        }
    }
}
