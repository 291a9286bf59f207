//! Jobs that gave up, and the pods that they stopped for it. A Job deletes what still runs of it, and says so of each pod; of
//! a large Job the API server keeps few of these Events, as they are too many at once. What is left is that its pods
//! were stopped in one moment, but for those that had ended, and that it gave up.

use std::collections::BTreeMap;

use whathappened_model::time::{Nanos, SECOND};

use super::identity::Workloads;
use super::{Fact, NO, Task};
use crate::signals::named;
use crate::symbols::{Symbol, SymbolTable};

/// Events of one kind and object that are kept one by one (client-go, `EventAggregator`).
const KEPT: usize = 10;

/// Kubelets stop what a controller deletes at once within this long.
const AT_ONCE: Nanos = 10 * SECOND;

/// A Job says that it gave up once its pods have ended: their grace, and its own pace.
const TOLD: Nanos = 120 * SECOND;

/// Adds that their Job deleted them for the pods of such Jobs that were stopped.
pub(super) fn note(
    pods: &[Task],
    workloads: &Workloads,
    symbols: &mut SymbolTable,
    facts: &mut Vec<Fact>,
) {
    let (Some(gave_up), Some(killing)) = (
        symbols.find(named::K8S_WORKLOAD_BACKOFF_LIMIT),
        symbols.find(named::K8S_CONTAINER_KILLING),
    ) else {
        return;
    };
    let deleted = symbols.number(named::K8S_WORKLOAD_POD_DELETED);
    let is_job = |job: u32| {
        let one = workloads.all.get(job as usize);
        one.is_some_and(|one| symbols.name(one.kind) == "Job")
    };
    let jobs: BTreeMap<u32, Nanos> = facts
        .iter()
        .filter(|fact| fact.signal == gave_up && is_job(fact.workload))
        .map(|fact| (fact.workload, fact.time.hi))
        .collect();
    let mut found = Vec::new();
    for (job, over) in jobs {
        let own = |number: u32| {
            pods.get(number as usize)
                .is_some_and(|pod| pod.owner == job)
        };
        let told = |fact: &Fact| fact.signal == deleted && fact.workload == job;
        let all = pods.iter().filter(|pod| pod.owner == job).count();
        let are_told = facts.iter().filter(|fact| told(fact)).count() >= KEPT;
        // One that was not stopped had ended: for it the Job gave up, and not for whoever stopped all of them.
        let stopped = stopped(facts, killing, own, over).filter(|stopped| stopped.len() < all);
        if let Some(stopped) = stopped.filter(|_| !are_told) {
            found.extend(stopped.into_iter().map(|fact| Fact {
                signal: deleted,
                pod: NO,
                workload: job,
                node: Symbol::NONE,
                other: fact.pod,
                ..fact
            }));
        }
    }
    facts.extend(found);
}

/// What kubelets told first of each of its pods that they stopped, where they stopped many of them in one moment.
fn stopped(
    facts: &[Fact],
    killing: Symbol,
    own: impl Fn(u32) -> bool,
    over: Nanos,
) -> Option<Vec<Fact>> {
    let mut first: BTreeMap<u32, Fact> = BTreeMap::new();
    let told = facts.iter().filter(|fact| {
        let lag = over.saturating_sub(fact.time.lo);
        fact.signal == killing && own(fact.pod) && (0..=TOLD).contains(&lag)
    });
    for fact in told {
        let known = first.entry(fact.pod).or_insert(*fact);
        if fact.time < known.time {
            *known = *fact;
        }
    }
    let times = || first.values().map(|fact| fact.time.lo);
    let apart = times().max()?.saturating_sub(times().min()?);
    (first.len() > KEPT && apart <= AT_ONCE).then(|| first.into_values().collect())
}
