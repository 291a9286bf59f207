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

use super::experiment::{self, Standing};
use super::visit::Visit;
use crate::access::Access;
use crate::answer::Answer;
use crate::report::Question;
use crate::serve::{CallerQuestion, Service};

/// How often it is looked at most. Readers of one page share what is found.
const LOOK: Duration = Duration::from_secs(5);

/// How often as long as a look took nobody looks again: a run of ten thousand pods is read for seconds, and those
/// who follow it have a sixth of one core at most.
const REST: u32 = 5;

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
            let standing = match self.look().await {
                Look::Same => continue,
                Look::At(standing) => standing,
                Look::Failed => {
                    // Of a name that nobody has there will be no news; a store may be busy.
                    self.failed += 1;
                    if self.failed >= FAILURES {
                        return Some((Event::default().event("over").data("1"), true));
                    }
                    continue;
                }
            };
            self.failed = 0;
            if standing.mark != self.seen {
                self.seen = standing.mark;
                return Some((Event::default().event("changed").data("1"), true));
            }
            if !standing.goes_on {
                return Some((Event::default().event("over").data("1"), true));
            }
        }
    }

    /// How the run stands. Nobody reads it anew where nothing in the store is another since, where it was
    /// read a moment ago for how long that took, or while others have all places of those who look.
    async fn look(&self) -> Look {
        let asking = CallerQuestion {
            question: Question {
                name: self.name.clone(),
                ..Question::default()
            },
            access: self.access.clone(),
            fetch: false,
        };
        let pages = &self.service.pages;
        let known = pages.standing.last(&asking);
        if let Some((standing, of)) = &known {
            let is_early = standing.at.elapsed() < standing.took.saturating_mul(REST);
            if is_early || self.service.version().await == Some(*of) {
                return Look::At(standing.clone());
            }
        }
        let Ok(_place) = pages.looks.try_acquire() else {
            return known.map_or(Look::Same, |(standing, _)| Look::At(standing));
        };
        // Its page is drawn as well: whoever is told that it is another asks for it.
        match experiment::shown(&self.service, asking.clone()).await {
            Ok(_) => match pages.standing.last(&asking) {
                Some((standing, _)) => Look::At(standing),
                None => Look::Same,
            },
            Err(_) => Look::Failed,
        }
    }
}

/// What is seen at one look.
enum Look {
    At(Standing),
    /// Nothing that is known to be another.
    Same,
    Failed,
}

/// Whether something of it goes on.
pub(super) fn is_running(answer: &Answer) -> bool {
    answer.runs.iter().any(|run| run.state.goes_on())
}

/// What has to differ for the page to be another: how its runs are, the verdicts, and what
/// happened last.
pub(super) fn mark(answer: &Answer) -> String {
    let mut text = String::new();
    for run in &answer.runs {
        text.push_str(&format!(
            "{} {} {}\n",
            run.id,
            run.state,
            run.attempts.len()
        ));
    }
    for one in &answer.incidents {
        text.push_str(&format!("{} {} {}\n", one.cause, one.level, one.summary));
    }
    let last = answer.timeline.last();
    text.push_str(&format!(
        "{} {} {}",
        answer.timeline.len(),
        last.map_or("", |row| row.time.as_str()),
        last.map_or("", |row| row.text.as_str())
    ));
    let hash = Sha256::digest(text.as_bytes());
    hash.iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}
