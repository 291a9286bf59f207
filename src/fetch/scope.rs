//! What sources are asked about: the pods of a run, when they were there and
//! when they died.

use std::collections::{BTreeMap, BTreeSet};

use whathappened_core::death::deaths;
use whathappened_core::graph::TaskKind;
use whathappened_core::resolve::{Name, Root, Run, resolve};
use whathappened_model::connector::{Entity, Scope, Window};
use whathappened_model::time::{Nanos, SECOND};

use crate::case::Case;

/// What is said somewhat before and after a pod was there is of interest, too.
const MARGIN: Nanos = 120 * SECOND;

/// Of several things of a name, such as those in a namespace, the logs of so many are read, the newest
/// first.
const MOST_THINGS: usize = 24;

/// The runs of a name that are looked at: of generations of one thing the newest.
fn chosen(case: &Case, name: &Name) -> Vec<usize> {
    let mut seen = BTreeSet::new();
    let mut runs = resolve(&case.graph, &case.runs, name).runs;
    runs.retain(|number| {
        let run = case.runs.get(*number);
        run.is_some_and(|run| {
            let (_, kind, namespace, name) = run.names(&case.graph);
            seen.insert((kind, namespace, name))
        })
    });
    runs.truncate(MOST_THINGS);
    runs
}

/// The newest runs of a name: their pods in the order they died, their nodes, and
/// the time to look at. `None` where nothing bears the name.
pub(super) fn scope(case: &Case, name: &Name, now: Nanos) -> Option<(Scope, Window)> {
    let numbers = chosen(case, name);
    let graph = &case.graph;
    let runs: Vec<&Run> = numbers
        .iter()
        .filter_map(|one| case.runs.get(*one))
        .collect();
    let newest = runs.first()?;
    let found = deaths(graph, &case.runs, &numbers, &case.ends);
    let text = |sym| Some(graph.name(sym).to_owned()).filter(|text| !text.is_empty());
    let mut scope = Scope {
        experiments: runs.iter().map(|run| run.experiment(graph).0).collect(),
        workloads: runs.iter().filter_map(|run| workload(case, run)).collect(),
        ..Scope::default()
    };
    let mut named = BTreeSet::new();
    scope.experiments.retain(|one| named.insert(one.clone()));
    let providers = providers(case);
    for number in runs.iter().flat_map(|run| &run.pods) {
        let Some(pod) = graph.pods.get(*number) else {
            continue;
        };
        let ended = case
            .ends
            .get(*number)
            .and_then(whathappened_core::lifecycle::End::final_time)
            .map(|time| time.hi)
            .filter(|time| *time != Nanos::MAX);
        let window = Window {
            from: pod.begin().map(|begin| begin.saturating_sub(MARGIN)),
            to: Some(ended.map_or(now, |ended| ended.saturating_add(MARGIN))),
        };
        let mut moments: Vec<Nanos> = found
            .iter()
            .filter(|death| death.pod == Some(*number) && death.time.lo != Nanos::MIN)
            .map(|death| death.time.lo)
            .collect();
        moments.sort_unstable();
        moments.dedup();
        if let Some(node) = text(pod.node) {
            scope.nodes.push(Entity {
                uid: providers.get(node.as_str()).map(|id| (*id).to_owned()),
                name: node,
                window,
                moments: moments.clone(),
                ..Entity::default()
            });
        }
        let member = Entity {
            namespace: text(pod.namespace),
            name: graph.name(pod.name).to_owned(),
            uid: text(pod.uid),
            window,
            moments,
        };
        match pod.kind {
            TaskKind::Instance => scope.instances.push(member),
            TaskKind::Pod | TaskKind::Job => scope.pods.push(member),
            // No source knows it by this name.
            TaskKind::Log => {}
        }
    }
    let members = || scope.pods.iter().chain(&scope.instances);
    let from = members().filter_map(|pod| pod.window.from).min();
    let to = members().filter_map(|pod| pod.window.to).max();
    let from = from.or(newest.begin.map(|begin| begin.saturating_sub(MARGIN)));
    Some((
        scope,
        Window {
            from,
            to: to.or(Some(now)),
        },
    ))
}

/// What is asked about a machine that bears a name.
pub(super) fn machine(name: &Name) -> Scope {
    let one = Entity {
        name: name.name.clone(),
        ..Entity::default()
    };
    Scope {
        instances: vec![Entity {
            uid: Some(name.name.clone()),
            ..one.clone()
        }],
        nodes: vec![one],
        ..Scope::default()
    }
}

/// What each node's object says of the machine under it, by the node's name.
fn providers(case: &Case) -> BTreeMap<&str, &str> {
    let objects = case.graph.evidence.objects.iter();
    let nodes = objects.filter(|(key, _)| key.kind == "Node");
    nodes
        .filter_map(|(key, versions)| {
            let reported = versions.iter().rev();
            let id = reported
                .filter_map(|version| version.body.provider_id.as_deref())
                .next()?;
            Some((key.name.as_str(), id))
        })
        .collect()
}

fn workload(case: &Case, run: &Run) -> Option<(String, Entity)> {
    if !matches!(run.root, Root::Workload(_)) {
        return None;
    }
    let (uid, kind, namespace, name) = run.names(&case.graph);
    let text = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    let entity = Entity {
        namespace: text(namespace),
        name: name.to_owned(),
        uid: text(uid),
        ..Entity::default()
    };
    Some((kind.to_owned(), entity))
}
