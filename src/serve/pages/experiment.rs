//! `/x/{name}`: an experiment, its runs, attempts and incidents.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::response::Response;

use super::follow;
use super::visit::Visit;
use crate::render::in_address;
use crate::render::site::{AnswerPage, AnswerView, Tab};
use crate::report::Question;
use crate::serve::api::{Problem, QuestionParams, dated_answer};
use crate::serve::{CallerQuestion, Service, metrics};

pub(super) async fn get(visit: Visit) -> Response {
    let page = page(&visit).await;
    visit.reply(Tab::Elsewhere, page)
}

async fn page(visit: &Visit) -> Result<String, Problem> {
    let name = visit.name()?;
    let mut asked: QuestionParams = visit.params()?;
    // The store is as new as the collector; a page is to open at once.
    asked.fetch = Some(asked.fetch.unwrap_or(false));
    let access = visit.reader.caller.access.clone();
    let asking = asked.about(name, access, &visit.service)?;
    let shown = shown(&visit.service, asking).await?;
    Ok(shown.around(&visit.frame(Tab::Elsewhere)))
}

/// How an experiment stood when it was looked at last.
#[derive(Clone, Debug)]
pub(super) struct Standing {
    /// What differs once its page is another.
    pub(super) mark: String,
    /// Whether something of it goes on.
    pub(super) goes_on: bool,
    /// When that was.
    pub(super) at: Instant,
    /// How long it took to find out.
    pub(super) took: Duration,
}

/// The page of what is asked, and how it stands, which is kept for those who follow it.
pub(super) async fn shown(
    service: &Arc<Service>,
    asking: CallerQuestion,
) -> Result<Arc<AnswerPage>, Problem> {
    let (pages, began) = (&service.pages, Instant::now());
    if !asking.fetch
        && pages.experiments.last(&asking).is_some()
        && let Some(version) = service.version().await
        && let Some(kept) = pages.experiments.get(&asking, version)
    {
        metrics::answered("page", "answered", began);
        return Ok(kept);
    }
    let (told, version) = dated_answer(service, "page", asking.clone()).await?;
    let standing = Standing {
        mark: follow::mark(&told),
        goes_on: follow::is_running(&told),
        at: Instant::now(),
        took: began.elapsed(),
    };
    let name = asking.question.name.clone();
    // A part of what is known, or of another time, does not go on.
    let is_followed = asking.question
        == Question {
            name: name.clone(),
            ..Question::default()
        }
        && standing.goes_on;
    let has_live = !service.asked.clusters.clusters.is_empty() || !service.asked.sources.is_empty();
    let mark = standing.mark.clone();
    let drawn = tokio::task::spawn_blocking(move || {
        let path = format!("/x/{}", in_address(&name));
        let follow = is_followed.then(|| format!("{path}/follow?seen={mark}"));
        let fetch = has_live.then(|| format!("{path}?fetch=true"));
        let view = AnswerView {
            follow: follow.as_deref(),
            fetch: fetch.as_deref(),
            ..AnswerView::default()
        };
        AnswerPage::of(&told, &view)
    });
    let page = Arc::new(drawn.await.map_err(|panic| Problem::inside(&panic))?);
    if let Some(version) = version {
        let bytes = page.bytes();
        pages.standing.put(asking.clone(), version, standing, 0);
        if !asking.fetch {
            let kept = Arc::clone(&page);
            pages.experiments.put(asking, version, kept, bytes);
        }
    }
    Ok(page)
}
