//! Runs: one root object each, with the generations of its gang.

use std::collections::{BTreeMap, HashSet};

use whathappened_model::table::Table;
use whathappened_model::time::{Nanos, SECOND, Stamp};

use super::places::Places;
use crate::graph::{EntityGraph, Root, Task, TaskKind, TaskRow, Workload, WorkloadRow};
use crate::lifecycle::{End, State};
use crate::signals::named;
use crate::symbols::Symbol;

/// Labels and annotations that name an experiment, the plainest first.
const EXPERIMENT: [&str; 5] = [
    "experiment",
    "experiment-name",
    "experiment_name",
    "run",
    "run-name",
];

/// One generation of a gang.
#[derive(Clone, Debug, Default)]
pub struct Attempt {
    /// Its pods, in the order of the graph.
    pub pods: Vec<TaskRow>,
}

/// All pods of one root object.
#[derive(Clone, Debug)]
pub struct Run {
    /// The root object.
    pub root: Root,
    /// Its pods, in the order of the graph.
    pub pods: Vec<TaskRow>,
    /// Generations of the gang, oldest first.
    pub attempts: Vec<Attempt>,
    /// When it began, as far as any record tells.
    pub begin: Option<Nanos>,
}

impl Run {
    /// The number of the last generation, from 1.
    #[must_use]
    pub fn last_attempt(&self) -> u32 {
        u32::try_from(self.attempts.len()).unwrap_or(1).max(1)
    }

    /// When the last of its pods began, as far as that is known.
    fn last_begin(&self, graph: &EntityGraph) -> Option<Nanos> {
        let pods = self.pods.iter().filter_map(|pod| graph.pods.get(*pod));
        pods.filter_map(Task::known_begin).max()
    }

    /// Whether something may have been told of a run as its last pod began, or since: a workload that says that it is over makes
    /// no pods, so that an earlier word is of another one of that name.
    #[must_use]
    pub fn is_recorded_since_start(&self, graph: &EntityGraph, recorded: Stamp) -> bool {
        // The end of a time is the first instant at which it can no longer have been.
        self.last_begin(graph)
            .is_none_or(|begun| recorded.hi > begun)
    }

    /// The generation of a number, from 1.
    #[must_use]
    pub fn attempt(&self, number: u32) -> Option<&Attempt> {
        let before = usize::try_from(number).ok()?.checked_sub(1)?;
        self.attempts.get(before)
    }

    /// A stable id: the root's uid, else its names.
    #[must_use]
    pub fn id(&self, graph: &EntityGraph) -> String {
        let (uid, kind, namespace, name) = self.names(graph);
        if uid.is_empty() {
            format!("{kind}/{namespace}/{name}")
        } else {
            uid.to_owned()
        }
    }

    /// Uid, kind, namespace and name of the root.
    #[must_use]
    pub fn names<'a>(&self, graph: &'a EntityGraph) -> (&'a str, &'a str, &'a str, &'a str) {
        match self.root {
            Root::Workload(number) => graph.workloads.get(number).map_or(("", "", "", ""), |one| {
                (
                    graph.name(one.uid),
                    graph.name(one.kind),
                    graph.name(one.namespace),
                    graph.name(one.name),
                )
            }),
            Root::Pod(number) => graph.pods.get(number).map_or(("", "", "", ""), |pod| {
                let name = if pod.name.is_some() {
                    pod.name
                } else {
                    pod.uid
                };
                (
                    graph.name(pod.uid),
                    pod.kind.as_str(),
                    graph.name(pod.namespace),
                    graph.name(name),
                )
            }),
        }
    }

    /// The experiment it is of, by a label or annotation, else by the root's own
    /// name; and what says so.
    #[must_use]
    pub fn experiment(&self, graph: &EntityGraph) -> (String, String) {
        let root = match self.root {
            Root::Workload(root) => graph.workloads.get(root).and_then(|one| one.body.as_ref()),
            Root::Pod(_) => None,
        };
        let pods = || {
            self.pods
                .iter()
                .filter_map(|pod| graph.pods.get(*pod)?.body.as_ref())
        };
        let found = EXPERIMENT.iter().find_map(|key| {
            root.into_iter().chain(pods()).find_map(|body| {
                let label = body.labels.get(*key).map(|value| (value, "label"));
                let (value, what) =
                    label.or_else(|| Some((body.annotations.get(*key)?, "annotation")))?;
                (!value.is_empty()).then(|| (value.clone(), format!("{what} {key}")))
            })
        });
        let (_, kind, _, name) = self.names(graph);
        found.unwrap_or_else(|| (name.to_owned(), format!("name of the {kind}")))
    }

    /// The attempt that a pod belongs to, from 1.
    #[must_use]
    pub fn attempt_of(&self, pod: TaskRow) -> u32 {
        let found = self
            .attempts
            .iter()
            .position(|attempt| attempt.pods.contains(&pod));
        u32::try_from(found.unwrap_or(0)).unwrap_or(0) + 1
    }
}

