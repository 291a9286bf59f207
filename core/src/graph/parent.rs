//! Owners that no record names: of pods that only Events know, and of replica sets
//! that are not in the input. Controllers name what they make after themselves.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use whathappened_model::time::{Nanos, Stamp};

use super::identity::{Pods, Workloads};
use super::indexes::{self, index_in_name};
use super::{Task, TaskKind, Workload, jobset_ranks, log_gang, operated, pod_group, together};
use crate::graph::WorkloadRow;
use crate::symbols::{Symbol, SymbolTable};

/// What the API server draws the ends of generated names from.
const SAFE: &str = "bcdfghjklmnpqrstvwxz2456789";

/// Length of the end that the API server puts to a `generateName`.
const DRAWN: usize = 5;

/// Kinds of the training operator, which names pods after their roles: `run-worker-0`.
const OF_ROLES: [&str; 6] = [
    "PyTorchJob",
    "TFJob",
    "MPIJob",
    "XGBoostJob",
    "PaddleJob",
    "JAXJob",
];

/// The roles that it knows.
const ROLES: [&str; 6] = ["chief", "evaluator", "launcher", "master", "ps", "worker"];

/// Those of them that a gang has one of, which counts first.
const LEADS: [&str; 3] = ["chief", "launcher", "master"];

/// The label that a Deployment's pods bear, which is also the end of its replica set's name.
const HASH: &str = "pod-template-hash";

/// Gives owners to pods and replica sets that have none. To be called when every
/// record has been learned from: what a record says goes before what a name says.
pub(super) fn adopt(symbols: &mut SymbolTable, pods: &mut Pods, workloads: &mut Workloads) {
    by_label(symbols, pods, workloads);
    by_index(symbols, pods, workloads);
    operated::sets_of_pods(symbols, pods, workloads);
    jobs_of_sets(symbols, workloads);
    operated::parts(symbols, workloads);
    queued(symbols, workloads);
    by_name(symbols, pods, workloads);
    pod_group::own(symbols, pods, workloads);
    together::own(symbols, pods, workloads);
    led(symbols, pods, workloads);
    log_gang::of_pods(symbols, pods, workloads);
    ranks(symbols, pods, workloads);
    behind_a_master(symbols, pods);
    indexes::mark(symbols, pods, workloads);
    jobset_ranks::number(symbols, pods, workloads);
}

/// What a pod owns is its owner's; one that nobody owns leads them itself, and is of their run.
fn led(symbols: &SymbolTable, pods: &mut Pods, workloads: &mut Workloads) {
    for number in workloads.all.numbers() {
        let Some(leader) = workloads.all.get(number) else {
            continue;
        };
        if leader.owner.is_some() || symbols.name(leader.kind) != "Pod" {
            continue;
        }
        let pod = pods.find_uid(leader.uid).filter(|_| leader.uid.is_some());
        let Some(pod) = pods.all.get_mut(pod) else {
            continue;
        };
        match pod.owner {
            None => pod.owner = Some(number),
            owner => {
                if let Some(leader) = workloads.all.get_mut(number) {
                    leader.owner = owner;
                }
            }
        }
    }
}

/// What the pods of one gang may have in common, whoever made them: their name without what
/// was drawn for each, its number and its role; and which of them it is, where the name says so.
pub(super) fn gang_of(pod: &str) -> Option<(&str, Option<i32>)> {
    let stem = drawn(pod).or_else(|| numbered(pod))?;
    let number: Option<i32> = pod
        .get(stem.len() + 1..)
        .filter(|_| drawn(pod).is_none())
        .and_then(|number| number.parse().ok());
    let role = stem
        .rsplit_once('-')
        .filter(|(_, role)| ROLES.contains(role));
    Some(match role {
        // The first of the workers comes after the one that leads them.
        Some((name, role)) if !LEADS.contains(&role) => {
            (name, number.map(|number| number.saturating_add(1)))
        }
        Some((name, _)) => (name, number),
        None => (stem, number),
    })
}

/// Pods of an indexed Job bear their index in their name.
fn ranks(symbols: &SymbolTable, pods: &mut Pods, workloads: &Workloads) {
    for pod in &mut pods.all {
        if pod.kind != TaskKind::Pod || pod.rank.is_some() {
            continue;
        }
        let owner = workloads.all.get(pod.owner);
        let Some(owner) = owner.filter(|owner| symbols.name(owner.kind) == "Job") else {
            continue;
        };
        pod.rank = index_in_name(symbols.name(pod.name), symbols.name(owner.name));
    }
}

