//! Pods that nobody owns and that Kueue lets in together, as one group: they are one gang, whose name they bear.

use std::collections::BTreeMap;

use whathappened_model::time::{Nanos, Stamp};

use super::identity::{Pods, Workloads};
use crate::graph::TaskRow;
use crate::symbols::{Symbol, SymbolTable};

/// What such a run is called where a Job would stand.
const KIND: &str = "PodGroup";

/// Gives the pods of a group one owner, and what Kueue queues for them, which bears the name of the group.
pub(super) fn own(symbols: &mut SymbolTable, pods: &mut Pods, workloads: &mut Workloads) {
    let mut found: BTreeMap<(Symbol, String), (Nanos, Vec<TaskRow>)> = BTreeMap::new();
    for (number, pod) in pods.all.numbered() {
        let group = pod.body.as_ref().and_then(|body| body.pod_group());
        let Some(group) = group.filter(|_| pod.owner.is_none()) else {
            continue;
        };
        let begin = pod.begin().unwrap_or(Nanos::MAX);
        let (first, members) = found
            .entry((pod.namespace, group.to_owned()))
            .or_insert((begin, Vec::new()));
        *first = begin.min(*first);
        members.push(number);
    }
    let mut found: Vec<_> = found.into_iter().collect();
    // Symbols are numbered as they come, which the order of the input must not show.
    found.sort_by(|((a, one), _), ((b, other), _)| {
        (symbols.name(*a), one).cmp(&(symbols.name(*b), other))
    });
    let (kind, queued) = (symbols.number(KIND), symbols.find("Workload"));
    for ((namespace, group), (first, members)) in found {
        let name = symbols.number(&group);
        let at = Stamp {
            lo: first,
            hi: first,
        };
        let owner = workloads.of(kind, Symbol::NONE, namespace, name, at);
        for member in members {
            if let Some(pod) = pods.all.get_mut(member) {
                pod.owner = Some(owner);
            }
        }
        for one in &mut workloads.all {
            if Some(one.kind) == queued && (one.namespace, one.name) == (namespace, name) {
                one.owner = Some(owner);
            }
        }
    }
}
