//! What versions of objects teach about the lives of pods and workloads.

use whathappened_model::time::Stamp;

use super::identity::{Pods, Workloads};
use super::learn::{earlier, later};
use super::list_times::ListTimes;
use super::workload::Leaving;
use super::{clocks, instance, job};
use crate::evidence::{Objects, Version};
use crate::graph::{TaskRow, WorkloadRow};
use crate::symbols::{Symbol, SymbolTable};

/// Learns from all versions of all objects.
pub(super) fn learn(
    objects: &Objects,
    symbols: &mut SymbolTable,
    pods: &mut Pods,
    workloads: &mut Workloads,
) {
    pods.jobs.learn(objects);
    let lists = ListTimes::of(objects);
    // What was printed for people has no uid: it speaks of an object that is known, or else of one of its own.
    let (with_uid, without): (Vec<_>, Vec<_>) =
        objects.iter().partition(|(key, _)| !key.uid.is_empty());
    for (key, versions) in with_uid.into_iter().chain(without) {
        let uid = if key.kind == job::KIND {
            pods.jobs.id(&key.uid)
        } else {
            &key.uid
        };
        let (uid, namespace, name) = (
            symbols.number(uid),
            symbols.number(&key.namespace),
            symbols.number(&key.name),
        );
        let begin = versions
            .first()
            .and_then(|version| version.body.created)
            .unwrap_or(Stamp::OPEN);
        match key.kind.as_str() {
            "Node" | "PersistentVolumeClaim" => {}
            "Instance" => instance::versions(key, versions, symbols, pods, workloads),
            "Pod" => {
                let number = if uid.is_some() {
                    pods.of_uid(uid, namespace, name)
                } else {
                    pods.printed(namespace, name, begin.lo)
                };
                // The kubelet reports a static pod under the hash of its manifest.
                for hash in versions
                    .iter()
                    .filter_map(|version| version.body.annotations.get("kubernetes.io/config.hash"))
                {
                    pods.also_known_as(symbols.number(hash), number);
                }
                for version in versions {
                    pod_version(number, version, symbols, pods, workloads);
                }
                if let Some(pod) = pods.all.get_mut(number) {
                    pod.unasked = pod.unasked.max(lists.unasked(&key.kind, versions));
                    pod.ready_again = pod.ready_again.max(ready_again(versions));
                    if let Some(stored) = clocks::stored(versions) {
                        pod.stored = stored;
                    }
                }
            }
            kind => {
                let is_job = kind == job::KIND;
                let kind = symbols.number(kind);
                let number = workloads.of(kind, uid, namespace, name, begin);
                if is_job {
                    job::versions(key, versions, Some(number), symbols, pods);
                }
                if let Some(workload) = workloads.all.get_mut(number) {
                    let read = lists.unasked(&key.kind, versions);
                    workload.unasked = workload.unasked.max(read);
                }
                for version in versions {
                    let known = workloads.all.get(number).and_then(|one| one.owner);
                    let owner = owner(version, namespace, known, symbols, workloads);
                    let Some(workload) = workloads.all.get_mut(number) else {
                        continue;
                    };
                    if let Some(created) = version.body.created {
                        workload.created = earlier(workload.created, created);
                    }
                    if version.deleted {
                        workload.gone = last_seen(version).or(workload.gone);
                    } else if let Some(asked) = version.body.deletion_requested {
                        workload.leaving = Some(Leaving::seen(workload.leaving, version, asked));
                    } else {
                        let seen = version.at.map(|at| at.lo);
                        workload.unasked = workload.unasked.max(seen);
                    }
                    if owner.is_some() {
                        workload.owner = owner;
                    }
                    // What was printed for people is less than the object.
                    if uid.is_some() || workload.body.is_none() || !workload.uid.is_some() {
                        workload.body = Some(std::sync::Arc::clone(&version.body));
                    }
                }
            }
        }
    }
}

