//! `/i/{id}`: one incident, under an address that stays when the verdict changes.

use std::sync::Arc;
use std::time::Instant;

use axum::http::StatusCode;
use axum::response::Response;
use tokio::runtime::Handle;
use whathappened_store::{Store, StoreVersion};

use super::visit::Visit;
use crate::answer::{Answer, PastVerdict, SCHEMA};
use crate::error::Error;
use crate::fetch::{self, IncidentOfRun};
use crate::render::site::{AnswerPage, AnswerView, Tab};
use crate::report::Question;
use crate::serve::api::{Problem, dated_answer};
use crate::serve::{CallerQuestion, Service, metrics};

pub(super) async fn get(visit: Visit) -> Response {
    let page = page(&visit).await;
    visit.reply(Tab::Elsewhere, page)
}

/// An incident as it is kept.
struct StoredIncident {
    experiment: String,
    one: IncidentOfRun,
    ruleset: String,
    verdicts: Vec<PastVerdict>,
}

async fn page(visit: &Visit) -> Result<String, Problem> {
    let id = visit.name()?;
    let (service, pages) = (&visit.service, &visit.service.pages);
    let frame = visit.frame(Tab::Elsewhere);
    let key = (id.clone(), visit.reader.caller.access.clone());
    let (before, began) = (service.version().await, Instant::now());
    if let Some(page) = before.and_then(|version| pages.incidents.get(&key, version)) {
        metrics::answered("page", "answered", began);
        return Ok(page.around(&frame));
    }
    let mut stored = stored_incident(visit, id.clone()).await?;
    let explained = match &stored {
        Some(stored) => whole(visit, stored).await,
        None => None,
    };
    // Explaining its run may have made its verdict another one.
    let after = service.version().await;
    if explained.is_some() && before.map(|one| one.verdicts) != after.map(|one| one.verdicts) {
        stored = stored_incident(visit, id.clone()).await?;
    }
    let Some(stored) = stored else {
        return Err(Problem::not_found(format!(
            "no incident that you may see has the ID {id:?}"
        ))
        .hint("it may have been merged into another when its run was explained again; search for the experiment"));
    };
    let of = explained
        .as_ref()
        .map_or(before, |explained| explained.version);
    let drawn = tokio::task::spawn_blocking(move || {
        let alone = explained.is_none().then(|| alone(&stored));
        let (explained, place) = match (&explained, &alone) {
            (Some(explained), _) => (&*explained.answer, explained.place),
            (None, Some(alone)) => (alone, 0),
            (None, None) => return None,
        };
        let view = AnswerView {
            incident: Some(place),
            verdicts: &stored.verdicts,
            experiment: Some(&stored.experiment),
            ..AnswerView::default()
        };
        Some(Arc::new(AnswerPage::of(explained, &view)))
    });
    let page = drawn.await.map_err(|panic| Problem::inside(&panic))?;
    let page = page.ok_or_else(|| Problem::inside(&"no page"))?;
    if let Some(version) = of.filter(|_| of == after) {
        let (bytes, stored) = (page.bytes(), Arc::clone(&page));
        pages.incidents.put(key, version, stored, bytes);
    }
    Ok(page.around(&frame))
}

/// An answer with the incident that is asked for.
struct WholeAnswer {
    answer: Arc<Answer>,
    /// Where in it that is.
    place: usize,
    version: Option<StoreVersion>,
}

/// What a disk changed is explained anew instead of being shown.
async fn explain_damaged(service: &Service, id: &str) -> Result<(), Error> {
    let is_damaged = {
        let store = Store::open_to_read(&service.store)?;
        !store.runs_of_damaged(id)?.is_empty()
    };
    if !is_damaged {
        return Ok(());
    }
    let mut store = Store::open(&service.store, service.config.limits())?;
    fetch::explain_damaged(&mut store, id, &service.rules, (service.clock)()).await
}

async fn stored_incident(visit: &Visit, id: String) -> Result<Option<StoredIncident>, Problem> {
    let access = visit.reader.caller.access.clone();
    let handle = Handle::current();
    let read = move |service: &Service| {
        handle.block_on(explain_damaged(service, &id))?;
        let store = Store::open_to_read(&service.store)?;
        let snapshot = store.snapshot_for(&access)?;
        let Some(stored) = snapshot.incident(&id)? else {
            return Ok(None);
        };
        let visible = fetch::visible(&snapshot, std::slice::from_ref(&stored)).pop();
        let Some(one) = visible.filter(|one| !one.incident.cause.starts_with("none.")) else {
            return Ok(None);
        };
        let verdicts = fetch::past_verdicts(&snapshot, &id)?;
        Ok(Some(StoredIncident {
            experiment: stored.experiment,
            one,
            ruleset: stored.ruleset,
            verdicts,
        }))
    };
    visit
        .service
        .work(read)
        .await
        .map_err(|error| Problem::from(&error))
}

/// The incident within all that is known of its run, explained from what the store has now.
async fn whole(visit: &Visit, stored: &StoredIncident) -> Option<WholeAnswer> {
    let name = match &stored.one.run {
        Some(run) => match &run.namespace {
            Some(namespace) => format!("{}/{namespace}/{}", run.kind, run.name),
            None => format!("{}/{}", run.kind, run.name),
        },
        None => stored.experiment.clone(),
    };
    let asking = CallerQuestion {
        question: Question {
            name,
            ..Question::default()
        },
        access: visit.reader.caller.access.clone(),
        fetch: false,
    };
    let (explained, version) = match dated_answer(&visit.service, "page", asking).await {
        Ok(dated) => dated,
        Err(problem) => {
            let (status, _, detail, ..) = problem.parts();
            if status != StatusCode::NOT_FOUND {
                tracing::warn!("an incident is shown as it was kept: {detail}");
            }
            return None;
        }
    };
    let own = &stored.one.incident;
    let place = explained
        .incidents
        .iter()
        .position(|one| fetch::is_same(own, one))?;
    let answer = match explained.experiment.as_deref() == Some(&stored.experiment) {
        true => explained,
        false => Arc::new(Answer {
            experiment: Some(stored.experiment.clone()),
            ..(*explained).clone()
        }),
    };
    Some(WholeAnswer {
        answer,
        place,
        version,
    })
}

/// The incident as it was kept, where its records are gone.
fn alone(stored: &StoredIncident) -> Answer {
    Answer {
        schema: SCHEMA,
        experiment: Some(stored.experiment.clone()),
        machine: None,
        matched_by: None,
        now: None,
        ruleset: stored.ruleset.clone(),
        runs: stored.one.run.clone().into_iter().collect(),
        incidents: vec![stored.one.incident.clone()],
        coverage: Vec::new(),
        timeline: Vec::new(),
        notes: vec![
            "This is what was found when the run was explained; its records are no longer in the store.".to_owned(),
        ],
        page: None,
        drawn: crate::answer::Drawn::default(),
    }
}