/// The label that Kubeflow's operators give a pod for its role.
const REPLICA_TYPE: &str = "training.kubeflow.org/replica-type";

/// Where a master leads the workers of a PyTorchJob it is rank 0, and their own numbers begin again at zero.
fn behind_a_master(symbols: &SymbolTable, pods: &mut Pods) {
    let role = |pod: &Task| {
        let body = pod.body.as_ref()?;
        let operator = body.labels.get("training.kubeflow.org/operator-name");
        let is_torch = operator.is_none_or(|name| name.starts_with("pytorch"));
        body.labels.get(REPLICA_TYPE).filter(|_| is_torch).cloned()
    };
    let mut led = HashSet::new();
    for pod in &pods.all {
        if role(pod).is_some_and(|role| role.eq_ignore_ascii_case("master")) {
            led.insert(pod.owner);
        }
    }
    for pod in &mut pods.all {
        let is_worker = role(pod).is_some_and(|role| role.eq_ignore_ascii_case("worker"));
        // Numbers that their names tell have been counted so.
        let own = symbols.name(pod.name).rsplit('-').next();
        let own = own.and_then(|number| number.parse::<i32>().ok());
        if is_worker && led.contains(&pod.owner) && pod.rank == own {
            pod.rank = pod.rank.map(|rank| rank.saturating_add(1));
        }
    }
}

/// A replica set whose name ends in its pods' `pod-template-hash` is a Deployment's.
fn by_label(symbols: &mut SymbolTable, pods: &Pods, workloads: &mut Workloads) {
    let replica_set = symbols.number("ReplicaSet");
    for pod in &pods.all {
        let Some(owner) = workloads
            .all
            .get(pod.owner)
            .filter(|owner| owner.kind == replica_set && owner.owner.is_none())
        else {
            continue;
        };
        let hash = pod.body.as_ref().and_then(|body| body.labels.get(HASH));
        let Some(deployment) = hash.and_then(|hash| {
            let name = symbols.name(owner.name).strip_suffix(hash.as_str())?;
            Some(name.strip_suffix('-')?.to_owned())
        }) else {
            continue;
        };
        let (kind, name) = (symbols.number("Deployment"), symbols.number(&deployment));
        let at = pod.begin().unwrap_or(Nanos::MAX);
        let at = Stamp { lo: at, hi: at };
        let above = workloads.of(kind, Symbol::NONE, pod.namespace, name, at);
        if let Some(owner) = workloads.all.get_mut(pod.owner) {
            owner.owner = Some(above);
        }
    }
}

/// Jobs of which only logs of their pods, or lines of a table, are known: pods that are named alike but for an index,
/// and an end that the API server drew, are those of one indexed Job.
fn by_index(symbols: &mut SymbolTable, pods: &Pods, workloads: &mut Workloads) {
    let mut found: BTreeMap<(Symbol, &str), (BTreeSet<&str>, Nanos)> = BTreeMap::new();
    for pod in &pods.all {
        // An object says itself that it has no owner; a line of a table does not.
        let is_listed = pod.body.is_some() && pod.uid.is_some();
        let unknown = pod.kind == TaskKind::Pod && pod.owner.is_none() && !is_listed;
        let Some(stem) = drawn(symbols.name(pod.name)).filter(|_| unknown) else {
            continue;
        };
        if let Some(job) = numbered(stem) {
            // Of ages alone nobody can say when it was.
            let begin = pod.begin().unwrap_or(Nanos::MAX);
            let (indexes, first) = found
                .entry((pod.namespace, job))
                .or_insert_with(|| (BTreeSet::new(), begin));
            indexes.insert(&stem[job.len()..]);
            *first = begin.min(*first);
        }
    }
    let found: Vec<(Symbol, String, Nanos)> = found
        .into_iter()
        .filter(|(_, (indexes, _))| indexes.len() > 1)
        .map(|((namespace, job), (_, first))| (namespace, job.to_owned(), first))
        .collect();
    for (namespace, job, first) in found {
        let (kind, name) = (symbols.number("Job"), symbols.number(&job));
        let at = Stamp {
            lo: first,
            hi: first,
        };
        workloads.of(kind, Symbol::NONE, namespace, name, at);
    }
}

