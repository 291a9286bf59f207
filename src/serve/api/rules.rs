//! `GET /api/v1/rules`

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use super::extract::{Params, PathName};
use super::page::{Page, Paging, descending};
use super::problem::{ErrorResponses, Problem};
use crate::explain::Rule;
use crate::serve::Service;

/// A cause and how it is detected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub(super) struct Cause {
    /// Its id, such as `ops.node_drained`.
    cause: String,
    /// The cause in a few words.
    title: String,
    /// How far upstream it acts: of two equally well proven causes, the higher wins.
    rank: i64,
    /// The highest level it can reach.
    level: String,
    /// Signals of which at least one must be present.
    needs: Vec<String>,
    /// Sources that could overturn it, and how.
    overturned_by: Vec<String>,
    /// What to do now.
    advice: Vec<String>,
}

/// A cause with its rule file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub(super) struct CauseWithRule {
    /// The cause.
    rule: Cause,
    /// The rule's file: a header and one SELECT.
    text: String,
}

impl Cause {
    fn of(rule: &Rule) -> Self {
        Self {
            cause: rule.cause.clone(),
            title: rule.title.clone(),
            rank: rule.rank,
            level: rule.level.as_str().to_owned(),
            needs: rule.needs.clone(),
            overturned_by: rule
                .overturned_by
                .iter()
                .map(|one| one.line.clone())
                .collect(),
            advice: rule.advice.clone(),
        }
    }
}

/// Every known cause, furthest upstream first
#[utoipa::path(
    get,
    path = "/api/v1/rules",
    operation_id = "rules",
    tag = "rules",
    params(Paging),
    responses((status = 200, description = "A page of causes", body = Page<Cause>), ErrorResponses)
)]
pub(super) async fn list(
    State(service): State<Arc<Service>>,
    Params(paging): Params<Paging>,
) -> Result<Json<Page<Cause>>, Problem> {
    let causes = service.rules.causes.iter();
    let items = causes.map(|rule| {
        let key = format!("{} {}", descending(rule.rank), rule.cause);
        (key, Cause::of(rule))
    });
    paging.page(&["rules"], items.collect()).map(Json)
}

/// One cause, with its rule file
#[utoipa::path(
    get,
    path = "/api/v1/rules/{cause}",
    operation_id = "rule",
    tag = "rules",
    params(("cause" = String, Path, description = "the cause's id", example = "ops.node_drained")),
    responses((status = 200, description = "The cause", body = CauseWithRule), ErrorResponses)
)]
pub(super) async fn get(
    State(service): State<Arc<Service>>,
    PathName(cause): PathName,
) -> Result<Json<CauseWithRule>, Problem> {
    let rule = service.rules.causes.iter().find(|rule| rule.cause == cause);
    let rule = rule.ok_or_else(|| {
        Problem::not_found(format!("there is no cause named {cause:?}"))
            .hint("list them all: GET /api/v1/rules")
    })?;
    Ok(Json(CauseWithRule {
        rule: Cause::of(rule),
        text: rule.text.clone(),
    }))
}
