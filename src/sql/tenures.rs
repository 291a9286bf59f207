//! The table `tenures`: who was where, and of what, and when.

use std::collections::{HashMap, HashSet};

use whathappened_core::graph::{EntityGraph, Task, Workload};
use whathappened_core::resolve::{Root as RunRoot, Run};
use whathappened_model::time::{Nanos, Stamp};
use whathappened_store::{Entity, Root};

use super::column::Cell::{Text, Time};
use super::column::{Column, reported};
use super::links::Cases;
use super::machines;
use super::runs::over;
use super::shared_case::SharedCase;
use super::stored::StoredTables;
use crate::case::Case;
use crate::error::Error;
use crate::fetch;

/// One end of a tenure: kind, name and uid.
#[derive(Clone, Default)]
pub(super) struct TenureEntity {
    pub(super) kind: String,
    pub(super) name: String,
    pub(super) uid: String,
}

/// A child was of a parent, from when to when.
pub(super) struct Tenure {
    pub(super) child: TenureEntity,
    pub(super) parent: TenureEntity,
    pub(super) namespace: String,
    pub(super) start: Option<Nanos>,
    pub(super) end: Option<Nanos>,
    pub(super) evidence: String,
}

impl Tenure {
    /// Kind, namespace and name of the child, and its uid.
    fn named(&self) -> ([String; 3], String) {
        let child = &self.child;
        let names = [&child.kind, &self.namespace, &child.name];
        (names.map(String::clone), child.uid.clone())
    }
}

impl TenureEntity {
    pub(super) fn new(kind: &str, name: &str, uid: &str) -> Self {
        Self {
            kind: kind.to_owned(),
            name: name.to_owned(),
            uid: uid.to_owned(),
        }
    }
}

/// All tenures: of runs, attempts, workloads, pods, then nodes.
pub(super) fn rows(shared: &SharedCase) -> Box<dyn Iterator<Item = Tenure> + '_> {
    of_case(&shared.case)
}

fn of_case(case: &Case) -> Box<dyn Iterator<Item = Tenure> + '_> {
    let of_runs = case.runs.iter().flat_map(|run| of_run(case, run));
    let workloads = case.graph.workloads.iter();
    let of_workloads = workloads.filter_map(|one| of_workload(&case.graph, one));
    let of_pods = case
        .graph
        .pods
        .iter()
        .flat_map(|pod| of_pod(&case.graph, pod));
    Box::new(
        of_runs
            .chain(of_workloads)
            .chain(of_pods)
            .chain(machines::rows(&case.graph.evidence.objects)),
    )
}

/// All of the store's last day; of what came before, what the catalogue knows: the runs of
/// experiments, of pods and workloads their owners, of pods their nodes.
pub(super) fn stored(stored: &StoredTables) -> Result<Vec<Tenure>, Error> {
    let case = Cases::case(stored)?;
    let mut found: Vec<Tenure> = of_case(&case).collect();
    let whole: HashSet<_> = found.iter().map(Tenure::named).collect();
    // A record without a uid is of the one that others name with it.
    let named: HashSet<_> = whole.iter().map(|(names, _)| names.clone()).collect();
    let before: Vec<Tenure> = of_catalogue(stored)?
        .into_iter()
        .filter(|one| {
            let (names, uid) = one.named();
            !(uid.is_empty() && named.contains(&names) || whole.contains(&(names, uid)))
        })
        .collect();
    found.extend(before);
    Ok(found)
}

/// What the catalogue alone knows.
fn of_catalogue(stored: &StoredTables) -> Result<Vec<Tenure>, Error> {
    let (entities, roots) = stored.look(|snapshot| {
        let roots = snapshot.roots(Nanos::MIN, Nanos::MAX)?;
        Ok((snapshot.entities()?, roots))
    })?;
    let by_identity: HashMap<String, &Entity> =
        entities.iter().map(|one| (one.identity(), one)).collect();
    let mut found: Vec<Tenure> = roots.iter().flat_map(of_root).collect();
    for one in &entities {
        let mut add = |parent: TenureEntity, evidence: &str| {
            found.push(Tenure {
                child: TenureEntity::new(&one.kind, &one.name, &one.uid),
                parent,
                namespace: one.namespace.clone(),
                start: (one.first <= one.last).then_some(one.first),
                end: None,
                evidence: evidence.to_owned(),
            });
        };
        if let Some(owner) = by_identity.get(&one.owner) {
            add(
                TenureEntity::new(&owner.kind, &owner.name, &owner.uid),
                "owner reference",
            );
        }
        if !one.node.is_empty() {
            add(
                TenureEntity::new("Node", &one.node, ""),
                "node name in its records",
            );
        }
    }
    Ok(found)
}