/// Jobs of which only Events are known, by the name of a `JobSet` that is known.
fn jobs_of_sets(symbols: &SymbolTable, workloads: &mut Workloads) {
    let set = symbols.find("JobSet");
    own(symbols, workloads, "Job", |workloads, number, one| {
        let at = workloads.begin(number);
        sets_of(symbols.name(one.name))
            .filter_map(|name| symbols.find(name))
            .find_map(|name| workloads.named(set?, one.namespace, name, at))
    });
}

/// What Kueue queues of a job that is known.
fn queued(symbols: &SymbolTable, workloads: &mut Workloads) {
    let queued = symbols.find("Workload");
    own(symbols, workloads, "Workload", |workloads, _, one| {
        let mut jobs = workloads.all.numbered().filter(|(_, job)| {
            job.namespace == one.namespace
                && Some(job.kind) != queued
                && is_queue_entry(
                    symbols.name(one.name),
                    symbols.name(job.kind),
                    symbols.name(job.name),
                )
        });
        // Two of one name came one after the other.
        match (jobs.next(), jobs.next()) {
            (Some((number, _)), None) => Some(number),
            _ => None,
        }
    });
}

/// Gives workloads of a kind of which no record names the owner the one that is found for them.
pub(super) fn own(
    symbols: &SymbolTable,
    workloads: &mut Workloads,
    kind: &str,
    find: impl Fn(&Workloads, WorkloadRow, &Workload) -> Option<WorkloadRow>,
) {
    let Some(kind) = symbols.find(kind) else {
        return;
    };
    let known: &Workloads = workloads;
    let found: Vec<(WorkloadRow, WorkloadRow)> = known
        .all
        .numbered()
        .filter(|(_, one)| one.kind == kind && one.owner.is_none() && one.body.is_none())
        .filter_map(|(number, one)| Some((number, find(known, number, one)?)))
        .collect();
    for (number, above) in found {
        if let Some(one) = workloads.all.get_mut(number) {
            one.owner = Some(above);
        }
    }
}

/// Names of the `JobSet`s that may have made a Job of a name, `set-replicated-0`: the
/// longest first.
fn sets_of(job: &str) -> impl Iterator<Item = &str> {
    numbered(job).into_iter().flat_map(prefixes)
}

/// Pods that no record tells the owner of, by the name of a workload that is known.
fn by_name(symbols: &SymbolTable, pods: &mut Pods, workloads: &Workloads) {
    for pod in &mut pods.all {
        // An object says itself that it has no owner; a line of a table does not.
        let is_listed = pod.body.is_some() && pod.uid.is_some();
        if pod.kind != TaskKind::Pod || pod.owner.is_some() || is_listed {
            continue;
        }
        let last = pod.seen.map_or(Nanos::MAX, |(_, last)| last);
        let at = Stamp { lo: last, hi: last };
        let name = symbols.name(pod.name);
        let found = makers(name).find_map(|(kind, name)| {
            let (kind, name) = (symbols.find(kind)?, symbols.find(name)?);
            // A log that was saved under a pod's name does not say its namespace.
            let number = if pod.namespace.is_some() {
                workloads.named(kind, pod.namespace, name, at)?
            } else {
                workloads.named_anywhere(kind, name, at)?
            };
            let maker = workloads.all.get(number)?;
            let was_there = maker.created.is_none_or(|created| created.lo <= last);
            was_there.then_some(number)
        });
        let of_set = || {
            let stem = numbered(drawn(symbols.name(pod.name))?)?;
            sets_of(stem).find_map(|name| {
                let (kind, name) = (symbols.find("JobSet")?, symbols.find(name)?);
                workloads.named(kind, pod.namespace, name, at)
            })
        };
        let loosely = || {
            let stem = loosely_drawn(symbols.name(pod.name))?;
            let job = numbered(stem);
            let jobs = job.into_iter().chain([stem]).map(|name| ("Job", name));
            let sets = job.and(Some(stem)).into_iter().flat_map(sets_of);
            let makers = jobs.chain(sets.map(|name| ("JobSet", name)));
            makers.into_iter().find_map(|(kind, name)| {
                let (kind, name) = (symbols.find(kind)?, symbols.find(name)?);
                let number = workloads.named(kind, pod.namespace, name, at)?;
                let created = workloads.all.get(number)?.created;
                created
                    .is_none_or(|created| created.lo <= last)
                    .then_some(number)
            })
        };
        if let Some(found) = found.or_else(of_set).or_else(loosely) {
            pod.owner = Some(found);
        }
    }
}

