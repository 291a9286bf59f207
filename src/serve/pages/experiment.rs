//! `/x/{name}`: an experiment, its runs, attempts and incidents.

use axum::response::Response;

use super::follow;
use super::visit::Visit;
use crate::render::in_address;
use crate::render::site::{self, AnswerView, Tab};
use crate::report::Question;
use crate::serve::api::{Problem, QuestionParams, answer};

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
    let asking = asked.about(name.clone(), access, &visit.service)?;
    let asking_is_whole = asking.question
        == Question {
            name: name.clone(),
            ..Question::default()
        };
    let live = !visit.service.asked.clusters.clusters.is_empty()
        || !visit.service.asked.sources.is_empty();
    let told = answer(&visit.service, "page", asking).await?;
    let fetch = format!("/x/{}?fetch=true", in_address(&name));
    // A part of what is known, or of another time, does not go on.
    let whole = asking_is_whole && follow::is_running(&told);
    let follow = whole.then(|| {
        format!(
            "/x/{}/follow?seen={}",
            in_address(&name),
            follow::mark(&told)
        )
    });
    let view = AnswerView {
        follow: follow.as_deref(),
        fetch: live.then_some(fetch.as_str()),
        ..AnswerView::default()
    };
    Ok(site::answer(&visit.frame(Tab::Elsewhere), &told, &view))
}