/// A run of the catalogue in its experiment, and its root object.
fn of_root(root: &Root) -> [Tenure; 2] {
    let itself = TenureEntity::new("run", &root.name, &fetch::run_id(root));
    let label = root.experiment.as_ref().unwrap_or(&root.name);
    let tenure = |child: TenureEntity, parent: TenureEntity, evidence: &str| Tenure {
        child,
        parent,
        namespace: root.namespace.clone(),
        start: (root.first <= root.last).then_some(root.first),
        end: None,
        evidence: evidence.to_owned(),
    };
    [
        tenure(
            itself.clone(),
            TenureEntity::new("experiment", label, ""),
            "label or name of the root object",
        ),
        tenure(
            TenureEntity::new(&root.kind, &root.name, &root.uid),
            itself,
            "root of the owner chain",
        ),
    ]
}

/// A run in its experiment, its attempts, their pods, its root object.
fn of_run(case: &Case, run: &Run) -> Vec<Tenure> {
    let graph = &case.graph;
    let (uid, kind, namespace, name) = run.names(graph);
    let id = run.id(graph);
    let itself = TenureEntity::new("run", name, &id);
    let (label, evidence) = run.experiment(graph);
    let (start, end) = (run.begin, over(case, &run.pods));
    let tenure = |child: TenureEntity, parent: TenureEntity, start, end, evidence: &str| Tenure {
        child,
        parent,
        namespace: namespace.to_owned(),
        start,
        end,
        evidence: evidence.to_owned(),
    };
    let mut found = vec![tenure(
        itself.clone(),
        TenureEntity::new("experiment", &label, ""),
        start,
        end,
        &evidence,
    )];
    if let RunRoot::Workload(_) = run.root {
        found.push(tenure(
            TenureEntity::new(kind, name, uid),
            itself.clone(),
            start,
            end,
            "root of the owner chain",
        ));
    }
    for (index, attempt) in run.attempts.iter().enumerate() {
        let number = index + 1;
        let generation = TenureEntity::new(
            "attempt",
            &format!("{name}#{number}"),
            &format!("{id}#{number}"),
        );
        let pods = || attempt.pods.iter().filter_map(|pod| graph.pods.get(*pod));
        let begin = pods().filter_map(Task::begin).min();
        found.push(tenure(
            generation.clone(),
            itself.clone(),
            begin,
            over(case, &attempt.pods),
            "generation of the gang",
        ));
        for pod in pods() {
            found.push(tenure(
                of(graph, pod),
                generation.clone(),
                pod.begin(),
                end_of(pod),
                "generation of the gang",
            ));
        }
    }
    found
}

fn of(graph: &EntityGraph, pod: &Task) -> TenureEntity {
    TenureEntity::new("Pod", graph.name(pod.name), graph.name(pod.uid))
}

fn workload(graph: &EntityGraph, one: &Workload) -> TenureEntity {
    TenureEntity::new(
        graph.name(one.kind),
        graph.name(one.name),
        graph.name(one.uid),
    )
}

/// A workload that another one owns.
fn of_workload(graph: &EntityGraph, one: &Workload) -> Option<Tenure> {
    Some(Tenure {
        child: workload(graph, one),
        parent: workload(graph, graph.workloads.get(one.owner)?),
        namespace: graph.name(one.namespace).to_owned(),
        start: lo(one.created),
        end: hi(one.gone),
        evidence: "owner reference".to_owned(),
    })
}

/// A pod of its owner, and on its node.
fn of_pod(graph: &EntityGraph, pod: &Task) -> Vec<Tenure> {
    let tenure = |parent, start, evidence: &str| Tenure {
        child: of(graph, pod),
        parent,
        namespace: graph.name(pod.namespace).to_owned(),
        start,
        end: end_of(pod),
        evidence: evidence.to_owned(),
    };
    let owner = graph
        .workloads
        .get(pod.owner)
        .map(|owner| tenure(workload(graph, owner), pod.begin(), "owner reference"));
    let node = pod.node.is_some().then(|| {
        let (start, evidence) = match pod.bound {
            Some(bound) => (lo(Some(bound)), "binding"),
            None => (lo(pod.started.or(pod.created)), "node name in its records"),
        };
        tenure(
            TenureEntity::new("Node", graph.name(pod.node), ""),
            start,
            evidence,
        )
    });
    owner.into_iter().chain(node).collect()
}

/// First instant at which a pod no longer was: its containers', else the object's end.
fn end_of(pod: &Task) -> Option<Nanos> {
    hi(pod.ended.or(pod.gone))
}

pub(super) fn lo(stamp: Option<Stamp>) -> Option<Nanos> {
    stamp.and_then(reported).map(|stamp| stamp.lo)
}

pub(super) fn hi(stamp: Option<Stamp>) -> Option<Nanos> {
    stamp.and_then(reported).map(|stamp| stamp.hi)
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
        "when it ended, exclusive; NULL while it may still last",
    ),
    Column::new("evidence", Text(|row| Some(&row.evidence)), "what says so"),
];
