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
    /// The statement; links that others wrote call it by its whole name.
    #[serde(alias = "statement", alias = "sql")]
    q: Option<String>,
}

async fn page(visit: &Visit) -> Result<String, Problem> {
    let SqlQuery { q: statement } = visit.params()?;
    let mut page = SqlPage {
        statement: statement.clone().unwrap_or_default(),
        ..SqlPage::default()
    };
    if statement.is_some_and(|text| text.trim().is_empty()) {
        page.failure = Some(SqlFailure {
            detail: "There is no statement to run.".to_owned(),
            hints: vec!["write one above, or choose one of those below".to_owned()],
        });
    } else if !page.statement.trim().is_empty() {
        match rows(visit, &page.statement).await {
            Ok(rows) => page.rows = Some(rows),
            Err(problem) => {
                let (_, title, detail, hints, _) = problem.parts();
                // A failure that says nothing of itself is told all the same.
                let detail = if detail.trim().is_empty() {
                    title
                } else {
                    detail
                };
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
