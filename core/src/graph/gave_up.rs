//! Jobs that gave up, and the pods that they stopped for it. A Job deletes what still runs of it, and says so of each pod; of
//! a large Job the API server keeps few of these Events, as they are too many at once. What is left is that its pods
//! were stopped in one moment, but for those that had ended, and that it gave up.

use std::collections::BTreeMap;

use whathappened_model::table::Table;
use whathappened_model::time::{Nanos, SECOND};

use super::identity::Workloads;
use super::{Fact, Task};
use crate::graph::{TaskRow, WorkloadRow};
use crate::signals::named;
use crate::symbols::{Symbol, SymbolTable};

/// Events of one kind and object that are kept one by one (client-go, `EventAggregator`).
const MOST_SINGLE_EVENTS: usize = 10;

/// Kubelets stop what a controller deletes at once within this long.
const AT_ONCE: Nanos = 10 * SECOND;

/// A Job says that it gave up once its pods have ended: their grace, and its own pace.
const OVER_WITHIN: Nanos = 120 * SECOND;

/// Adds that their Job deleted them for the pods of such Jobs that were stopped.
pub(super) fn note(
    pods: &Table<Task>,
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
    let is_job = |job: &WorkloadRow| {
        let one = workloads.all.get(*job);
        one.is_some_and(|one| symbols.name(one.kind) == "Job")
    };
    let mut jobs: BTreeMap<WorkloadRow, Job> = facts
        .iter()
        .filter(|fact| fact.signal == gave_up)
        .filter_map(|fact| {
            let job = fact.workload.filter(is_job)?;
            Some((job, Job::over_at(fact.time.hi)))
        })
        .collect();
    if jobs.is_empty() {
        return;
    }
    for pod in pods {
        if let Some(job) = pod.owner.and_then(|owner| jobs.get_mut(&owner)) {
            job.pods += 1;
        }
    }
    for fact in facts.iter() {
        if fact.signal == deleted {
            if let Some(job) = fact.workload.and_then(|job| jobs.get_mut(&job)) {
                job.recorded += 1;
            }
        } else if fact.signal == killing {
            let owner = pods.get(fact.pod).and_then(|pod| pod.owner);
            if let Some((pod, job)) = fact.pod.zip(owner.and_then(|job| jobs.get_mut(&job))) {
                job.stops(pod, fact);
            }
        }
    }
    for (number, job) in jobs {
        if job.stopped_all_left() {
            facts.extend(job.stopped.into_iter().map(|(pod, fact)| Fact {
                signal: deleted,
                pod: None,
                workload: Some(number),
                node: Symbol::NONE,
                other: Some(pod),
                ..fact
            }));
        }
    }
}

/// A Job that gave up.
struct Job {
    over: Nanos,
    /// How many pods it had.
    pods: usize,
    /// Of how many it is told that it deleted them.
    recorded: usize,
    /// What kubelets told first of each of its pods that they stopped shortly before it was over.
    stopped: BTreeMap<TaskRow, Fact>,
}

impl Job {
    fn over_at(over: Nanos) -> Self {
        Self {
            over,
            pods: 0,
            recorded: 0,
            stopped: BTreeMap::new(),
        }
    }

    /// Takes in that a kubelet stopped one of its pods.
    fn stops(&mut self, pod: TaskRow, fact: &Fact) {
        if (0..=OVER_WITHIN).contains(&self.over.saturating_sub(fact.time.lo)) {
            let known = self.stopped.entry(pod).or_insert(*fact);
            if fact.time < known.time {
                *known = *fact;
            }
        }
    }

    /// Whether many of its pods were stopped in one moment, for a reason that is told of too few of them, but for one that
    /// had ended: for that the Job gave up, and not for whoever stopped all of them.
    fn stopped_all_left(&self) -> bool {
        let times = || self.stopped.values().map(|fact| fact.time.lo);
        let apart = times().max().zip(times().min());
        let at_once = apart.is_some_and(|(last, first)| last.saturating_sub(first) <= AT_ONCE);
        let count = self.stopped.len();
        self.recorded < MOST_SINGLE_EVENTS
            && count > MOST_SINGLE_EVENTS
            && count < self.pods
            && at_once
    }
}
