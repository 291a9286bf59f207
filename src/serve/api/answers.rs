//! `GET /api/v1/answers/{name}`

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use whathappened_store::StoreVersion;

use super::extract::{AuthenticatedCaller, Params, PathName};
use super::problem::{ErrorResponses, Problem};
use super::question::QuestionParams;
use crate::answer::Answer;
use crate::render::{self, Format, Style};
use crate::serve::{CallerQuestion, Service};

/// How much longer than live sources an answer may take until the caller is told to come back.
const PATIENCE: Duration = Duration::from_secs(60);

/// What happened to an experiment, a workload, a pod or a machine
///
/// The name is anything that the command line accepts: an experiment's label, a workload, a pod, `kind/[namespace/]name` (its
/// slashes as `%2F`), `node/NAME`, or `*` for everything. With `Accept: text/markdown` or `text/plain` the same for
/// people.
#[utoipa::path(
    get,
    path = "/api/v1/answers/{name}",
    operation_id = "answer",
    tag = "ask",
    params(("name" = String, Path, description = "experiment, workload, pod, or kind/[namespace/]name"), QuestionParams),
    responses(
        (status = 200, description = "The answer; also in docs/answer.schema.json", content(
            (Answer = "application/json"), (String = "text/markdown"), (String = "text/plain"))),
        (status = 406, description = "None of the accepted formats is available", body = Problem, content_type = "application/problem+json"),
        ErrorResponses,
    )
)]
pub(super) async fn get(
    State(service): State<Arc<Service>>,
    AuthenticatedCaller(caller): AuthenticatedCaller,
    PathName(name): PathName,
    Params(asked): Params<QuestionParams>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let form = form(&headers)?;
    let asking = asked.about(name, caller.access, &service)?;
    let answer = answer(&service, "api", asking).await?;
    let mut text = Vec::new();
    let mut style = Style::default();
    if form == Format::Table {
        // As short as on the command line.
        style.timeline_limit = Some(0);
    }
    render::answer(&answer, form, &style, &mut text).map_err(|error| Problem::inside(&error))?;
    let kind = match form {
        Format::Md => "text/markdown; charset=utf-8",
        Format::Table => "text/plain; charset=utf-8",
        _ => "application/json",
    };
    Ok(([(header::CONTENT_TYPE, kind)], text).into_response())
}

/// The answer, or the advice to come back for it: it is found to its end anyway.
pub(in crate::serve) async fn answer(
    service: &Arc<Service>,
    face: &'static str,
    asking: CallerQuestion,
) -> Result<Arc<Answer>, Problem> {
    let dated = dated_answer(service, face, asking).await;
    dated.map(|(answer, _)| answer)
}

/// The same with how far the store had come, where that is known.
pub(in crate::serve) async fn dated_answer(
    service: &Arc<Service>,
    face: &'static str,
    asking: CallerQuestion,
) -> Result<(Arc<Answer>, Option<StoreVersion>), Problem> {
    let patience = service.config.kubernetes.timeout + PATIENCE;
    match tokio::time::timeout(patience, service.dated_answer(face, asking)).await {
        Ok(reported) => reported.map_err(|error| Problem::from(&*error)),
        Err(_) => Err(Problem::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "the answer is still being computed",
        )
        .hint("repeat the request in a minute")),
    }
}

/// The first form that is accepted; JSON where anything is.
fn form(headers: &HeaderMap) -> Result<Format, Problem> {
    let accepted = headers.get_all(header::ACCEPT);
    let mut any = false;
    let mut refused = String::new();
    for part in accepted
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|text| text.split(','))
    {
        any = true;
        match part.split(';').next().unwrap_or_default().trim() {
            "application/json" | "application/*" | "*/*" | "" => return Ok(Format::Json),
            "text/markdown" => return Ok(Format::Md),
            "text/plain" | "text/*" => return Ok(Format::Table),
            other => other.clone_into(&mut refused),
        }
    }
    if any {
        return Err(Problem::new(
            StatusCode::NOT_ACCEPTABLE,
            format!("the answer is not available as {refused}"),
        )
        .hint("accept application/json, text/markdown or text/plain"));
    }
    Ok(Format::Json)
}
