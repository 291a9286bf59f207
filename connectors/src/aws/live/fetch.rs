//! All accounts, regions and services at once, told in one order.

use futures::future::join_all;

use super::api::Api;
use super::decode;
use super::instances::{KnownInstances, instances};
use super::part::{Kind, KindResult, row};
use super::question::AwsQuestion;
use super::source::{Account, Aws};
use super::{lookups, notices, scaling, spot, status};
use crate::connector::FetchRequest;
use crate::coverage::{Coverage, Mode, Status};
use crate::event::Origin;
use crate::http::HttpError;
use crate::sink::Sink;

/// What one account gave.
struct AccountResult {
    account: String,
    parts: Vec<KindResult>,
}

pub(super) async fn fetch(
    source: &Aws,
    fetch_request: &FetchRequest,
    sink: &mut (dyn Sink + Send),
) -> Vec<Coverage> {
    let question = AwsQuestion::of(fetch_request);
    let name = &source.options.name;
    if question.is_elsewhere() {
        return vec![elsewhere(name, &question, fetch_request)];
    }
    let all = source
        .accounts
        .iter()
        .map(|account| Box::pin(one(source, account, &question, fetch_request)));
    let mut rows = Vec::new();
    for emitted in join_all(all).await {
        let mut parts = emitted.parts;
        parts.sort_by(|a, b| (a.kind, &a.region).cmp(&(b.kind, &b.region)));
        for part in &mut parts {
            let observations = std::mem::take(&mut part.observations);
            if !observations.is_empty() {
                sink.observe(observations);
            }
        }
        for kind in Kind::ALL {
            let parts: Vec<&KindResult> = parts.iter().filter(|part| part.kind == kind).collect();
            let when = (question.span, fetch_request.now);
            rows.push(row(name, &emitted.account, &parts, kind, when));
        }
    }
    rows
}

async fn one(
    source: &Aws,
    account: &Account,
    question: &AwsQuestion,
    fetch_request: &FetchRequest,
) -> AccountResult {
    let options = &source.options;
    let configured = account.regions(options);
    let regions = question.regions(configured.as_deref().unwrap_or_default());
    let failed = |failure: &HttpError| AccountResult {
        account: account.label.clone(),
        parts: Kind::ALL
            .into_iter()
            .map(|kind| KindResult::failed(kind, &account.label, kind.resource(), failure))
            .collect(),
    };
    let mut apis = Vec::new();
    for region in &regions {
        match Api::new(&account.access, region, options) {
            Ok(api) => apis.push(api),
            Err(failure) => return failed(&failure),
        }
    }
    let Some(first) = apis.first() else {
        let unnamed = HttpError::BadRequest("no AWS region is configured".to_owned());
        return failed(configured.as_ref().err().unwrap_or(&unnamed));
    };
    let number = match account.caller(first, fetch_request.deadline).await {
        Ok(caller) => caller.account.clone(),
        // With these credentials nothing else would be answered either.
        Err(failure) if failure.meant() == Some(401) => return failed(&failure),
        Err(failure @ HttpError::Credentials(_)) => return failed(&failure),
        Err(_) => account.label.clone(),
    };
    let regions = apis.iter().map(|api| {
        Box::pin(in_region(
            api,
            &number,
            options.lookups,
            question,
            fetch_request,
        ))
    });
    AccountResult {
        parts: join_all(regions).await.into_iter().flatten().collect(),
        account: number,
    }
}

async fn in_region(
    api: &Api,
    account: &str,
    budget: u64,
    question: &AwsQuestion,
    fetch_request: &FetchRequest,
) -> Vec<KindResult> {
    let question = &question.within(&api.region);
    let origin = &decode::origin(account, &api.region);
    let (part, known) = instances(api, question, origin, fetch_request.deadline).await;
    let mut parts = vec![part];
    parts.extend(of_known(api, origin, budget, question, &known, fetch_request).await);
    parts
}

async fn of_known(
    api: &Api,
    origin: &Origin,
    budget: u64,
    question: &AwsQuestion,
    known: &KnownInstances,
    fetch_request: &FetchRequest,
) -> [KindResult; 5] {
    let (now, deadline) = (fetch_request.now, fetch_request.deadline);
    let anything = question.is_about_anything();
    let (scheduled, requests, activities, calls, emitted) = tokio::join!(
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
    [scheduled, requests, activities, calls, emitted]
}

/// The machines are another's.
fn elsewhere(source: &str, question: &AwsQuestion, fetch_request: &FetchRequest) -> Coverage {
    Coverage {
        mode: Mode::Snapshot,
        asked_to: Some(fetch_request.now),
        status: Status::NotConfigured,
        detail: Some(format!(
            "none of the {} machines is an EC2 instance, so AWS was not queried",
            question.elsewhere
        )),
        ..Coverage::new(source, Kind::Instances.resource())
    }
}
