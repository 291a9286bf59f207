//! `/x/{name}/follow`: tells a page when what it shows has changed.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use futures::stream;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use whathappened_model::connector::Stop;

use super::visit::Visit;
use crate::access::Access;
use crate::answer::Answer;
use crate::report::Question;
use crate::serve::{CallerQuestion, Service};

/// How often it is looked. Readers of one page share what is found.
const LOOK: Duration = Duration::from_secs(5);

/// Looks after which the browser asks again.
const MOST: u32 = 120;

/// Looks in a row that may fail.
const FAILURES: u32 = 3;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct FollowQuery {
    seen: String,
}

/// What is looked at.
struct Followed {
    service: Arc<Service>,
    name: String,
    access: Access,
    seen: String,
    looks: u32,
    failed: u32,
    stop: Stop,
}

pub(super) async fn get(visit: Visit) -> Response {
    let (name, asked) = match (visit.name(), visit.params::<FollowQuery>()) {
        (Ok(name), Ok(asked)) => (name, asked),
        (Err(problem), _) | (_, Err(problem)) => return problem.into_response(),
    };
    let Some(place) = visit.service.pages.follow(&visit.reader.caller.name) else {
        return (
            StatusCode::SERVICE_UNAVAILABLE,
            "too many pages follow their runs\n",
        )
            .into_response();
    };
    let followed = Followed {
        stop: visit.service.pages.stop.clone(),
        service: visit.service,
        name,
        access: visit.reader.caller.access,
        seen: asked.seen,
        looks: 0,
        failed: 0,
    };
    let events = stream::unfold(Some((followed, place)), |state| async {
        let (mut followed, place) = state?;
        let (event, is_last) = followed.next().await?;
        Some((
            Ok::<_, Infallible>(event),
            (!is_last).then_some((followed, place)),
        ))
    });
    Sse::new(events)
        .keep_alive(KeepAlive::default())
        .into_response()
}

impl Followed {
    /// The next thing to tell, and whether it is the last one.
    async fn next(&mut self) -> Option<(Event, bool)> {
        loop {
            self.looks += 1;
            tokio::select! {
                () = tokio::time::sleep(LOOK) => {}
                () = self.stop.cancelled() => return None,
            }
            if self.looks > MOST {
                return None;
            }
            let asking = CallerQuestion {
                question: Question {
                    name: self.name.clone(),
                    ..Question::default()
                },
                access: self.access.clone(),
                fetch: false,
            };
            let Ok(told) = self.service.answer("page", asking).await else {
                // Of a name that nobody has there will be no news; a store may be busy.
                self.failed += 1;
                if self.failed >= FAILURES {
                    return Some((Event::default().event("over").data("1"), true));
                }
                continue;
            };
            self.failed = 0;
            let now = mark(&told);
            if now != self.seen {
                self.seen = now;
                return Some((Event::default().event("changed").data("1"), true));
            }
            if !is_running(&told) {
                return Some((Event::default().event("over").data("1"), true));
            }
        }
    }
}

/// Whether something of it goes on.
pub(super) fn is_running(told: &Answer) -> bool {
    told.runs.iter().any(|run| run.state.goes_on())
}

/// What has to differ for the page to be another: how its runs are, the verdicts, and what
/// happened last.
pub(super) fn mark(told: &Answer) -> String {
    let mut text = String::new();
    for run in &told.runs {
        text.push_str(&format!(
            "{} {} {}\n",
            run.id,
            run.state,
            run.attempts.len()
        ));
    }
    for one in &told.incidents {
        text.push_str(&format!("{} {} {}\n", one.cause, one.level, one.summary));
    }
    let last = told.timeline.last();
    text.push_str(&format!(
        "{} {} {}",
        told.timeline.len(),
        last.map_or("", |row| row.time.as_str()),
        last.map_or("", |row| row.text.as_str())
    ));
    let hash = Sha256::digest(text.as_bytes());
    hash.iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}
