//! What was obtained of all questions: each line once, and where all are there.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use super::contract::{LineFilter, LineQuery, LineSubject, LinesRead, PodRef, Span, StoredLine};
use crate::contract::LabelNames;
use crate::logs::begins_a_record;
use crate::time::{Nanos, SECOND};

/// Lines of a traceback are written within this long of each other.
const CONTEXT_BEFORE: Nanos = SECOND;
const CONTEXT_AFTER: Nanos = 5 * SECOND;

/// Lines of all questions.
#[derive(Debug, Default)]
pub(super) struct CollectedLines {
    lines: Vec<StoredLine>,
    seen: HashMap<u64, usize>,
    /// By pod where all lines of a time are there; `None` for questions without pods.
    whole: BTreeMap<Option<String>, Vec<Span>>,
    /// Lines of machines' own logs.
    machines: Vec<StoredLine>,
}

impl CollectedLines {
    pub(super) fn len(&self) -> usize {
        self.lines.len() + self.machines.len()
    }

    /// Takes in what a question gave; says how many lines are new.
    pub(super) fn take(&mut self, query: &LineQuery, got: LinesRead) -> usize {
        if query.only == LineFilter::All
            && let Some(span) = gapless(query, &got)
        {
            let names: Vec<Option<String>> = match &query.about {
                LineSubject::Pods(pods) => pods.iter().map(|pod| Some(pod.name.clone())).collect(),
                _ => vec![None],
            };
            for name in names {
                self.whole.entry(name).or_default().push(span);
            }
        }
        if matches!(query.about, LineSubject::Nodes(_)) {
            return self.take_of_machines(got);
        }
        let before = self.lines.len();
        for line in got.lines {
            match self.seen.entry(key(&line)) {
                Entry::Vacant(place) => {
                    place.insert(self.lines.len());
                    self.lines.push(line);
                }
                // Only an answer that leaves nothing out knows how lines of one
                // time follow each other.
                Entry::Occupied(place) => {
                    if query.only == LineFilter::All
                        && let Some(known) = self.lines.get_mut(*place.get())
                    {
                        known.order = line.order;
                    }
                }
            }
        }
        self.lines.len() - before
    }

    fn take_of_machines(&mut self, got: LinesRead) -> usize {
        let before = self.machines.len();
        for line in got.lines {
            if let Entry::Vacant(place) = self.seen.entry(key(&line)) {
                place.insert(usize::MAX);
                self.machines.push(line);
            }
        }
        self.machines.len() - before
    }

    /// The lines of machines' own logs.
    pub(super) fn machines(&mut self) -> Vec<StoredLine> {
        std::mem::take(&mut self.machines)
    }

    /// Where tracebacks begin whose other lines were not asked for: the
    /// earliest and the latest, at most `most` in all.
    pub(super) fn contexts(&self, names: &LabelNames, most: usize) -> Vec<(PodRef, Span)> {
        let mut found: Vec<(PodRef, Span)> = Vec::new();
        for line in &self.lines {
            if !begins_a_record(&line.text) {
                continue;
            }
            let entities = names.entities(&line.all_labels());
            let Some(pod) = entities.pod else { continue };
            let spans = self.whole.get(&Some(pod.clone()));
            if spans.is_some_and(|spans| spans.iter().any(|span| span.holds(line.stamp.lo))) {
                continue;
            }
            let span = Span {
                from: line.stamp.lo.saturating_sub(CONTEXT_BEFORE),
                to: line.stamp.lo.saturating_add(CONTEXT_AFTER),
            };
            found.push((
                PodRef {
                    namespace: entities.namespace,
                    name: pod,
                },
                span,
            ));
        }
        found.sort_by(|a, b| (a.1, &a.0).cmp(&(b.1, &b.0)));
        found.dedup_by(|later, earlier| {
            let joins = later.0 == earlier.0 && later.1.from <= earlier.1.to;
            if joins {
                earlier.1.to = later.1.to;
            }
            joins
        });
        if found.len() > most {
            let last = most / 3;
            found.drain(most - last..found.len() - last);
        }
        found
    }

    /// The lines by pod, each lot with the times in which none is missing.
    pub(super) fn lots(self, names: &LabelNames) -> Vec<(Vec<StoredLine>, Vec<Span>)> {
        let mut by_pod: BTreeMap<Option<String>, Vec<StoredLine>> = BTreeMap::new();
        for line in self.lines {
            let pod = names.entities(&line.all_labels()).pod;
            by_pod.entry(pod).or_default().push(line);
        }
        let everyone = self.whole.get(&None);
        by_pod
            .into_iter()
            .map(|(pod, lines)| {
                let own = pod.and_then(|pod| self.whole.get(&Some(pod)));
                let spans = own.into_iter().chain(everyone).flatten().copied();
                (lines, joined(spans.collect()))
            })
            .collect()
    }
}

/// A line is the same if the store calls it the same or, where it has no names
/// for lines, if stream, time and text are.
fn key(line: &StoredLine) -> u64 {
    let mut hasher = DefaultHasher::new();
    match &line.id {
        Some(id) => id.hash(&mut hasher),
        None => (line.stamp, &line.text, line.labels.as_ref(), &line.metadata).hash(&mut hasher),
    }
    hasher.finish()
}

/// The part of a question's time in which nothing is missing.
fn gapless(query: &LineQuery, got: &LinesRead) -> Option<Span> {
    let span = query.span;
    if !got.cut {
        return Some(span);
    }
    // What lies at the edge may have been cut off in the middle.
    if query.newest {
        let first = got.lines.first()?.stamp.lo;
        Some(Span {
            from: first.saturating_add(1),
            ..span
        })
    } else {
        let last = got.lines.last()?.stamp.lo;
        Some(Span { to: last, ..span })
    }
}

/// Spans in order, those that touch as one.
fn joined(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_unstable();
    let mut out: Vec<Span> = Vec::new();
    for span in spans {
        match out.last_mut() {
            Some(last) if span.from <= last.to => last.to = last.to.max(span.to),
            _ => out.push(span),
        }
    }
    out
}
