//! Everything a cluster has, in order, several lists at once.

use std::collections::VecDeque;
use std::sync::Arc;

use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::connect::Inner;
use super::cover;
use super::event_filter::{ConcerningEvents, EventFilter};
use super::head::{Head, HeadReader};
use super::list::{ItemReader, ListOptions, ListOutcome, ListTarget, list};
use super::plan::{Plan, PlanInput, plan};
use crate::connector::FetchRequest;
use crate::coverage::{Coverage, Status, Tally};
use crate::observation::Observation;
use crate::sink::Sink;

/// Pages of one list that wait to be taken; bounds what is in memory.
const WAITING: usize = 1;

/// A list to be read: all of a target, or what a selector and a filter leave of it.
#[derive(Clone, Debug)]
pub(super) struct ListJob {
    /// Number of the target that its rows are counted for.
    pub(super) of: usize,
    /// Where it is read.
    pub(super) target: ListTarget,
    /// The path that its records are said to come from: that of the whole target, so that a
    /// record has one origin however its cluster is read.
    pub(super) origin: String,
    /// See [`ListOptions::select`].
    pub(super) select: String,
    /// Which Events are taken; every object where `None`.
    pub(super) keep: Option<Arc<EventFilter>>,
}

impl ListJob {
    pub(super) fn whole(of: usize, target: ListTarget) -> Self {
        Self {
            of,
            origin: target.path(),
            target,
            select: String::new(),
            keep: None,
        }
    }
}

/// A list under way.
struct Running<T> {
    of: usize,
    pages: mpsc::Receiver<Vec<T>>,
    outcome: tokio::sync::oneshot::Receiver<ListOutcome>,
}

/// Lists all that may be listed.
pub(super) async fn fetch(
    inner: &Arc<Inner>,
    fetch_request: &FetchRequest,
    sink: &mut (dyn Sink + Send),
) -> Vec<Coverage> {
    let plan = planned(inner, fetch_request).await;
    everything(inner, plan, fetch_request, sink).await
}

/// What there is and what of it we may list.
pub(super) async fn planned(inner: &Arc<Inner>, fetch_request: &FetchRequest) -> Plan {
    let need = PlanInput {
        namespaces: &fetch_request.scope.namespaces,
        verbs: &["list"],
        now: fetch_request.now,
        deadline: fetch_request.deadline,
    };
    plan(inner, &need).await
}

/// All of a plan.
pub(super) async fn everything(
    inner: &Arc<Inner>,
    plan: Plan,
    fetch_request: &FetchRequest,
    sink: &mut (dyn Sink + Send),
) -> Vec<Coverage> {
    let mut rows = plan.rows;
    let jobs = (0..).zip(plan.targets.iter().cloned());
    let jobs = jobs
        .map(|(of, target)| ListJob::whole(of, target))
        .collect();
    let listed = read(inner, jobs, fetch_request, &mut |observations| {
        sink.observe(observations);
    })
    .await;
    for (of, listed) in listed {
        if let Some(target) = plan.targets.get(of) {
            rows.push(row(inner, target, &listed, fetch_request));
        }
    }
    rows.sort();
    rows
}

/// Reads lists beside each other. Results come one list after the other, so the order does not
/// depend on the network.
pub(super) async fn read(
    inner: &Arc<Inner>,
    jobs: Vec<ListJob>,
    fetch_request: &FetchRequest,
    take: &mut (dyn FnMut(Vec<Observation>) + Send),
) -> Vec<(usize, ListOutcome)> {
    let begin = |job: ListJob, tasks: &mut JoinSet<()>| {
        let options = ListOptions {
            select: job.select,
            ..ListOptions::whole(inner, fetch_request.now, fetch_request.deadline)
        };
        let decoder = job.target.decoder(inner, &job.origin);
        match job.keep {
            Some(keep) => {
                // Most of what is shown is not taken, and takes no memory.
                let most = options.most.saturating_mul(10);
                let options = ListOptions { most, ..options };
                let reader = ConcerningEvents { decoder, keep };
                start(inner, job.of, job.target, reader, options, tasks)
            }
            None => start(inner, job.of, job.target, decoder, options, tasks),
        }
    };
    in_order(inner, jobs, begin, &mut |_, page| take(page)).await
}

