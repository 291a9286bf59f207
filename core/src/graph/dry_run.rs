//! Requests for the end of pods that did nothing. Audit records of metadata do not say of a request that it was a dry run:
//! what became of the pod does.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use whathappened_model::event::Event;
use whathappened_model::time::{Nanos, SECOND};

use super::Task;
use crate::evidence::{Evidence, EvidenceRow, SpillError};
use crate::graph::{PodOfRow, TaskRow};
use crate::symbols::{Symbol, SymbolTable};

/// Servers hear of a request within this long.
const SERVERS: Nanos = 5 * SECOND;

/// One command sends its requests within this long.
const ONE_GO: Nanos = 2 * SECOND;

/// Controllers that pass over pods which are going already, and whose pods never bear a name again.
const PASS_OVER: [&str; 2] = [
    "system:serviceaccount:kube-system:job-controller",
    "system:serviceaccount:kube-system:replicaset-controller",
];

/// Whether somebody asked for the end of a pod whose object shows later that nobody had.
pub(super) fn is_undone(event: &Event, pod: Option<&Task>) -> bool {
    let asked = matches!(event.fact.as_str(), "k8s.audit.delete" | "k8s.audit.evict")
        && event.object_kind.as_deref() == Some("Pod");
    // Another pod may have borne the name before.
    let there = |pod: &&Task| {
        let begin = pod.known_begin();
        begin.is_some_and(|begin| begin <= event.time.lo)
    };
    let unasked = pod.filter(there).and_then(|pod| pod.unasked);
    asked && unasked.is_some_and(|at| at > event.time.hi.saturating_add(SERVERS))
}

/// Pods whose own objects say that they were evicted: no dry run leaves that behind.
///
/// # Errors
/// When the evidence cannot be read back.
pub(super) fn evicted(
    evidence: &Evidence,
    pod_of_row: &PodOfRow,
    symbols: &SymbolTable,
) -> Result<HashSet<TaskRow>, SpillError> {
    let mut found = HashSet::new();
    let (asked, condition) = (
        symbols.find("k8s.audit.evict"),
        symbols.find("k8s.pod.condition"),
    );
    if !evidence.rows().iter().any(|row| Some(row.fact) == asked) {
        return Ok(found);
    }
    for ((number, row), pod) in evidence.rows().numbered().zip(pod_of_row) {
        if let Some(pod) = pod.filter(|_| Some(row.fact) == condition && row.has_signal) {
            let (_, event): (_, Event) = evidence.body(number)?;
            let holds = event.attribute("status") == Some("True");
            if holds && event.reason.as_deref() == Some("EvictionByEvictionAPI") {
                found.insert(pod);
            }
        }
    }
    Ok(found)
}

/// Rows of requests after which a controller that passes over what is going asked for the end of the same pod, which so was
/// not going; and of those that the same caller sent with them.
///
/// # Errors
/// When the evidence cannot be read back.
pub(super) fn refuted(
    evidence: &Evidence,
    pod_of_row: &PodOfRow,
    symbols: &SymbolTable,
) -> Result<HashSet<EvidenceRow>, SpillError> {
    let asks: Vec<Symbol> = ["k8s.audit.delete", "k8s.audit.evict"]
        .iter()
        .filter_map(|fact| symbols.find(fact))
        .collect();
    let mut asked: HashMap<TaskRow, Vec<(Arc<str>, Nanos)>> = HashMap::new();
    let mut requests: Vec<(EvidenceRow, Arc<str>, Nanos)> = Vec::new();
    // Who asked, and when, for what was not going afterwards.
    let mut refuted: BTreeSet<(Arc<str>, Nanos)> = BTreeSet::new();
    for ((number, row), pod) in evidence.rows().numbered().zip(pod_of_row) {
        let Some(pod) = pod.filter(|_| asks.contains(&row.fact) && row.has_signal) else {
            continue;
        };
        let (_, event): (_, Event) = evidence.body(number)?;
        let is_pod = event.object_kind.as_deref() == Some("Pod");
        let actor = event.actor.as_deref().unwrap_or_default();
        if !is_pod || !crate::request::was_done(&event) {
            continue;
        }
        let before = asked.entry(pod).or_default();
        if PASS_OVER.contains(&actor) {
            let long_before =
                |(_, at): &&(Arc<str>, Nanos)| at.saturating_add(SERVERS) < event.time.lo;
            refuted.extend(before.iter().filter(long_before).cloned());
        } else {
            let (actor, at): (Arc<str>, _) = (actor.into(), event.time.hi);
            before.push((Arc::clone(&actor), at));
            requests.push((number, actor, at));
        }
    }
    // What one asked for in one go was asked for in one way.
    let with_it = |(_, actor, at): &&(EvidenceRow, Arc<str>, Nanos)| {
        let (from, to) = (at.saturating_sub(ONE_GO), at.saturating_add(ONE_GO));
        let mut near = refuted.range((Arc::clone(actor), from)..=(Arc::clone(actor), to));
        near.next().is_some()
    };
    Ok(requests
        .iter()
        .filter(with_it)
        .map(|(row, _, _)| *row)
        .collect())
}
