//! Deletions of many pods by one request: its record holds a selector of labels, and not the pods.

use whathappened_model::event::Event;
use whathappened_model::time::{Nanos, SECOND, Stamp};

use super::identity::Workloads;
use super::label_selector::LabelSelector;
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
    /// Which pods of the namespace.
    selector: LabelSelector,
    time: Stamp,
}

/// The request that a record is of, where it was done and is understood: fields may leave out pods of
/// which nobody knows.
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
    Some(Collection {
        row,
        namespace: symbols.optional(event.entities.namespace.as_deref()),
        selector: LabelSelector::parse(selector)?,
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
            return self.selector.selects(&body.labels);
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
                self.selector.needs_only(&labels)
            })
    }
}