/// Since when a pod had last not been ready that is ready again in a later version.
///
/// The order of the versions decides, and not the times in them: the controller of nodes sets `Ready` of each pod of a node that
/// fell silent, and a kubelet that comes back writes its own condition over that, with the time at which the pod became ready first.
fn ready_again(versions: &[Version]) -> Option<Stamp> {
    let states = || {
        let stored = versions.iter().filter(|one| one.revision.is_some());
        stored.filter_map(|one| one.body.ready)
    };
    let (is_ready, _) = states().next_back()?;
    let lapses = states().filter(|(ready, _)| !ready);
    lapses.map(|(_, since)| since).max().filter(|_| is_ready)
}

/// The latest that the last version of an object tells: one that waited to be let go was
/// there until its deletion was asked for, whatever was written into it before.
fn last_seen(version: &Version) -> Option<Stamp> {
    version.at.max(version.body.deletion_requested)
}

/// Who owns an object, by one of its versions. One that was printed without the owner's uid
/// says no more than the others where its `known` owner is called the same.
fn owner(
    version: &Version,
    namespace: Symbol,
    known: Option<WorkloadRow>,
    symbols: &mut SymbolTable,
    workloads: &mut Workloads,
) -> Option<WorkloadRow> {
    let owners = &version.body.owners;
    let owner = owners
        .iter()
        .find(|owner| owner.controller)
        .or_else(|| owners.first())?;
    // Static pods are owned by their node, which is no workload.
    if owner.kind == "Node" {
        return None;
    }
    let (kind, uid, name) = (
        symbols.number(&owner.kind),
        symbols.number(&owner.uid),
        symbols.number(&owner.name),
    );
    let is_known = workloads
        .all
        .get(known)
        .is_some_and(|one| (one.kind, one.namespace, one.name) == (kind, namespace, name));
    if is_known && !uid.is_some() {
        return known;
    }
    let at = version.body.created.unwrap_or(Stamp::OPEN);
    Some(workloads.of(kind, uid, namespace, name, at))
}

fn pod_version(
    number: TaskRow,
    version: &Version,
    symbols: &mut SymbolTable,
    pods: &mut Pods,
    workloads: &mut Workloads,
) {
    let pod = pods.all.get(number);
    let Some((namespace, known)) = pod.map(|pod| (pod.namespace, pod.owner)) else {
        return;
    };
    let owner = owner(version, namespace, known, symbols, workloads);
    let Some(pod) = pods.all.get_mut(number) else {
        return;
    };
    let body = &version.body;
    // What was printed for people is less than the object, and may be older.
    let less = pod.uid.is_some() && version.revision.is_none() && pod.body.is_some();
    let last = pod.seen.map_or(i64::MIN, |(_, last)| last);
    // Printed times are of whole seconds.
    let older = less && version.at.is_none_or(|at| at.hi < last);
    for (slot, reported) in [
        (&mut pod.created, body.created),
        (&mut pod.started, body.started),
        (&mut pod.deletion_requested, body.deletion_requested),
    ] {
        if let Some(reported) = reported {
            *slot = earlier(*slot, reported);
        }
    }
    if let Some(ended) = body.ended {
        pod.ended = later(pod.ended, ended);
    }
    if let Some(at) = version.at {
        pod.see(at.lo, at.hi);
        if body.deletion_requested.is_none() && !version.deleted {
            pod.unasked = pod.unasked.max(Some(at.lo));
        }
        if version.deleted {
            pod.gone = earlier(pod.gone, last_seen(version).unwrap_or(at));
        }
    }
    if let Some(node) = &body.node {
        pod.node = symbols.number(node);
    }
    if body.phase.is_some() && !older {
        pod.phase.clone_from(&body.phase);
    }
    if owner.is_some() && !less {
        pod.owner = owner;
    }
    pod.rank = body.rank().or(pod.rank);
    if body.phase.is_some() && !older {
        pod.waits.clone_from(&body.waits);
    }
    if less {
        return;
    }
    // A dump that holds only a status must not hide what an earlier version asked for.
    if !body.containers.is_empty() || pod.body.is_none() {
        pod.body = Some(std::sync::Arc::clone(body));
    }
}