/// All runs, in order of (begin, id), oldest first.
#[must_use]
pub fn runs(graph: &EntityGraph, ends: &Table<Task, End>) -> Vec<Run> {
    let mut pods_of: BTreeMap<Root, Vec<TaskRow>> = BTreeMap::new();
    let mut bare: BTreeMap<(&str, &str), TaskRow> = BTreeMap::new();
    let node_instances: HashSet<TaskRow> = graph
        .node_instances
        .values()
        .flatten()
        .map(|node_instance| node_instance.member)
        .collect();
    for (number, pod) in graph.pods.numbered() {
        // The machine under a node is a place, and whoever was on it is told of.
        if node_instances.contains(&number) {
            continue;
        }
        let root = match pod.root {
            Some(root) => Root::Workload(root),
            None if pod.kind == TaskKind::Instance => Root::Pod(number),
            // Bare pods of one name follow each other: they are attempts of one run.
            None => {
                let name = (graph.name(pod.namespace), graph.name(pod.name));
                Root::Pod(*bare.entry(name).or_insert(number))
            }
        };
        pods_of.entry(root).or_default().push(number);
    }
    // A workload that never got a pod is a run too: quota, queue or admission held it. What Kueue queues is, where nothing
    // else is known of what it queues.
    let with_pods: HashSet<Symbol> = graph.pods.iter().map(|pod| pod.namespace).collect();
    let makes_runs = |one: &Workload| match graph.name(one.kind) {
        "CronJob" | "PersistentVolumeClaim" | "RayService" => false,
        "Workload" => !with_pods.contains(&one.namespace),
        _ => true,
    };
    let spoken_of: HashSet<WorkloadRow> = graph
        .last_signals
        .keys()
        .map(|(workload, _)| *workload)
        .collect();
    for (number, workload) in graph.workloads.numbered() {
        let known = workload.body.is_some() || spoken_of.contains(&number);
        let top = workload.owner.is_none()
            || graph
                .workloads
                .get(workload.owner)
                .is_some_and(|owner| graph.name(owner.kind) == "CronJob");
        if top
            && known
            && makes_runs(workload)
            && whathappened_model::kind::is_workload(graph.name(workload.kind))
        {
            pods_of.entry(Root::Workload(number)).or_default();
        }
    }
    let mut found: Vec<Run> = pods_of
        .into_iter()
        .map(|(root, pods)| {
            let attempts = attempts(graph, &pods, ends);
            let made = match root {
                Root::Workload(number) => graph.workloads.get(number).and_then(|one| one.created),
                Root::Pod(_) => None,
            };
            let first = pods
                .iter()
                .filter_map(|pod| graph.pods.get(*pod)?.begin())
                .min();
            Run {
                root,
                pods,
                attempts,
                begin: made
                    .map(|stamp| stamp.lo)
                    .filter(|begin| *begin != Nanos::MIN)
                    .or(first),
            }
        })
        .collect();
    found.sort_by_cached_key(|run| (run.begin, run.id(graph)));
    found
}

/// A new generation begins with a pod that takes the place of one that ended:
/// the same slot again, or any new pod after a death where slots are not named.
fn attempts(graph: &EntityGraph, pods: &[TaskRow], ends: &Table<Task, End>) -> Vec<Attempt> {
    let mut in_order: Vec<TaskRow> = pods.to_vec();
    in_order.sort_by_key(|pod| (graph.pods.get(*pod).and_then(Task::begin), *pod));
    let mut attempts: Vec<Attempt> = Vec::new();
    let mut places = Places::default();
    let mut names: HashSet<(Symbol, Symbol)> = HashSet::new();
    for pod in in_order {
        let Some(new) = graph.pods.get(pod) else {
            continue;
        };
        // Of pods with one name there is one at a time, however exactly it is known when each began and ended.
        let name = (new.namespace, new.name);
        let is_namesake = new.kind == TaskKind::Pod && new.uid.is_some() && names.contains(&name);
        let replaces = new.root.is_none()
            || is_namesake
            || new.begin().is_some_and(|begin| {
                let over = if is_known_from_its_end(graph, pod, ends) {
                    places.namesake_over(graph, new)
                } else {
                    let late = || places.ranked_over(new).filter(|_| is_successor(graph, new));
                    places.over_before(graph, new).or_else(late)
                };
                over.is_some_and(|over| over <= begin)
            });
        let replaces = replaces
            && !attempts
                .last()
                .is_some_and(|attempt| goes_with_leader(graph, attempt, new, ends));
        match attempts.last_mut() {
            Some(attempt) if !replaces => attempt.pods.push(pod),
            _ => {
                places = Places::default();
                names.clear();
                attempts.push(Attempt { pods: vec![pod] });
            }
        }
        if new.name.is_some() && new.uid.is_some() {
            names.insert(name);
        }
        if let Some(over) = over(graph, pod, ends).filter(|_| !is_done(graph, pod, ends)) {
            places.take(graph, new, over);
        }
    }
    for attempt in &mut attempts {
        attempt.pods.sort_unstable();
    }
    attempts
}