/// Set, Job and index of a pod that is named after them: `set-workers-0-3` of
/// `set-workers-0-3-x2k8f`.
pub(crate) fn indexed(pod: &str) -> Option<&str> {
    let stem = drawn(pod).or_else(|| loosely_drawn(pod))?;
    numbered(stem).map(|_| stem)
}

/// A pod's name without the end that the API server drew.
pub(super) fn drawn(pod: &str) -> Option<&str> {
    let (stem, end) = pod.rsplit_once('-')?;
    (end.len() == DRAWN && is_drawn(end)).then_some(stem)
}

/// The same of an end that was drawn from other letters, as by a tool that hides names: it counts beside a workload that is
/// known only. Of a pod without a number it has to look like no word.
pub(super) fn loosely_drawn(pod: &str) -> Option<&str> {
    let (stem, end) = pod.rsplit_once('-')?;
    let digits = end.bytes().filter(u8::is_ascii_digit).count();
    let is_hex = end
        .bytes()
        .all(|one| one.is_ascii_digit() || matches!(one, b'a'..=b'f'));
    let is_word = digits == 0 || numbered(stem).is_none() && (!is_hex || digits == DRAWN);
    let is_plain = end
        .bytes()
        .all(|one| one.is_ascii_digit() || one.is_ascii_lowercase());
    (end.len() == DRAWN && is_plain && !is_word).then_some(stem)
}

/// Kinds and names of what may have made a pod of a name, the likeliest first.
pub fn makers(pod: &str) -> impl Iterator<Item = (&'static str, &str)> {
    let of_drawn = drawn(pod).into_iter().flat_map(|stem| {
        let hash = stem
            .rsplit_once('-')
            .filter(|(_, hash)| is_drawn(hash))
            .map(|(name, _)| ("Deployment", name));
        [
            Some(("ReplicaSet", stem)),
            Some(("Job", stem)),
            Some(("DaemonSet", stem)),
        ]
        .into_iter()
        .chain([numbered(stem).map(|name| ("Job", name)), hash])
        .flatten()
    });
    let of_role = numbered(pod)
        .and_then(|stem| stem.rsplit_once('-'))
        .filter(|(_, role)| ROLES.contains(role))
        .into_iter()
        .flat_map(|(name, _)| OF_ROLES.map(|kind| (kind, name)));
    let of_set = numbered(pod).map(|name| ("StatefulSet", name));
    of_drawn.chain(of_role).chain(of_set).chain(operators(pod))
}

/// Kinds and names of what may have made a pod by way of groups, tasks or steps of its own, whose names may have several
/// words: the longest names first.
fn operators(pod: &str) -> impl Iterator<Item = (&'static str, &str)> {
    // `set-0` leads a group, of which `set-0-3` is a worker.
    let group = numbered(pod);
    let sets = [group, group.and_then(numbered)].into_iter().flatten();
    let sets = sets.map(|name| ("LeaderWorkerSet", name));
    // `job-task-0`, and `flow-step-1234567890`.
    let tasks = group.into_iter().flat_map(prefixes);
    let tasks = tasks.flat_map(|name| ["VolcanoJob", "Workflow"].map(|kind| (kind, name)));
    // `cluster-head-x2k8f`, and `cluster-group-worker-x2k8f`.
    let rays = drawn(pod).filter(|stem| stem.ends_with("-head") || stem.ends_with("-worker"));
    let rays: Vec<&str> = rays.into_iter().flat_map(prefixes).collect();
    // Of a cluster that no record names, by the job that it was made for.
    let jobs: Vec<&str> = rays.iter().copied().filter_map(drawn).collect();
    sets.chain(tasks)
        .chain(rays.into_iter().map(|name| ("RayCluster", name)))
        .chain(jobs.into_iter().map(|name| ("RayJob", name)))
}

/// A name without its last words, as many as there are: the longest first.
fn prefixes(name: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(name.rsplit_once('-'), |(rest, _)| rest.rsplit_once('-'))
        .map(|(rest, _)| rest)
}

