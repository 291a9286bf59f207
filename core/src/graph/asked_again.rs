//! Requests for the end of a pod that was ending: who comes second to ask for that has ended nothing.

use crate::graph::TaskRow;
use crate::signals::named;
use std::collections::HashMap;

use whathappened_model::event::SourceKind;
use whathappened_model::time::{Nanos, SECOND, Stamp};

use super::{EntityGraph, Task};

/// What such a request means.
const ASKED_AGAIN: &str = named::K8S_POD_ASKED_AGAIN;

/// What the eviction API leaves on a pod.
const LEFT_BY_EVICTION: &str = named::K8S_POD_EVICTED_API;

/// Servers of one cluster keep the same time but for as much.
const SERVERS: Nanos = SECOND / 5;

/// What is there for longer than this after it was asked to end may be ended by who asks again.
const LONGEST: Nanos = 60 * SECOND;

/// The first request for the end of a pod.
struct FirstRequest {
    time: Stamp,
    evicts: bool,
    /// What comes this long after it came second.
    apart: Nanos,
}

/// Takes their meaning from requests that the audit log has of a pod whose end had been asked for shortly
/// before, and from what they leave on it. Facts are in time order.
pub(super) fn mark(graph: &mut EntityGraph) {
    let mut firsts: HashMap<TaskRow, FirstRequest> = HashMap::new();
    let mut again = Vec::new();
    for (number, fact) in graph.facts.iter().enumerate() {
        let (Some(pod_number), Some(pod)) = (fact.pod, graph.pods.get(fact.pod)) else {
            continue;
        };
        let signal = graph.name(fact.signal);
        let asks = asks(signal) && fact.source_kind == SourceKind::KubernetesAudit;
        let late = |first: &FirstRequest| {
            let after = fact.time.lo.saturating_sub(first.time.hi);
            (first.apart..LONGEST).contains(&after)
        };
        let left = |first: &FirstRequest| {
            signal == LEFT_BY_EVICTION && !first.evicts && fact.time.hi > first.time.hi
        };
        match firsts.get(&pod_number) {
            Some(first) if asks && late(first) || left(first) => again.push(number),
            // The pod's own time of deletion tells of a request that the log left out.
            None if asks && was_asked_before(pod, fact.time) => {
                again.push(number);
                let first = FirstRequest {
                    time: pod.deletion_requested.unwrap_or(fact.time),
                    evicts: false,
                    apart: 0,
                };
                firsts.insert(pod_number, first);
            }
            // Another pod may have borne the name before.
            None if asks && pod.known_begin().is_none_or(|begin| begin <= fact.time.hi) => {
                let first = FirstRequest {
                    time: fact.time,
                    evicts: signal.starts_with("k8s.pod.evicted_by_"),
                    apart: SERVERS,
                };
                firsts.insert(pod_number, first);
            }
            _ => {}
        }
    }
    if again.is_empty() {
        return;
    }
    let signal = graph.evidence.symbols.number(ASKED_AGAIN);
    for number in again {
        if let Some(fact) = graph.facts.get_mut(number) {
            fact.signal = signal;
        }
    }
}

/// Whether a pod was ending before a request, and not for so long that who asked again may have ended it. The server that
/// answers a request writes the time of deletion after it came in, so a time that is over by then is of another one.
fn was_asked_before(pod: &Task, request: Stamp) -> bool {
    pod.deletion_requested.is_some_and(|asked| {
        let after = request.lo.saturating_sub(asked.hi);
        (0..LONGEST).contains(&after)
    })
}

/// Whether a signal is a request for the end of a pod. A kubelet only confirms what others asked for.
fn asks(signal: &str) -> bool {
    let deleted = signal.strip_prefix("k8s.pod.deleted_by_");
    deleted.is_some_and(|by| by != "kubelet")
        || signal.starts_with("k8s.pod.evicted_by_")
        || signal == named::K8S_POD_DRAINED_BY_KUBECTL
}
