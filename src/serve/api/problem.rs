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
pub(in crate::serve) struct Problem {
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
    /// Names that may have been meant, for pages that link to them.
    #[serde(skip)]
    near: Vec<String>,
}

/// What every route may answer instead.
#[derive(IntoResponses)]
#[expect(dead_code, reason = "only the document is made of it")]
pub(super) enum ErrorResponses {
    /// A parameter is wrong
    #[response(status = 400, content_type = "application/problem+json")]
    Bad(Problem),
    /// No valid token
    #[response(status = 401, content_type = "application/problem+json")]
    Unknown(Problem),
    /// The caller may not
    #[response(status = 403, content_type = "application/problem+json")]
    Forbidden(Problem),
    /// Nothing visible to the caller has this name
    #[response(status = 404, content_type = "application/problem+json")]
    NotFound(Problem),
    /// Something failed inside the service
    #[response(status = 500, content_type = "application/problem+json")]
    Failed(Problem),
    /// There is no store yet, or the answer is still being computed
    #[response(status = 503, content_type = "application/problem+json")]
    NotYet(Problem),
}

impl Problem {
    pub(in crate::serve) fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        Self {
            kind: "about:blank",
            title: status.canonical_reason().unwrap_or_default().to_owned(),
            status: status.as_u16(),
            detail: detail.into(),
            hints: Vec::new(),
            near: Vec::new(),
        }
    }

    /// The status, its name, what is wrong, what to do, and names that may have been meant.
    pub(in crate::serve) fn parts(&self) -> (StatusCode, &str, &str, &[String], &[String]) {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        (status, &self.title, &self.detail, &self.hints, &self.near)
    }

    pub(in crate::serve) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    pub(in crate::serve) fn bad(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, detail)
    }

    pub(in crate::serve) fn not_found(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, detail)
    }

    /// The disk is full, which the caller can neither see nor help.
    pub(super) fn full(error: &dyn std::fmt::Display) -> Self {
        tracing::error!("the disk is full: {error}");
        Self::new(
            StatusCode::INSUFFICIENT_STORAGE,
            "the service's disk is full; what was stored before is intact",
        )
        .hint("report it to the operator and retry later; nothing is stored twice")
    }

    /// What the operator has to look into: the log has it, the caller need not know.
    pub(in crate::serve) fn inside(error: &dyn std::fmt::Display) -> Self {
        tracing::error!("a request failed: {error}");
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "an internal error occurred",
        )
        .hint("see the service's log for details")
    }
}

impl From<&Error> for Problem {
    fn from(error: &Error) -> Self {
        let reported = match error {
            Error::UnknownName { .. } | Error::UnknownRun { .. } | Error::NoneLeft { .. } => {
                Self::not_found(error.to_string())
            }
            Error::Usage(_) | Error::Misused { .. } | Error::NothingPiped => {
                Self::bad(error.to_string())
            }
            Error::Store(StoreError::Missing { .. }) => Self::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "there is no store yet: nothing has been collected",
            ),
            Error::Store(error @ StoreError::Full { .. }) => return Self::full(error),
            other => return Self::inside(other),
        };
        let hints = match error {
            Error::UnknownName { nearest, .. } if nearest.is_empty() => {
                vec!["list all experiments: GET /api/v1/experiments".to_owned()]
            }
            // What could not be read may be of namespaces that the caller may not know of.
            Error::UnknownName { nearest, .. } => {
                vec![format!("did you mean: {}?", nearest.join(", "))]
            }
            Error::UnknownRun { .. } => {
                vec![
                    "the IDs are in the answer, field runs; the newest run has the highest number"
                        .to_owned(),
                ]
            }
            other => other.hints(),
        };
        let near = match error {
            Error::UnknownName { nearest, .. } => nearest.clone(),
            _ => Vec::new(),
        };
        Self {
            hints,
            near,
            ..reported
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_said_to_be_one() {
        let path = "store/store.db".into();
        let problem = Problem::from(&Error::Store(StoreError::Full { path }));
        assert_eq!(problem.status, 507);
        assert!(
            problem.detail.contains("disk is full"),
            "{}",
            problem.detail
        );
        assert!(
            problem.hints[0].contains("retry later"),
            "{:?}",
            problem.hints
        );
    }
}