/// Whether a worker was made in the place of one for which its whole group was then made anew: it is still of the group that goes.
fn goes_with_leader(
    graph: &EntityGraph,
    attempt: &Attempt,
    worker: &Task,
    ends: &Table<Task, End>,
) -> bool {
    /// The controller of the group acts within this long.
    const TAKEN: Nanos = 60 * SECOND;
    let root = graph.workloads.get(worker.root);
    if root.is_none_or(|root| graph.name(root.kind) != "LeaderWorkerSet") {
        return false;
    }
    let Some(((leader, _), begin)) = graph.name(worker.name).rsplit_once('-').zip(worker.begin())
    else {
        return false;
    };
    let mut leaders = attempt.pods.iter().filter(|pod| {
        let pod = graph.pods.get(**pod);
        pod.is_some_and(|pod| graph.name(pod.name) == leader)
    });
    leaders.any(|leader| {
        let over = ends.get(*leader).and_then(End::final_time);
        over.is_some_and(|over| (begin..=begin.saturating_add(TAKEN)).contains(&over.lo))
    })
}

/// Whether a pod did its part of a plain Job: nothing takes its place, and what a Job makes then is the next of what is to be done.
fn is_done(graph: &EntityGraph, pod: TaskRow, ends: &Table<Task, End>) -> bool {
    let one = graph.pods.get(pod);
    let root = graph.workloads.get(one.and_then(|one| one.root));
    let completed = ends
        .get(pod)
        .is_some_and(|end| end.state == State::Completed);
    completed && root.is_some_and(|root| graph.name(root.kind) == "Job")
}

/// Whether nothing is known of a pod before its end: when it began, and so in whose place, nobody knows.
fn is_known_from_its_end(graph: &EntityGraph, pod: TaskRow, ends: &Table<Task, End>) -> bool {
    let Some(one) = graph.pods.get(pod) else {
        return false;
    };
    let end = ends.get(pod).and_then(End::final_time);
    let unseen = one.created.is_none() && one.bound.is_none() && one.starts.is_empty();
    unseen && one.body.is_none() && end.is_some_and(|end| one.begin() >= Some(end.lo))
}

/// Whether a pod was made in the place of another one, of which nothing may be known any more: a Job makes all pods that it begins
/// with at once, unless some are refused, or it is made larger meanwhile.
fn is_successor(graph: &EntityGraph, pod: &Task) -> bool {
    /// Whoever made many pods was done with that by then.
    const AT_ONCE: Nanos = 300 * SECOND;
    const LATE: [&str; 3] = [
        named::K8S_QUOTA_EXCEEDED,
        named::K8S_WORKLOAD_CREATE_FAILED,
        named::K8S_WORKLOAD_SCALED,
    ];
    let Some(job) = graph.workloads.get(pod.owner) else {
        return false;
    };
    // Later ones follow those that are done.
    let is_of_first = pod
        .rank
        .zip(graph.pods_wanted(pod.owner))
        .is_some_and(|(rank, wanted)| i64::from(rank) < wanted);
    let is_late = pod
        .created
        .zip(job.created)
        .is_some_and(|(own, job)| own != Stamp::OPEN && own.lo.saturating_sub(job.hi) > AT_ONCE);
    let was_late = LATE.iter().any(|signal| graph.says(pod.owner, signal));
    graph.name(job.kind) == "Job" && is_of_first && is_late && !was_late
}

/// When a pod was over: its end, or, of one that waited in its place of a gang and of which
/// only Events told, when they last did.
fn over(graph: &EntityGraph, pod: TaskRow, ends: &Table<Task, End>) -> Option<Nanos> {
    let end = ends.get(pod)?;
    let waited = matches!(end.state, State::NeverScheduled | State::StuckStarting);
    let one = graph.pods.get(pod)?;
    let reported = one
        .seen
        .filter(|_| waited && one.rank.is_some() && one.body.is_none());
    // The last line of a log need not have a time of its own: until the next one that has it may have gone on.
    let is_log = one.kind == TaskKind::Log;
    end.final_time()
        .map(|end| if is_log { end.hi } else { end.lo })
        .or(reported.map(|(_, last)| last))
}
