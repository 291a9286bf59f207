//! What is wrong with a request, as RFC 9457 has it.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::{IntoResponses, ToSchema};
use whathappened_store::StoreError;

use crate::error::Error;

/// The media type of a problem.
const PROBLEM: HeaderValue = HeaderValue::from_static("application/problem+json");

/// What is wrong with a request, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub(super) struct Problem {
    /// Always `about:blank`: the status says what kind it is.
    #[serde(rename = "type")]
    #[schema(example = "about:blank")]
    kind: &'static str,
    /// The status in words.
    title: String,
    /// The HTTP status.
    #[schema(minimum = 400, maximum = 599)]
    status: u16,
    /// What is wrong with this request.
    detail: String,
    /// What to do about it.
    hints: Vec<String>,
}

/// What every route may answer instead.
#[derive(IntoResponses)]
#[expect(dead_code, reason = "only the document is made of it")]
pub(super) enum Refused {
    /// A parameter is wrong
    #[response(status = 400, content_type = "application/problem+json")]
    Bad(Problem),
    /// No token that is known
    #[response(status = 401, content_type = "application/problem+json")]
    Unknown(Problem),
    /// The caller may not
    #[response(status = 403, content_type = "application/problem+json")]
    Forbidden(Problem),
    /// Nothing that the caller may see bears the name
    #[response(status = 404, content_type = "application/problem+json")]
    NotFound(Problem),
    /// Something failed inside the service
    #[response(status = 500, content_type = "application/problem+json")]
    Failed(Problem),
    /// There is no store yet, or the answer is still being found
    #[response(status = 503, content_type = "application/problem+json")]
    NotYet(Problem),
}

impl Problem {
    pub(super) fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        Self {
            kind: "about:blank",
            title: status.canonical_reason().unwrap_or_default().to_owned(),
            status: status.as_u16(),
            detail: detail.into(),
            hints: Vec::new(),
        }
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    pub(super) fn bad(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, detail)
    }

    pub(super) fn not_found(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, detail)
    }

    /// The disk is full, which the caller can neither see nor help.
    pub(super) fn full(error: &dyn std::fmt::Display) -> Self {
        tracing::error!("the disk is full: {error}");
        Self::new(
            StatusCode::INSUFFICIENT_STORAGE,
            "no room is left on the service's disk; what was stored before is intact",
        )
        .hint("tell the operator, and come again: what is sent twice is kept once")
    }

    /// What the operator has to look into: the log has it, the caller need not know.
    pub(super) fn inside(error: &dyn std::fmt::Display) -> Self {
        tracing::error!("a request failed: {error}");
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "something failed inside the service",
        )
        .hint("the service's log says what")
    }
}

impl From<&Error> for Problem {
    fn from(error: &Error) -> Self {
        let told = match error {
            Error::UnknownName { .. } | Error::UnknownRun { .. } | Error::NoneLeft { .. } => {
                Self::not_found(error.to_string())
            }
            Error::Usage(_) => Self::bad(error.to_string()),
            Error::Store(StoreError::Missing { .. }) => Self::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "there is no store yet; nothing was collected",
            ),
            Error::Store(error @ StoreError::Full { .. }) => return Self::full(error),
            other => return Self::inside(other),
        };
        let hints = match error {
            Error::UnknownName { nearest, .. } if nearest.is_empty() => {
                vec!["see what there is: GET /api/v1/experiments".to_owned()]
            }
            Error::UnknownRun { .. } => {
                vec![
                    "the ids are in the answer, field runs; the newest has the highest number"
                        .to_owned(),
                ]
            }
            other => other.hints(),
        };
        Self { hints, ..told }
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        Self::from(&error)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = (status, Json(self)).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, PROBLEM);
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}
