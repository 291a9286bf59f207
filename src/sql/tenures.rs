//! The table `tenures`: who was where, and of what, and when.

use std::collections::HashMap;

use whathappened_connectors::time::{Nanos, Stamp};
use whathappened_core::resolve::{Root, Run};
use whathappened_core::world::{NO, Pod, World};
use whathappened_store::Entity;

use super::cell::Cell::{Text, Time};
use super::cell::{Column, told};
use super::kept::Kept;
use super::machines;
use super::runs::over;
use super::shared::Shared;
use crate::case::Case;
use crate::error::Error;

/// One end of a tenure: kind, name and uid.
#[derive(Clone, Default)]
pub(super) struct Named {
    pub(super) kind: String,
    pub(super) name: String,
    pub(super) uid: String,
}

/// A child was of a parent, from when to when.
pub(super) struct Tenure {
    pub(super) child: Named,
    pub(super) parent: Named,
    pub(super) namespace: String,
    pub(super) start: Option<Nanos>,
    pub(super) end: Option<Nanos>,
    pub(super) evidence: String,
}

impl Named {
    pub(super) fn new(kind: &str, name: &str, uid: &str) -> Self {
        Self {
            kind: kind.to_owned(),
            name: name.to_owned(),
            uid: uid.to_owned(),
        }
    }
}

/// All tenures: of runs, attempts, workloads, pods, then nodes.
pub(super) fn rows(shared: &Shared) -> Box<dyn Iterator<Item = Tenure> + '_> {
    let case = &*shared.case;
    let of_runs = case.runs.iter().flat_map(|run| of_run(case, run));
    let numbers = 0..u32::try_from(case.world.workloads.len()).unwrap_or(NO);
    let of_workloads = numbers.filter_map(|number| of_workload(&case.world, number));
    let of_pods = case
        .world
        .pods
        .iter()
        .flat_map(|pod| of_pod(&case.world, pod));
    Box::new(
        of_runs
            .chain(of_workloads)
            .chain(of_pods)
            .chain(machines::rows(&case.world.evidence.objects)),
    )
}

/// Those that the store's catalogue knows: of pods and workloads their owners,
/// of pods their nodes.
pub(super) fn kept(kept: &Kept) -> Result<Vec<Tenure>, Error> {
    let entities = kept.look(|snapshot| Ok(snapshot.entities()?))?;
    let by_identity: HashMap<String, &Entity> =
        entities.iter().map(|one| (one.identity(), one)).collect();
    let mut found = Vec::new();
    for one in &entities {
        let mut add = |parent: Named, evidence: &str| {
            found.push(Tenure {
                child: Named::new(&one.kind, &one.name, &one.uid),
                parent,
                namespace: one.namespace.clone(),
                start: (one.first <= one.last).then_some(one.first),
                end: None,
                evidence: evidence.to_owned(),
            });
        };
        if let Some(owner) = by_identity.get(&one.owner) {
            add(
                Named::new(&owner.kind, &owner.name, &owner.uid),
                "owner reference",
            );
        }
        if !one.node.is_empty() {
            add(
                Named::new("Node", &one.node, ""),
                "node name in its records",
            );
        }
    }
    Ok(found)
}

/// A run in its experiment, its attempts, their pods, its root object.
fn of_run(case: &Case, run: &Run) -> Vec<Tenure> {
    let world = &case.world;
    let (uid, kind, namespace, name) = run.names(world);
    let id = run.id(world);
    let itself = Named::new("run", name, &id);
    let (label, evidence) = run.experiment(world);
    let (start, end) = (run.begin, over(case, &run.pods));
    let tenure = |child: Named, parent: Named, start, end, evidence: &str| Tenure {
        child,
        parent,
        namespace: namespace.to_owned(),
        start,
        end,
        evidence: evidence.to_owned(),
    };
    let mut found = vec![tenure(
        itself.clone(),
        Named::new("experiment", &label, ""),
        start,
        end,
        &evidence,
    )];
    if let Root::Workload(_) = run.root {
        found.push(tenure(
            Named::new(kind, name, uid),
            itself.clone(),
            start,
            end,
            "root of the owner chain",
        ));
    }
    for (index, attempt) in run.attempts.iter().enumerate() {
        let number = index + 1;
        let generation = Named::new(
            "attempt",
            &format!("{name}#{number}"),
            &format!("{id}#{number}"),
        );
        let pods = || {
            attempt
                .pods
                .iter()
                .filter_map(|pod| world.pods.get(*pod as usize))
        };
        let begin = pods().filter_map(Pod::begin).min();
        found.push(tenure(
            generation.clone(),
            itself.clone(),
            begin,
            over(case, &attempt.pods),
            "generation of the gang",
        ));
        for pod in pods() {
            found.push(tenure(
                of(world, pod),
                generation.clone(),
                pod.begin(),
                end_of(pod),
                "generation of the gang",
            ));
        }
    }
    found
}

