//! `POST /api/v1/sql`

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;
use tokio::runtime::Handle;
use tokio::time::timeout;
use utoipa::ToSchema;
use whathappened_model::time::Nanos;

use super::extract::AuthenticatedCaller;
use super::guard::AuditDetails;
use super::incidents::{EXPLAINED, explain, many};
use super::problem::{ErrorResponses, Problem};
use crate::error::Error;
use crate::serve::Service;
use crate::serve::callers::Caller;
use crate::serve::statement::StatementError;
use crate::sql::{Form, rests_on_explaining};

/// The longest statement.
const LONGEST: usize = 1 << 20;
/// How long it may take to come.
const SLOWEST: Duration = Duration::from_secs(15);

/// How many rows there are in the answer.
const ROWS: HeaderName = HeaderName::from_static("whathappened-rows");
/// Whether rows were left out.
const TRUNCATED: HeaderName = HeaderName::from_static("whathappened-truncated");
/// Whether damaged parts of the store are missing.
const INCOMPLETE: HeaderName = HeaderName::from_static("whathappened-incomplete");

/// One statement.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Statement {
    /// SELECT, WITH, VALUES, EXPLAIN, SHOW or DESCRIBE.
    #[schema(example = "SELECT cause, level, time FROM incidents")]
    statement: String,
}

/// Runs one statement over the store
///
/// Tables are in docs/sql.md. Statements only read, and see of the store what the caller may see. Where a statement names
/// `incidents`, `collateral`, `runs` or `experiments`, some runs that have not been explained yet are explained before; the header
/// `x-whathappened-explained` says how many are, `12 of 15 runs`, and repeating the request explains more. Rows come as
/// `application/json` (an array of objects), `application/x-ndjson`, `text/csv` or
/// `application/vnd.apache.arrow.stream`. A statement that takes too much time or memory is ended; too many rows are
/// left out, which the header `whathappened-truncated` says. Where part of the store is damaged and so missing from the rows,
/// the header `whathappened-incomplete` is there; the table `coverage` says what.
#[utoipa::path(
    post,
    path = "/api/v1/sql",
    operation_id = "sql",
    tag = "data",
    request_body(description = "The statement", content(
        (Statement = "application/json"), (String = "application/sql"), (String = "text/plain"))),
    responses(
        (status = 200, description = "The rows",
            headers(
                ("whathappened-rows" = u64, description = "how many rows there are"),
                ("whathappened-truncated" = bool, description = "whether rows were omitted"),
                ("whathappened-incomplete" = bool, description = "only there, and true, if damaged parts of the store are missing from the rows"),
                ("x-whathappened-explained" = String, description = "how many runs of the store are explained, if the statement depends on it"),
            ),
            content(
                (Vec<Object> = "application/json"), (String = "application/x-ndjson"), (String = "text/csv"),
                (Vec<u8> = "application/vnd.apache.arrow.stream"))),
        (status = 408, description = "The statement was sent too slowly", body = Problem, content_type = "application/problem+json"),
        (status = 406, description = "Rows are not available in any of the accepted formats", body = Problem, content_type = "application/problem+json"),
        (status = 413, description = "The statement is too long", body = Problem, content_type = "application/problem+json"),
        (status = 415, description = "The body is neither JSON nor SQL", body = Problem, content_type = "application/problem+json"),
        (status = 422, description = "The statement took too much time or memory, or its result is too large", body = Problem, content_type = "application/problem+json"),
        ErrorResponses,
    )
)]
pub(super) async fn post(
    State(service): State<Arc<Service>>,
    AuthenticatedCaller(caller): AuthenticatedCaller,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let mut trail = AuditDetails::default();
    let reported = match statement(&headers, body).await {
        Ok(statement) => {
            trail.what = Some(statement.clone());
            answer(&service, caller, statement, &headers, &mut trail).await
        }
        Err(problem) => Err(problem),
    };
    let mut response = reported.unwrap_or_else(Problem::into_response);
    response.extensions_mut().insert(trail);
    response
}

async fn statement(headers: &HeaderMap, body: Body) -> Result<String, Problem> {
    let too_long = |_| {
        Problem::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            format!("a statement may be at most {LONGEST} bytes long"),
        )
    };
    let slow = |_| {
        Problem::new(
            StatusCode::REQUEST_TIMEOUT,
            format!(
                "the statement was sent too slowly: the limit is {} s",
                SLOWEST.as_secs()
            ),
        )
    };
    let bytes = timeout(SLOWEST, axum::body::to_bytes(body, LONGEST))
        .await
        .map_err(slow)?
        .map_err(too_long)?;
    let kind = headers.get(header::CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    match kind.split(';').next().unwrap_or_default().trim() {
        "application/json" => {
            let wrong =
                |error| Problem::bad(format!("the body is not {{\"statement\": \"…\"}}: {error}"));
            let sent: Statement = serde_json::from_slice(&bytes).map_err(wrong)?;
            Ok(sent.statement)
        }
        "application/sql" | "text/plain" => String::from_utf8(bytes.into())
            .map_err(|error| Problem::bad(format!("the statement is not UTF-8: {error}"))),
        other => Err(Problem::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            format!("a statement cannot be sent as {other:?}"),
        )
        .hint("send application/json with {\"statement\": \"…\"}, or application/sql")),
    }
}