/// Reads names, labels and owners of lists.
pub(super) async fn heads(
    inner: &Arc<Inner>,
    jobs: Vec<ListJob>,
    fetch_request: &FetchRequest,
    take: &mut (dyn FnMut(usize, Vec<Head>) + Send),
) -> Vec<(usize, ListOutcome)> {
    let begin = |job: ListJob, tasks: &mut JoinSet<()>| {
        let whole = ListOptions::whole(inner, fetch_request.now, fetch_request.deadline);
        let options = ListOptions {
            page_size: heads_a_page(inner),
            most: whole.most.saturating_mul(10),
            ..whole
        };
        start(inner, job.of, job.target, HeadReader, options, tasks)
    };
    in_order(inner, jobs, begin, take).await
}

/// A name and its labels are a part of an object only.
pub(super) fn heads_a_page(inner: &Inner) -> u32 {
    inner.options.page_size.saturating_mul(4)
}

async fn in_order<T: Send + 'static>(
    inner: &Arc<Inner>,
    jobs: Vec<ListJob>,
    begin: impl Fn(ListJob, &mut JoinSet<()>) -> Running<T>,
    take: &mut (dyn FnMut(usize, Vec<T>) + Send),
) -> Vec<(usize, ListOutcome)> {
    let mut waiting: VecDeque<ListJob> = jobs.into();
    let mut tasks = JoinSet::new();
    let mut running = VecDeque::new();
    let mut done = Vec::new();
    loop {
        while running.len() < inner.options.concurrency.max(1)
            && let Some(job) = waiting.pop_front()
        {
            running.push_back(begin(job, &mut tasks));
        }
        let Some(mut first) = running.pop_front() else {
            return done;
        };
        while let Some(page) = first.pages.recv().await {
            take(first.of, page);
        }
        let listed = first.outcome.await.unwrap_or_else(|_| ListOutcome {
            cut: Some("a mistake in reading the list, please report it".to_owned()),
            ..ListOutcome::default()
        });
        done.push((first.of, listed));
    }
}

fn start<R: ItemReader>(
    inner: &Arc<Inner>,
    of: usize,
    target: ListTarget,
    reader: R,
    options: ListOptions,
    tasks: &mut JoinSet<()>,
) -> Running<R::Out> {
    let (pages_to, pages) = mpsc::channel(WAITING);
    let (outcome_to, outcome) = tokio::sync::oneshot::channel();
    let inner = Arc::clone(inner);
    tasks.spawn(async move {
        let listed = list(&inner, &target, &Arc::new(reader), &options, &pages_to).await;
        // Nobody waits for it where the whole fetch was given up.
        let _gone = outcome_to.send(listed);
    });
    Running { of, pages, outcome }
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
    let mut came = Tally::of(listed.rows > 0 || listed.cut.is_some());
    if let Some(failure) = &listed.failure {
        let why = format!("{}: {}", target.path(), failure.words());
        came.failed(Status::Failed, why);
    }
    let mut status = came.status(match listed.cut {
        Some(_) => Status::Truncated,
        None => Status::Complete,
    });
    let mut details: Vec<String> = came.reasons().map(str::to_owned).collect();
    details.extend(listed.cut.clone());
    if let Some(first) = &listed.first_rejected {
        details.push(format!(
            "{} could not be used, the first: {first}",
            listed.rejected
        ));
    }
    details.extend(listed.note.clone());
    let mut row = Coverage {
        mode: cover::mode(resource),
        got_to: listed.is_whole().then_some(fetch_request.now),
        rows: listed.rows,
        ..cover::row(inner, &resource.name(), namespace, fetch_request.now)
    };
    if resource.is_events() {
        row.asked_from = fetch_request.window.from;
        row.got_from = listed.oldest;
        row.retention_s = Some(cover::EVENTS_RETENTION_S);
        if listed.is_whole()
            && let Some(words) =
                cover::forgotten(fetch_request.window.from, listed.oldest, fetch_request.now)
        {
            if fetch_request.window.from.is_some() {
                status = Status::Expired;
            }
            details.push(words);
        }
    }
    row.ended(status, &details).lacking(resource.shows())
}
