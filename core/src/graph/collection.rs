//! Deletions of many objects by one request: its record holds a selector of labels, and not the objects.

use std::collections::BTreeMap;

use whathappened_model::event::Event;
use whathappened_model::kind::is_workload;
use whathappened_model::table::Table;
use whathappened_model::time::{Nanos, SECOND, Stamp};

use super::identity::Workloads;
use super::label_selector::LabelSelector;
use super::learn::earlier;
use super::{Fact, Task, Workload};
use crate::evidence::EvidenceRow;
use crate::graph::WorkloadRow;
use crate::request::was_done;
use crate::symbols::{Symbol, SymbolTable};

/// A kubelet stops what was asked to go within this time.
const AT_ONCE: Nanos = 5 * SECOND;

/// Pods are given this long to end, by default, and a kubelet confirms soon after that they have.
const CONFIRMED: Nanos = 40 * SECOND;

/// The garbage collector asks for the end of the pods of what was deleted within this time.
const COLLECTED: Nanos = 10 * SECOND;

/// One such request.
pub(super) struct Collection {
    row: EvidenceRow,
    namespace: Symbol,
    /// Of which kind.
    kind: Symbol,
    /// Which of the namespace.
    selector: LabelSelector,
    time: Stamp,
}

/// The request that a record is of, where it was done and is understood: fields may leave out objects of
/// which nobody knows.
pub(super) fn of(event: &Event, row: EvidenceRow, symbols: &mut SymbolTable) -> Option<Collection> {
    let kind = event.object_kind.as_deref().unwrap_or_default();
    if event.fact != "k8s.audit.deletecollection"
        || kind != "Pod" && !is_workload(kind)
        || event.entities.pod.is_some()
        || event.entities.workload.is_some()
        || event.attribute("field_selector").is_some()
        || !was_done(event)
    {
        return None;
    }
    let selector = event.attribute("label_selector").unwrap_or_default();
    Some(Collection {
        row,
        namespace: symbols.optional(event.entities.namespace.as_deref()),
        kind: symbols.number(kind),
        selector: LabelSelector::parse(selector)?,
        time: event.time,
    })
}

/// Tells of each object that was asked to go by such a request.
pub(super) fn spread(
    collections: &[Collection],
    symbols: &SymbolTable,
    pods: &mut Table<Task>,
    workloads: &Workloads,
    facts: &mut Vec<Fact>,
) {
    for collection in collections {
        let of_row: Vec<Fact> = facts
            .iter()
            .filter(|fact| {
                fact.row == collection.row && fact.pod.is_none() && fact.workload.is_none()
            })
            .copied()
            .collect();
        if symbols.name(collection.kind) != "Pod" {
            let all = workloads.all.numbered();
            let taken = all.filter(|(number, one)| collection.took_workload((*number, one), pods));
            facts.extend(taken.flat_map(|(number, _)| {
                of_row.iter().map(move |fact| Fact {
                    workload: Some(number),
                    ..*fact
                })
            }));
            continue;
        }
        for (number, pod) in pods.numbered_mut() {
            if collection.took(pod, symbols, workloads) {
                pod.deletion_requested = earlier(pod.deletion_requested, collection.time);
                facts.extend(of_row.iter().map(|fact| Fact {
                    pod: Some(number),
                    ..*fact
                }));
            }
        }
    }
}

impl Collection {
    /// Whether it took a workload, as its labels tell; of one that nobody saw, whether all of its pods that are
    /// known were stopped at once.
    fn took_workload(&self, (number, one): (WorkloadRow, &Workload), pods: &Table<Task>) -> bool {
        if (one.kind, one.namespace) != (self.kind, self.namespace) {
            return false;
        }
        // What a watch shows to be gone bears the time of its deletion only where something waited for that, and else the
        // last time that was written into it.
        let was_there = one.created.is_none_or(|made| made.lo <= self.time.hi)
            && one.unasked.is_none_or(|seen| seen <= self.time.hi)
            && one
                .gone
                .is_none_or(|gone| gone.hi >= self.time.lo || self.stopped_all(number, pods));
        let stays = one.gone.is_none() && one.leaving.is_none();
        if !was_there || stays && self.may_be_before(one.created) {
            return false;
        }
        match &one.body {
            Some(body) => self.selector.selects(&body.labels),
            None => self.stopped_all(number, pods),
        }
    }

    /// Whether all pods of a workload that are known were asked to go just after it.
    fn stopped_all(&self, workload: WorkloadRow, pods: &Table<Task>) -> bool {
        let mut own = pods
            .iter()
            .filter(|pod| pod.owner == Some(workload))
            .peekable();
        own.peek().is_some()
            && own.all(|pod| {
                let stopped = pod.first_asked();
                stopped.is_some_and(|stop| self.is_followed_by(stop, COLLECTED))
            })
    }

    /// Whether what was made in that second, and is there, may have been made after it.
    fn may_be_before(&self, made: Option<Stamp>) -> bool {
        made.is_some_and(|made| made.hi >= self.time.lo)
    }

    fn took(&self, pod: &Task, symbols: &SymbolTable, workloads: &Workloads) -> bool {
        let was_there = pod.begin().is_some_and(|begun| begun <= self.time.hi)
            && pod.gone.is_none_or(|gone| gone.hi >= self.time.lo)
            && pod.unasked.is_none_or(|seen| seen <= self.time.hi);
        let runs = pod.phase.as_deref() == Some("Running") && pod.body.is_some();
        let stays = runs && pod.gone.is_none() && pod.deletion_requested.is_none();
        if pod.namespace != self.namespace || !was_there || stays && self.may_be_before(pod.created)
        {
            return false;
        }
        if let Some(body) = &pod.body {
            return self.selector.selects(&body.labels);
        }
        // Of a pod that nobody saw its maker's labels are told, which are most often its own as well.
        let Some(labels) = labels_of_maker(pod, symbols, workloads) else {
            return false;
        };
        let mut stopped = pod.kills.iter().chain(&pod.deletion_requested);
        stopped.any(|stop| self.is_followed_by(*stop, AT_ONCE)) && self.selector.needs_only(&labels)
            || self.is_only_request(pod) && self.selector.may_select(&labels)
    }

    /// Whether a kubelet confirmed the end of a pod for which nobody else had asked: it ends none of itself.
    fn is_only_request(&self, pod: &Task) -> bool {
        let confirmed = pod.reports.confirmed;
        pod.deletion_requested.is_none()
            && confirmed.is_some_and(|confirmed| self.is_followed_by(confirmed, CONFIRMED))
    }

    fn is_followed_by(&self, stop: Stamp, within: Nanos) -> bool {
        stop.hi >= self.time.lo.saturating_sub(SECOND)
            && stop.lo <= self.time.hi.saturating_add(within)
    }
}

/// The labels that a pod has from its maker, as far as any are known.
fn labels_of_maker(
    pod: &Task,
    symbols: &SymbolTable,
    workloads: &Workloads,
) -> Option<BTreeMap<String, String>> {
    let maker = workloads.all.get(pod.owner)?;
    let body = maker.body.as_ref();
    let mut labels = body.map(|body| body.labels.clone()).unwrap_or_default();
    if symbols.name(maker.kind) == "Job" {
        let name = symbols.name(maker.name);
        for key in ["job-name", "batch.kubernetes.io/job-name"] {
            labels.insert(key.to_owned(), name.to_owned());
        }
    }
    Some(labels)
}