async fn answer(
    service: &Arc<Service>,
    caller: Caller,
    statement: String,
    headers: &HeaderMap,
    trail: &mut AuditDetails,
) -> Result<Response, Problem> {
    let (form, kind) = form(headers)?;
    let explained = explained_for(service, &statement).await;
    let name = caller.name.clone();
    let ran = service
        .statement(caller, statement, form)
        .await
        .map_err(|halted| Problem::from(&halted))?;
    trail.rows = Some(ran.rows);
    let truncated = if ran.truncated { "true" } else { "false" };
    let head = [
        (header::CONTENT_TYPE, HeaderValue::from_static(kind)),
        (ROWS, HeaderValue::from(ran.rows)),
        (TRUNCATED, HeaderValue::from_static(truncated)),
    ];
    let body = service.unsent.body(&name, ran.body).ok_or_else(|| {
        let status = StatusCode::SERVICE_UNAVAILABLE;
        Problem::new(status, "too many answers are waiting to be read")
            .hint("read the answers to earlier statements, then try again")
    })?;
    let mut response = (head, body).into_response();
    if ran.incomplete {
        let damaged = HeaderValue::from_static("true");
        response.headers_mut().insert(INCOMPLETE, damaged);
    }
    let explained = explained.and_then(|text| HeaderValue::try_from(text).ok());
    if let Some(explained) = explained {
        response.headers_mut().insert(EXPLAINED, explained);
    }
    Ok(response)
}

/// How many runs are explained, where a statement rests on that, after some more were.
pub(in crate::serve) async fn explained_for(
    service: &Arc<Service>,
    statement: &str,
) -> Option<String> {
    if !rests_on_explaining(statement) {
        return None;
    }
    // Where it cannot be done now, the rows that there are are told all the same.
    explain_some(service).await.ok()
}

/// Explains some of the runs that nobody explained yet; says how many are.
async fn explain_some(service: &Arc<Service>) -> Result<String, Error> {
    let handle = Handle::current();
    let always = (Nanos::MIN, Nanos::MAX);
    let work = move |service: &Service| handle.block_on(explain(service, always));
    Ok(many(&service.work(work).await?))
}

impl From<&StatementError> for Problem {
    fn from(halted: &StatementError) -> Self {
        let status = match halted {
            StatementError::Inside(error) => return Self::inside(error),
            StatementError::Refused(..) => StatusCode::BAD_REQUEST,
            StatementError::Busy => StatusCode::SERVICE_UNAVAILABLE,
            StatementError::Late(_)
            | StatementError::Large(_)
            | StatementError::Long(_)
            | StatementError::Broke(_) => StatusCode::UNPROCESSABLE_ENTITY,
        };
        let mut problem = Self::new(status, halted.to_string());
        for hint in halted.hints() {
            problem = problem.hint(hint);
        }
        problem
    }
}

/// The first form that is accepted; JSON where anything is.
fn form(headers: &HeaderMap) -> Result<(Form, &'static str), Problem> {
    let accepted = headers.get_all(header::ACCEPT);
    let mut refused = None;
    for part in accepted
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|text| text.split(','))
    {
        match part.split(';').next().unwrap_or_default().trim() {
            "application/json" | "application/*" | "*/*" | "" => {
                return Ok((Form::Json, "application/json"));
            }
            "application/x-ndjson" => return Ok((Form::Ndjson, "application/x-ndjson")),
            "text/csv" | "text/*" => return Ok((Form::Csv, "text/csv; charset=utf-8")),
            "application/vnd.apache.arrow.stream" => {
                return Ok((Form::Arrow, "application/vnd.apache.arrow.stream"));
            }
            other => refused = Some(other.to_owned()),
        }
    }
    match refused {
        None => Ok((Form::Json, "application/json")),
        Some(kind) => Err(Problem::new(
            StatusCode::NOT_ACCEPTABLE,
            format!("rows are not available as {kind}"),
        )
        .hint(
            "accept application/json, application/x-ndjson, text/csv or application/vnd.apache.arrow.stream",
        )),
    }
}
