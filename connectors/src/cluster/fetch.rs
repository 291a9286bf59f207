//! Everything a cluster has, in order, several lists at once.

use std::collections::VecDeque;
use std::sync::Arc;

use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::connect::Inner;
use super::cover;
use super::list::{ListOptions, ListOutcome, ListTarget, list};
use super::plan::{PlanInput, plan};
use crate::connector::FetchRequest;
use crate::coverage::{Coverage, Status};
use crate::observation::Observation;
use crate::sink::Sink;

/// Pages of one list that wait to be taken; bounds what is in memory.
const WAITING: usize = 1;

/// A list under way.
struct Running {
    target: ListTarget,
    pages: mpsc::Receiver<Vec<Observation>>,
    outcome: tokio::sync::oneshot::Receiver<ListOutcome>,
}

/// Lists all that may be listed. Lists run beside each other, results come one
/// list after the other, so the order does not depend on the network.
pub(super) async fn fetch(
    inner: &Arc<Inner>,
    fetch_request: &FetchRequest,
    sink: &mut (dyn Sink + Send),
) -> Vec<Coverage> {
    let need = PlanInput {
        namespaces: &fetch_request.scope.namespaces,
        verbs: &["list"],
        now: fetch_request.now,
        deadline: fetch_request.deadline,
    };
    let plan = plan(inner, &need).await;
    let mut rows = plan.rows;
    let mut waiting: VecDeque<ListTarget> = plan.targets.into();
    let mut tasks = JoinSet::new();
    let mut running = VecDeque::new();
    loop {
        while running.len() < inner.options.concurrency.max(1)
            && let Some(target) = waiting.pop_front()
        {
            running.push_back(start(inner, target, fetch_request, &mut tasks));
        }
        let Some(mut first) = running.pop_front() else {
            break;
        };
        while let Some(observations) = first.pages.recv().await {
            sink.observe(observations);
        }
        let listed = first.outcome.await.unwrap_or_else(|_| ListOutcome {
            cut: Some("a mistake in reading the list, please report it".to_owned()),
            ..ListOutcome::default()
        });
        rows.push(row(inner, &first.target, &listed, fetch_request));
    }
    rows.sort();
    rows
}

fn start(
    inner: &Arc<Inner>,
    target: ListTarget,
    fetch_request: &FetchRequest,
    tasks: &mut JoinSet<()>,
) -> Running {
    let (pages_to, pages) = mpsc::channel(WAITING);
    let (outcome_to, outcome) = tokio::sync::oneshot::channel();
    let reading = ListOptions {
        observed: fetch_request.now,
        deadline: fetch_request.deadline,
        exact: false,
    };
    let (inner, of) = (Arc::clone(inner), target.clone());
    tasks.spawn(async move {
        let listed = list(&inner, &of, &reading, &pages_to).await;
        // Nobody waits for it where the whole fetch was given up.
        let _gone = outcome_to.send(listed);
    });
    Running {
        target,
        pages,
        outcome,
    }
}

/// What became of a list.
pub(super) fn row(
    inner: &Inner,
    target: &ListTarget,
    listed: &ListOutcome,
    fetch_request: &FetchRequest,
) -> Coverage {
    let resource = &target.resource;
    let namespace = target.namespace.as_deref();
    if let Some(failure) = &listed.failure
        && failure.is_denied()
        && listed.rows == 0
    {
        let why = failure.words();
        return cover::denied(
            inner,
            resource,
            "list",
            namespace,
            Some(&why),
            fetch_request.now,
        );
    }
    let mut said = Vec::new();
    let mut status = Status::Complete;
    if let Some(failure) = &listed.failure {
        status = if listed.rows == 0 {
            Status::Failed
        } else {
            Status::Truncated
        };
        said.push(format!("{}: {}", target.path(), failure.words()));
    }
    if let Some(cut) = &listed.cut {
        status = Status::Truncated;
        said.push(cut.clone());
    }
    if let Some(first) = &listed.first_rejected {
        said.push(format!(
            "{} could not be used, the first: {first}",
            listed.rejected
        ));
    }
    said.extend(listed.note.clone());
    let mut row = Coverage {
        mode: cover::mode(resource),
        got_to: listed.is_whole().then_some(fetch_request.now),
        rows: listed.rows,
        ..cover::row(inner, &resource.name(), namespace, fetch_request.now)
    };
    if resource.is_events() {
        row.asked_from = fetch_request.window.from;
        row.got_from = listed.oldest;
        row.retention_s = Some(cover::EVENTS_KEPT_S);
        if listed.is_whole()
            && let Some(words) =
                cover::forgotten(fetch_request.window.from, listed.oldest, fetch_request.now)
        {
            if fetch_request.window.from.is_some() {
                status = Status::Expired;
            }
            said.push(words);
        }
    }
    row.status = status;
    row.detail = Some(said.join("; ")).filter(|said| !said.is_empty());
    row.would_have_shown = (status != Status::Complete).then(|| resource.shows().to_owned());
    row
}
