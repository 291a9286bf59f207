//! All accounts, regions and services at once, told in one order.

use futures::future::join_all;

use super::api::Api;
use super::decode;
use super::instances::{Known, instances};
use super::part::{Kind, Part, row};
use super::question::Question;
use super::source::{Account, Aws};
use super::{lookups, notices, scaling, spot, status};
use crate::connector::Ask;
use crate::coverage::{Coverage, Mode};
use crate::event::Origin;
use crate::http::Trouble;
use crate::recording::Sink;

/// What one account gave.
struct Told {
    account: String,
    parts: Vec<Part>,
}

pub(super) async fn fetch(source: &Aws, ask: &Ask, sink: &mut (dyn Sink + Send)) -> Vec<Coverage> {
    let question = Question::of(ask);
    let name = &source.options.name;
    if question.is_elsewhere() {
        return vec![elsewhere(name, &question, ask)];
    }
    let all = source
        .accounts
        .iter()
        .map(|account| Box::pin(one(source, account, &question, ask)));
    let mut rows = Vec::new();
    for told in join_all(all).await {
        let mut parts = told.parts;
        parts.sort_by(|a, b| (a.kind, &a.region).cmp(&(b.kind, &b.region)));
        for part in &mut parts {
            let observations = std::mem::take(&mut part.observations);
            if !observations.is_empty() {
                sink.observe(observations);
            }
        }
        for kind in Kind::ALL {
            let parts: Vec<&Part> = parts.iter().filter(|part| part.kind == kind).collect();
            let when = (question.span, ask.now);
            rows.push(row(name, &told.account, &parts, kind, when));
        }
    }
    rows
}

async fn one(source: &Aws, account: &Account, question: &Question, ask: &Ask) -> Told {
    let options = &source.options;
    let configured = account.regions(options);
    let regions = question.regions(configured.as_deref().unwrap_or_default());
    let failed = |trouble: &Trouble| Told {
        account: account.label.clone(),
        parts: Kind::ALL
            .into_iter()
            .map(|kind| Part::failed(kind, &account.label, kind.resource(), trouble))
            .collect(),
    };
    let mut apis = Vec::new();
    for region in &regions {
        match Api::new(&account.access, region, options) {
            Ok(api) => apis.push(api),
            Err(trouble) => return failed(&trouble),
        }
    }
    let Some(first) = apis.first() else {
        let unnamed = Trouble::BadRequest("no AWS region is named".to_owned());
        return failed(configured.as_ref().err().unwrap_or(&unnamed));
    };
    let number = match account.caller(first, ask.deadline).await {
        Ok(caller) => caller.account.clone(),
        // With these credentials nothing else would be answered either.
        Err(trouble) if trouble.meant() == Some(401) => return failed(&trouble),
        Err(trouble @ Trouble::Credentials(_)) => return failed(&trouble),
        Err(_) => account.label.clone(),
    };
    let regions = apis
        .iter()
        .map(|api| Box::pin(in_region(api, &number, options.lookups, question, ask)));
    Told {
        parts: join_all(regions).await.into_iter().flatten().collect(),
        account: number,
    }
}

async fn in_region(
    api: &Api,
    account: &str,
    budget: u64,
    question: &Question,
    ask: &Ask,
) -> Vec<Part> {
    let question = &question.within(&api.region);
    let origin = &decode::origin(account, &api.region);
    let (part, known) = instances(api, question, origin, ask.deadline).await;
    let mut parts = vec![part];
    parts.extend(of_known(api, origin, budget, question, &known, ask).await);
    parts
}

async fn of_known(
    api: &Api,
    origin: &Origin,
    budget: u64,
    question: &Question,
    known: &Known,
    ask: &Ask,
) -> [Part; 5] {
    let (now, deadline) = (ask.now, ask.deadline);
    let anything = question.is_about_anything();
    let (scheduled, requests, activities, calls, told) = tokio::join!(
        Box::pin(status::scheduled(api, known, anything, origin, deadline)),
        Box::pin(spot::requests(api, known, anything, origin, deadline)),
        Box::pin(scaling::activities(
            api,
            question,
            known,
            origin,
            (now, deadline)
        )),
        Box::pin(lookups::activity(
            api,
            question,
            known,
            origin,
            (budget, now, deadline)
        )),
        Box::pin(notices::notices(
            api,
            question,
            known,
            origin,
            (now, deadline)
        )),
    );
    [scheduled, requests, activities, calls, told]
}

/// The machines are another's.
fn elsewhere(source: &str, question: &Question, ask: &Ask) -> Coverage {
    Coverage {
        mode: Mode::Snapshot,
        asked_to: Some(ask.now),
        detail: Some(format!(
            "none of the {} machines is of EC2, so that AWS was not asked",
            question.elsewhere
        )),
        ..Coverage::new(source, Kind::Instances.resource())
    }
}
