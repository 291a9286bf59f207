//! Asks a store what is worth asking, while time and budget last.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::StreamExt as _;

use super::collected::CollectedLines;
use super::contract::{Counts, LineFilter, LineQuery, LineSubject, LinesRead, LogStore, Span};
use super::cover::{LineOwner, LinesTally};
use super::density;
use super::depth::Depth;
use super::emit::{EmitOptions, emit};
use super::machines::{self, MachineWatchlist};
use super::plan::{self, PlannedQuery, ReadReason, WatchedPod};
use crate::connector::FetchRequest;
use crate::coverage::Coverage;
use crate::http::HttpError;
use crate::sink::Sink;
use crate::time::{Nanos, SECOND};

/// How far a question without a start looks back.
const DAY: Nanos = 86_400 * SECOND;

/// Tracebacks whose other lines are asked for.
const CONTEXTS: usize = 24;

/// The state of one answer.
struct Reader<'a> {
    store: &'a dyn LogStore,
    depth: &'a Depth,
    deadline: Instant,
    /// Requests that had been sent before.
    before: u64,
    harvest: CollectedLines,
    /// The machines whose own logs are asked for.
    machines: MachineWatchlist,
    tallies: BTreeMap<LineOwner, LinesTally>,
    /// Nobody listens there: nothing else is asked.
    is_gone: bool,
}

/// Reads what bears on a question. Lines go to `sink`; the rows say what was
/// read and what was not.
pub(super) async fn read(
    store: &dyn LogStore,
    fetch_request: &FetchRequest,
    depth: &Depth,
    sink: &mut (dyn Sink + Send),
) -> Vec<Coverage> {
    let to = fetch_request
        .window
        .to
        .unwrap_or(fetch_request.now)
        .min(fetch_request.now.saturating_add(SECOND));
    let span = Span {
        from: fetch_request.window.from.unwrap_or(to.saturating_sub(DAY)),
        to,
    };
    let pods = plan::watched(&fetch_request.scope, span);
    let limits = store.limits();
    let groups: Vec<(LineSubject, Span)> = if pods.is_empty() {
        let names = fetch_request.scope.experiments.iter();
        names
            .map(|name| (LineSubject::Experiment(name.clone()), span))
            .collect()
    } else {
        let lots = plan::lots(&pods, &limits);
        lots.into_iter()
            .map(|(names, span)| (LineSubject::Pods(names), span))
            .collect()
    };
    let mut reader = Reader {
        store,
        depth,
        deadline: fetch_request.deadline,
        before: store.requests(),
        harvest: CollectedLines::default(),
        machines: MachineWatchlist::of(&fetch_request.scope, span),
        tallies: BTreeMap::new(),
        is_gone: false,
    };
    let counts = reader.count(&groups).await;
    if reader.is_gone {
        return reader.finish(fetch_request, sink);
    }
    reader.lines(&pods, &groups, &counts).await;
    let mut rows = Vec::new();
    for (about, span) in &groups {
        rows.extend(
            store
                .others(about, *span, fetch_request.deadline, sink)
                .await,
        );
    }
    reader.look_at_silence().await;
    for ((about, span), counts) in groups.iter().zip(&counts) {
        let observations = density::facts(store, (about, *span), counts, fetch_request);
        if !observations.is_empty() {
            sink.observe(observations);
        }
    }
    rows.extend(reader.finish(fetch_request, sink));
    rows.sort();
    rows
}

/// The row that a question belongs to.
fn of(about: &LineSubject) -> LineOwner {
    match about {
        LineSubject::Pods(pods) => {
            LineOwner::Pods(pods.first().and_then(|pod| pod.namespace.clone()))
        }
        LineSubject::Experiment(_) => LineOwner::Pods(None),
        LineSubject::Nodes(_) => LineOwner::Machines,
    }
}