/// The Deployment that a replica set is named after.
#[must_use]
pub fn deployment_of(replica_set: &str) -> Option<&str> {
    let (name, hash) = replica_set.rsplit_once('-')?;
    is_drawn(hash).then_some(name)
}

/// Whether Kueue queues a job as a Workload of this name: `job-train-1a2b3`, the job's kind and name and
/// a hash of both.
#[must_use]
pub fn is_queue_entry(workload: &str, kind: &str, job: &str) -> bool {
    const HASH: usize = 5;
    let kind = kind.to_lowercase();
    let hash = workload
        .strip_prefix(&kind)
        .and_then(|rest| rest.strip_prefix('-')?.strip_prefix(job)?.strip_prefix('-'));
    hash.is_some_and(|hash| hash.len() == HASH && hash.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

fn is_drawn(end: &str) -> bool {
    !end.is_empty() && end.len() <= 10 && end.chars().all(|one| SAFE.contains(one))
}

/// A name without the number at its end.
pub(super) fn numbered(name: &str) -> Option<&str> {
    let (stem, number) = name.rsplit_once('-')?;
    let digits = !number.is_empty() && number.bytes().all(|one| one.is_ascii_digit());
    digits.then_some(stem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_that_was_drawn_otherwise_is_no_word() {
        assert_eq!(loosely_drawn("run-0-18bea"), Some("run-0"));
        assert_eq!(loosely_drawn("run-0-uu1oa"), Some("run-0"));
        assert_eq!(loosely_drawn("run-18bea"), Some("run"));
        for name in [
            "run-train",
            "run-eval1",
            "run-0-train",
            "run-20261",
            "run-0-18beaa",
        ] {
            assert_eq!(loosely_drawn(name), None, "{name}");
        }
    }

    #[test]
    fn a_pod_is_named_after_what_made_it() {
        let of = |pod| makers(pod).collect::<Vec<_>>();
        assert_eq!(
            of("serve-7d9f6b5c4d-x2k8f"),
            [
                ("ReplicaSet", "serve-7d9f6b5c4d"),
                ("Job", "serve-7d9f6b5c4d"),
                ("DaemonSet", "serve-7d9f6b5c4d"),
                ("Deployment", "serve"),
            ]
        );
        assert!(of("run-3-x2k8f").contains(&("Job", "run")));
        let of_set = [("StatefulSet", "etcd"), ("LeaderWorkerSet", "etcd")];
        assert_eq!(of("etcd-0"), of_set);
        assert_eq!(of("trainer"), []);
        assert!(of("sd3-worker-0").contains(&("PyTorchJob", "sd3")));
        assert!(of("sd3-worker-0").contains(&("StatefulSet", "sd3-worker")));
        assert_eq!(deployment_of("serve-7d9f6b5c4d"), Some("serve"));
        assert_eq!(deployment_of("serve-canary"), None);
        assert_eq!(gang_of("sd3-worker-0"), Some(("sd3", Some(1))));
        assert_eq!(gang_of("sd3-master-0"), Some(("sd3", Some(0))));
        assert_eq!(gang_of("train-3"), Some(("train", Some(3))));
        assert_eq!(gang_of("trainer"), None);
        let sets: Vec<&str> = sets_of("moe-8b-23-workers-0").collect();
        assert_eq!(sets, ["moe-8b-23", "moe-8b", "moe"]);
    }

    #[test]
    fn operators_name_pods_after_their_groups_tasks_and_steps() {
        let may_be_of = |pod, kind| {
            let of_kind = operators(pod).filter(move |(one, _)| *one == kind);
            of_kind.map(|(_, name)| name).collect::<Vec<_>>()
        };
        assert_eq!(may_be_of("llm-0-3", "LeaderWorkerSet"), ["llm-0", "llm"]);
        assert_eq!(may_be_of("vc-big-w-1", "VolcanoJob"), ["vc-big", "vc"]);
        assert_eq!(
            may_be_of("wf-x2-train-918273645", "Workflow"),
            ["wf-x2", "wf"]
        );
        assert_eq!(may_be_of("rc-head-x2k8f", "RayCluster"), ["rc"]);
        assert_eq!(
            may_be_of("rc-gpu-worker-x2k8f", "RayCluster"),
            ["rc-gpu", "rc"]
        );
        assert_eq!(may_be_of("serve-7d9f6b5c4d-x2k8f", "RayCluster"), [""; 0]);
    }
}
