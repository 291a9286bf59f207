//! Pods that no scheduler has looked at. Every pod is one for a moment; one that is
//! for longer has no scheduler that works.

use crate::signals::named;
use whathappened_model::table::Table;
use whathappened_model::time::{Nanos, SECOND};

use super::{Fact, Task};
use crate::evidence::Evidence;

/// A scheduler looks at a new pod within seconds, however full the cluster is.
const AT_ONCE: Nanos = 30 * SECOND;

/// Drops what says so of pods that were looked at later, or that are new.
pub(super) fn settle(
    pods: &Table<Task>,
    now: Option<Nanos>,
    evidence: &mut Evidence,
    facts: &mut Vec<Fact>,
) {
    let Some(unseen) = evidence.symbols.find(named::K8S_POD_UNSCHEDULED) else {
        return;
    };
    let mut past = Vec::new();
    facts.retain(|fact| {
        if fact.signal != unseen {
            return true;
        }
        let waits = pods.get(fact.pod).is_some_and(|pod| {
            pod.bound.is_none()
                && pod.unplaced.is_none()
                && pod.started.is_none()
                && !pod.node.is_some()
        });
        let stays = waits && now.is_some_and(|now| now.saturating_sub(fact.time.hi) > AT_ONCE);
        if !stays {
            past.push(fact.row);
        }
        stays
    });
    for row in past {
        evidence.silence(row);
    }
}
