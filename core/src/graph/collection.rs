//! Deletions of many pods by one request: its record holds a selector of labels, and not the pods.

use std::collections::BTreeMap;

use whathappened_model::event::Event;
use whathappened_model::time::{Nanos, SECOND, Stamp};

use super::identity::Workloads;
use super::learn::earlier;
use super::{Fact, NO, Task};
use crate::request::was_done;
use crate::symbols::{Symbol, SymbolTable};

/// A kubelet stops what was asked to go within this time.
const AT_ONCE: Nanos = 5 * SECOND;

/// One such request.
pub(super) struct Collection {
    row: u32,
    namespace: Symbol,
    /// Labels and their values; empty for all pods of the namespace.
    labels: Vec<(String, String)>,
    time: Stamp,
}

/// The request that a record is of, where it was done and is understood: any other operator than
/// equality, and fields, may leave out pods of which nobody knows.
pub(super) fn of(event: &Event, row: u32, symbols: &mut SymbolTable) -> Option<Collection> {
    if event.fact != "k8s.audit.deletecollection"
        || event.object_kind.as_deref() != Some("Pod")
        || event.entities.pod.is_some()
        || event.attribute("field_selector").is_some()
        || !was_done(event)
    {
        return None;
    }
    let selector = event.attribute("label_selector").unwrap_or_default();
    let terms = selector.split(',').filter(|term| !term.is_empty());
    let labels = terms.map(|term| {
        let (key, value) = term.split_once('=')?;
        let value = value.strip_prefix('=').unwrap_or(value).trim();
        let plain = !key.ends_with('!') && !term.contains(['(', ')']);
        plain.then(|| (key.trim().to_owned(), value.to_owned()))
    });
    Some(Collection {
        row,
        namespace: symbols.optional(event.entities.namespace.as_deref()),
        labels: labels.collect::<Option<_>>()?,
        time: event.time,
    })
}

/// Tells of each pod that was asked to go by such a request.
pub(super) fn spread(
    collections: &[Collection],
    symbols: &SymbolTable,
    pods: &mut [Task],
    workloads: &Workloads,
    facts: &mut Vec<Fact>,
) {
    for collection in collections {
        let told: Vec<Fact> = facts
            .iter()
            .filter(|fact| fact.row == collection.row && fact.pod == NO)
            .copied()
            .collect();
        for (number, pod) in (0..).zip(pods.iter_mut()) {
            if collection.took(pod, symbols, workloads) {
                pod.deletion_requested = earlier(pod.deletion_requested, collection.time);
                facts.extend(told.iter().map(|fact| Fact {
                    pod: number,
                    ..*fact
                }));
            }
        }
    }
}

impl Collection {
    fn took(&self, pod: &Task, symbols: &SymbolTable, workloads: &Workloads) -> bool {
        let was_there = pod.begin().is_some_and(|begun| begun <= self.time.hi)
            && pod.gone.is_none_or(|gone| gone.hi >= self.time.lo)
            && pod.unasked.is_none_or(|seen| seen <= self.time.hi);
        if pod.namespace != self.namespace || !was_there {
            return false;
        }
        if let Some(body) = &pod.body {
            return self.selects(&body.labels);
        }
        // Of a pod that nobody saw its maker's labels are told, which are most often its own as well.
        let stopped = pod.kills.iter().chain(&pod.deletion_requested);
        let at_once = |stop: &Stamp| {
            stop.hi >= self.time.lo.saturating_sub(SECOND)
                && stop.lo <= self.time.hi.saturating_add(AT_ONCE)
        };
        let maker = workloads.all.get(pod.owner as usize);
        stopped.into_iter().any(at_once)
            && maker.is_some_and(|maker| {
                let body = maker.body.as_ref();
                let mut labels = body.map(|body| body.labels.clone()).unwrap_or_default();
                if symbols.name(maker.kind) == "Job" {
                    let name = symbols.name(maker.name);
                    for key in ["job-name", "batch.kubernetes.io/job-name"] {
                        labels.insert(key.to_owned(), name.to_owned());
                    }
                }
                self.selects(&labels)
            })
    }

    fn selects(&self, labels: &BTreeMap<String, String>) -> bool {
        let has = |(key, value): &(String, String)| labels.get(key) == Some(value);
        self.labels.iter().all(has)
    }
}
