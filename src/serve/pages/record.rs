//! `/record/{id}`: one record as it was read, for the script of a page, when somebody clicks on it.
//!
//! It is asked of the table that everybody's statements are asked of, so a reader sees of it what they may see.

use axum::Json;
use axum::response::{IntoResponse as _, Response};
use chrono::DateTime;
use serde::{Deserialize, Serialize};

use super::visit::Visit;
use crate::render::site;
use crate::serve::api::Problem;
use crate::sql::Form;

/// How far from the time of its row a record is looked for first, in milliseconds.
const NEAR: i64 = 2_000;

/// When it was, as far as the page knows.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RecordQuery {
    /// Milliseconds since 1970. With it a store of years is not read for one record.
    at: Option<i64>,
}

/// A record as the table of events has it.
#[derive(Debug, Deserialize)]
struct StoredRecord {
    origin: Option<String>,
    raw: Option<String>,
}

/// What the script shows.
#[derive(Debug, Serialize)]
struct RecordView {
    place: String,
    raw: Option<String>,
}

pub(super) async fn get(visit: Visit) -> Response {
    match record(&visit).await {
        Ok(record) => Json(record).into_response(),
        Err(problem) => problem.into_response(),
    }
}

async fn record(visit: &Visit) -> Result<RecordView, Problem> {
    let id = visit.name()?;
    let RecordQuery { at } = visit.params()?;
    // Nothing else goes into a statement.
    let is_id = id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !is_id {
        return Err(Problem::bad("the id of a record is 32 hexadecimal digits"));
    }
    let id = id.to_lowercase();
    let near = at.and_then(|at| Some((moment(at, -NEAR)?, moment(at, NEAR)?)));
    let mut found = match near {
        Some((from, to)) => {
            let window = format!(" AND time >= TIMESTAMP '{from}' AND time <= TIMESTAMP '{to}'");
            rows(visit, &id, &window).await?
        }
        None => Vec::new(),
    };
    if found.is_empty() {
        found = rows(visit, &id, "").await?;
    }
    let Some(record) = found.pop() else {
        return Err(Problem::not_found("no record that you may see has this id"));
    };
    Ok(RecordView {
        place: site::plain(record.origin.as_deref().unwrap_or_default()),
        raw: record
            .raw
            .filter(|raw| !raw.is_empty())
            .map(|raw| site::plain_lines(&raw)),
    })
}

/// A moment some milliseconds from another, as statements write it.
fn moment(at: i64, off: i64) -> Option<String> {
    let at = DateTime::from_timestamp_millis(at.checked_add(off)?)?;
    Some(at.format("%Y-%m-%dT%H:%M:%S%.3fZ").to_string())
}

async fn rows(visit: &Visit, id: &str, window: &str) -> Result<Vec<StoredRecord>, Problem> {
    let statement = format!("SELECT origin, raw FROM events WHERE id = '{id}'{window} LIMIT 1");
    let caller = visit.reader.caller.clone();
    let ran = visit.service.statement(caller, statement, Form::Json);
    let ran = ran.await.map_err(|halted| Problem::from(&halted))?;
    serde_json::from_slice(&ran.body).map_err(|error| Problem::inside(&error))
}