impl Reader<'_> {
    fn spent(&self) -> u64 {
        self.store.requests().saturating_sub(self.before)
    }

    /// Says of everything that would have been read that nobody listens there.
    fn give_up(&mut self, span: Span, failure: &HttpError) {
        self.is_gone = true;
        let machines = self
            .machines
            .pieces(self.depth, &self.store.limits())
            .into_iter()
            .map(|piece| (LineOwner::Machines, piece.query.span));
        let pods = std::iter::once((LineOwner::Pods(None), span));
        for (of, span) in pods.chain(machines) {
            let tally = self.tallies.entry(of).or_default();
            tally.requested(span);
            tally.failure(ReadReason::Whole, failure);
        }
    }

    /// How many lines each group has; nothing where the store cannot tell.
    async fn count(&mut self, groups: &[(LineSubject, Span)]) -> Vec<Counts> {
        let mut all = Vec::new();
        for (about, span) in groups {
            let counted = match self.store.counts(about, *span, self.deadline).await {
                Ok(counted) => counted,
                Err(failure @ HttpError::Unreachable { .. }) => {
                    self.give_up(*span, &failure);
                    return all;
                }
                Err(failure) => {
                    // Lines are asked for anyway, and will tell what is wrong.
                    tracing::debug!(%failure, "lines could not be counted");
                    None
                }
            };
            let tally = self.tallies.entry(of(about)).or_default();
            tally.requested(*span);
            if let Some(counted) = &counted {
                let lines: u64 = counted.minutes.iter().map(|minute| minute.lines).sum();
                tally.counted = Some(tally.counted.unwrap_or(0) + lines);
            }
            all.push(counted.unwrap_or_default());
        }
        all
    }

    async fn lines(
        &mut self,
        pods: &[WatchedPod],
        groups: &[(LineSubject, Span)],
        counts: &[Counts],
    ) {
        let limits = self.store.limits();
        let lines: u64 = counts
            .iter()
            .flat_map(|counts| &counts.minutes)
            .map(|minute| minute.lines)
            .sum();
        let counted = !counts.is_empty() && counts.iter().all(|counts| !counts.minutes.is_empty());
        if self.depth.all || (counted && lines <= self.depth.few) {
            self.fetch_request(plan::whole(groups, self.depth)).await;
            return self
                .fetch_request(self.machines.pieces(self.depth, &limits))
                .await;
        }
        let mut pieces = plan::pieces(pods, groups, self.depth, &limits);
        // What a machine says goes before the ends of logs, if not all can be asked.
        let around = pieces
            .iter()
            .filter(|piece| piece.why == ReadReason::Around);
        let at = around.count();
        pieces.splice(at..at, self.machines.pieces(self.depth, &limits));
        self.fetch_request(pieces).await;
        let contexts = self.harvest.contexts(self.store.names(), CONTEXTS);
        let contexts = contexts.into_iter().map(|(pod, span)| PlannedQuery {
            why: ReadReason::Context,
            query: LineQuery {
                about: LineSubject::Pods(vec![pod]),
                span,
                only: LineFilter::All,
                newest: false,
                limit: self.depth.tail,
            },
        });
        self.fetch_request(contexts.collect()).await;
    }

    /// Asks in order, several at once where that costs nobody anything. The
    /// order of what comes back is that of the questions.
    async fn fetch_request(&mut self, pieces: Vec<PlannedQuery>) {
        let limits = self.store.limits();
        // One after the other where the budget decides what is left out.
        let at_once = if limits.metered {
            1
        } else {
            limits.questions_at_once.max(1)
        };
        let (store, deadline, before) = (self.store, self.deadline, self.before);
        let budget = limits.metered.then_some(self.depth.requests);
        let answers = futures::stream::iter(pieces)
            .map(|piece| async move {
                let spent = store.requests().saturating_sub(before);
                if budget.is_some_and(|budget| spent >= budget) {
                    return (piece, None);
                }
                // What was not asked since others took all the time failed with them: it was not left out to save.
                if Instant::now() >= deadline {
                    let late = HttpError::TimedOut(Duration::ZERO);
                    return (piece, Some(Err(late)));
                }
                let answer = store.lines(&piece.query, deadline).await;
                (piece, Some(answer))
            })
            .buffered(at_once);
        let mut answers = std::pin::pin!(answers);
        let mut full = false;
        while let Some((piece, answer)) = answers.next().await {
            let tally = self.tallies.entry(of(&piece.query.about)).or_default();
            tally.requested(piece.query.span);
            match answer.filter(|_| !full) {
                Some(Ok(got)) => {
                    let LinesRead { cut, partial, .. } = &got;
                    let (cut, partial) = (*cut, partial.clone());
                    let new = self.harvest.take(&piece.query, got);
                    tally.read(piece.why, new, cut && piece.why.is_meant_whole());
                    tally.partial(partial);
                }
                Some(Err(failure)) => tally.failure(piece.why, &failure),
                None => tally.left(piece.why),
            }
            full = self.harvest.len() >= self.depth.most_lines;
        }
    }

    /// No lines may mean that nobody spoke, or that nothing is kept.
    async fn look_at_silence(&mut self) {
        let mut machines = self.machines.pieces(self.depth, &self.store.limits());
        let machines = machines.drain(..).next().map(|piece| LineQuery {
            only: LineFilter::All,
            limit: 1,
            ..piece.query
        });
        for (of, tally) in &mut self.tallies {
            let Some(span) = tally.span().filter(|_| tally.is_empty()) else {
                continue;
            };
            let any = match (of, &machines) {
                (LineOwner::Machines, Some(query)) => self
                    .store
                    .lines(query, self.deadline)
                    .await
                    .map(|got| !got.lines.is_empty()),
                _ => self.store.has_any(span, self.deadline).await,
            };
            match any {
                Ok(any) => tally.nothing_retained = !any,
                Err(HttpError::BudgetSpent(_)) => {}
                Err(failure) => tally.failure(ReadReason::Whole, &failure),
            }
        }
    }

    fn finish(
        mut self,
        fetch_request: &FetchRequest,
        sink: &mut (dyn Sink + Send),
    ) -> Vec<Coverage> {
        let requests = self.spent();
        let store = self.store;
        let lag = store.limits().lag;
        let file: Arc<str> = store.place().into();
        let how = EmitOptions {
            source_kind: store.source_kind(),
            file: Arc::clone(&file),
            names: store.names(),
            observed: Some(fetch_request.now),
            whole: None,
        };
        let mut out = Vec::new();
        machines::emit(self.harvest.machines(), &self.machines, &how, &mut out);
        sink.observe(out);
        for (lines, whole) in self.harvest.lots(store.names()) {
            let how = EmitOptions {
                whole: Some(&whole),
                ..how.clone()
            };
            let mut out = Vec::new();
            emit(lines, &how, &mut out);
            sink.observe(out);
        }
        self.tallies
            .iter()
            .map(|(of, tally)| tally.row(store.name(), of, requests, (fetch_request.now, lag)))
            .collect()
    }
}