fn of(world: &World, pod: &Pod) -> Named {
    Named::new("Pod", world.name(pod.name), world.name(pod.uid))
}

fn workload(world: &World, number: u32) -> Option<Named> {
    let one = world.workloads.get(number as usize)?;
    Some(Named::new(
        world.name(one.kind),
        world.name(one.name),
        world.name(one.uid),
    ))
}

/// A workload that another one owns.
fn of_workload(world: &World, number: u32) -> Option<Tenure> {
    let one = world.workloads.get(number as usize)?;
    Some(Tenure {
        child: workload(world, number)?,
        parent: workload(world, one.owner)?,
        namespace: world.name(one.namespace).to_owned(),
        start: lo(one.created),
        end: hi(one.gone),
        evidence: "owner reference".to_owned(),
    })
}

/// A pod of its owner, and on its node.
fn of_pod(world: &World, pod: &Pod) -> Vec<Tenure> {
    let tenure = |parent, start, evidence: &str| Tenure {
        child: of(world, pod),
        parent,
        namespace: world.name(pod.namespace).to_owned(),
        start,
        end: end_of(pod),
        evidence: evidence.to_owned(),
    };
    let owner =
        workload(world, pod.owner).map(|owner| tenure(owner, pod.begin(), "owner reference"));
    let node = pod.node.is_some().then(|| {
        let (start, evidence) = match pod.bound {
            Some(bound) => (lo(Some(bound)), "binding"),
            None => (lo(pod.started.or(pod.created)), "node name in its records"),
        };
        tenure(
            Named::new("Node", world.name(pod.node), ""),
            start,
            evidence,
        )
    });
    owner.into_iter().chain(node).collect()
}

/// First instant at which a pod no longer was: its containers', else the object's end.
fn end_of(pod: &Pod) -> Option<Nanos> {
    hi(pod.ended.or(pod.gone))
}

pub(super) fn lo(stamp: Option<Stamp>) -> Option<Nanos> {
    stamp.and_then(told).map(|stamp| stamp.lo)
}

pub(super) fn hi(stamp: Option<Stamp>) -> Option<Nanos> {
    stamp.and_then(told).map(|stamp| stamp.hi)
}

/// All columns, in order.
pub(super) const COLUMNS: &[Column<Tenure>] = &[
    Column::new(
        "child_kind",
        Text(|row| Some(&row.child.kind)),
        "run, attempt, or an object's kind: Pod, Job, Node, …",
    ),
    Column::new(
        "child",
        Text(|row| Some(&row.child.name)),
        "name of the child",
    ),
    Column::new(
        "child_uid",
        Text(|row| Some(&row.child.uid)),
        "uid of the child; the run_id of a run, with #number for an attempt",
    ),
    Column::new(
        "parent_kind",
        Text(|row| Some(&row.parent.kind)),
        "experiment, run, attempt, an object's kind, instance, zone or node_pool",
    ),
    Column::new(
        "parent",
        Text(|row| Some(&row.parent.name)),
        "name of the parent",
    ),
    Column::new(
        "parent_uid",
        Text(|row| Some(&row.parent.uid)),
        "uid of the parent; the provider id of an instance",
    ),
    Column::new(
        "namespace",
        Text(|row| Some(&row.namespace)),
        "namespace of the child",
    ),
    Column::new(
        "start",
        Time(|row| row.start),
        "since when: a pod is on its node from its binding",
    ),
    Column::new(
        "end",
        Time(|row| row.end),
        "first instant at which it no longer was; NULL while it may be",
    ),
    Column::new("evidence", Text(|row| Some(&row.evidence)), "what says so"),
];
