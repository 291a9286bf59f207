//! `entries:list`, page by page.

use std::time::Instant;

use serde_json::{Value, json};

use super::api::Api;
use crate::http::{Answer, HttpError, Request};

/// The most that one page may have.
const PAGE: usize = 1000;

/// The most projects that one request may name.
pub(super) const PROJECTS: usize = 100;

/// A page of log entries.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Page {
    pub(super) entries: Vec<Value>,
    /// Where the next page begins; a page without entries may have one, too.
    pub(super) next: Option<String>,
}

impl Page {
    pub(super) fn of(answer: &Answer) -> Result<Self, HttpError> {
        let garbage = |why: &str| HttpError::Garbage(why.to_owned());
        let mut body: serde_json::Map<String, Value> = answer.json()?;
        let known = |key: &str| body.contains_key(key);
        if !body.is_empty() && !known("entries") && !known("nextPageToken") {
            return Err(garbage("it contains no log entries"));
        }
        let entries = match body.remove("entries") {
            None => Vec::new(),
            Some(Value::Array(entries)) => entries,
            Some(_) => return Err(garbage("`entries` is not a list")),
        };
        let next = body.get("nextPageToken").and_then(Value::as_str);
        Ok(Self {
            entries,
            next: next.filter(|next| !next.is_empty()).map(str::to_owned),
        })
    }
}

/// Why not everything was read.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Stop {
    Http(HttpError),
    /// The budget of requests is spent.
    Budget,
    /// The time is up.
    Deadline,
}

/// How much may still be asked.
#[derive(Clone, Copy, Debug)]
pub(super) struct RequestBudget {
    pub(super) requests: u64,
    pub(super) deadline: Instant,
}

/// What is asked for: entries that a filter finds in some projects, oldest first.
pub(super) fn body(projects: &[String], filter: &str, size: usize) -> Value {
    let names = projects.iter().map(|project| format!("projects/{project}"));
    json!({
        "resourceNames": names.collect::<Vec<_>>(),
        "filter": filter,
        "orderBy": "timestamp asc",
        "pageSize": size.clamp(1, PAGE),
    })
}

/// Reads pages until there are no more, or no more may be asked for; hands each
/// to `take`. Says why it stopped short, if it did.
pub(super) async fn read(
    api: &Api,
    projects: &[String],
    filter: &str,
    allowance: &mut RequestBudget,
    mut take: impl FnMut(Vec<Value>),
) -> Option<Stop> {
    let mut body = body(projects, filter, PAGE);
    loop {
        if Instant::now() >= allowance.deadline {
            return Some(Stop::Deadline);
        }
        let Some(left) = allowance.requests.checked_sub(1) else {
            return Some(Stop::Budget);
        };
        allowance.requests = left;
        let page = match list(api, &body, allowance.deadline).await {
            Ok(page) => page,
            Err(failure) => return Some(Stop::Http(failure)),
        };
        if !page.entries.is_empty() {
            take(page.entries);
        }
        match page.next {
            // All else must stay as it was.
            Some(next) => body["pageToken"] = Value::from(next),
            None => return None,
        }
    }
}

async fn list(api: &Api, body: &Value, deadline: Instant) -> Result<Page, HttpError> {
    let request = Request::post("v2/entries:list").json(body)?;
    Page::of(&api.send(&request, deadline).await?)
}
