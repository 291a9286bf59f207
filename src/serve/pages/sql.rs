//! `/sql`: statements, in an address that can be passed on.

use std::time::Instant;

use axum::response::Response;
use datafusion::arrow::ipc::reader::StreamReader;
use serde::Deserialize;

use super::visit::Visit;
use crate::render::site::{self, SqlFailure, SqlPage, SqlRows, Tab};
use crate::serve::api::{Problem, explained_for};
use crate::sql::Form;

pub(super) async fn get(visit: Visit) -> Response {
    let page = page(&visit).await;
    visit.reply(Tab::Sql, page)
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct SqlQuery {
    q: String,
}

async fn page(visit: &Visit) -> Result<String, Problem> {
    let SqlQuery { q: statement } = visit.params()?;
    let mut page = SqlPage {
        statement,
        ..SqlPage::default()
    };
    if !page.statement.trim().is_empty() {
        match rows(visit, &page.statement).await {
            Ok(rows) => page.rows = Some(rows),
            Err(problem) => {
                let (_, _, detail, hints, _) = problem.parts();
                page.failure = Some(SqlFailure {
                    detail: detail.to_owned(),
                    hints: hints.to_vec(),
                });
            }
        }
    }
    Ok(site::sql(&visit.frame(Tab::Sql), &page))
}

async fn rows(visit: &Visit, statement: &str) -> Result<SqlRows, Problem> {
    let begun = Instant::now();
    let explained = explained_for(&visit.service, statement).await;
    let caller = visit.reader.caller.clone();
    let ran = visit
        .service
        .statement(caller, statement.to_owned(), Form::Arrow)
        .await;
    let ran = ran.map_err(|halted| Problem::from(&halted))?;
    let read = || {
        let reader = StreamReader::try_new(ran.body.as_slice(), None)?;
        let schema = reader.schema();
        Ok::<_, datafusion::arrow::error::ArrowError>((
            schema,
            reader.collect::<Result<Vec<_>, _>>()?,
        ))
    };
    let (schema, batches) = read().map_err(|error| Problem::inside(&error))?;
    Ok(SqlRows {
        schema,
        batches,
        rows: ran.rows,
        truncated: ran.truncated,
        incomplete: ran.incomplete,
        took_ms: u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
        explained,
    })
}
