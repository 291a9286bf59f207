//! Which runs a name means. The first tier that matches wins; tiers are never united.

use std::collections::BTreeSet;

use super::name::Name;
use super::run::Run;
use super::tier::{LABELS, TierMatch, tiers};
use crate::graph::{EntityGraph, Root, TaskRow, Workload, WorkloadRow};

/// What a name means.
#[derive(Clone, Debug, Default)]
pub struct NameMatch {
    /// How it matched, in words; empty where it did not.
    pub how: String,
    /// Numbers of the runs, newest first.
    pub runs: Vec<usize>,
    /// Pods that were asked for by name, where only they were.
    pub pods: Vec<TaskRow>,
    /// Runs of the same name elsewhere that were not taken.
    pub others: Vec<OtherRun>,
    /// The nearest names, where nothing matched.
    pub nearest: Vec<String>,
}

/// A run that bears the name as well.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OtherRun {
    /// Its kind.
    pub kind: String,
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

/// Resolves a name over all runs.
#[must_use]
pub fn resolve(graph: &EntityGraph, runs: &[Run], name: &Name) -> NameMatch {
    if name.is_everything() {
        let all = (0..runs.len()).rev().collect();
        return NameMatch {
            how: "everything".to_owned(),
            runs: all,
            ..NameMatch::default()
        };
    }
    // The word before a name is its kind; where nothing of that kind has the name, its namespace.
    let found = first_with_runs(graph, runs, name)
        .or_else(|| first_with_runs(graph, runs, &name.in_namespace()?));
    let Some((found, taken)) = found else {
        return NameMatch {
            nearest: nearest(graph, name),
            ..NameMatch::default()
        };
    };
    let pods = if found.only_pods {
        found.pods.into_iter().collect()
    } else {
        Vec::new()
    };
    let (runs_taken, others) = one_place(graph, runs, taken, name);
    NameMatch {
        how: found.how,
        runs: runs_taken,
        pods,
        others,
        nearest: Vec::new(),
    }
}

/// The first tier in which a run bears the name, and those runs, newest first: an object that has none any more, as a
/// `CronJob` whose Jobs are gone, hides nothing of what is left of them.
fn first_with_runs(
    graph: &EntityGraph,
    runs: &[Run],
    name: &Name,
) -> Option<(TierMatch, Vec<usize>)> {
    tiers(graph, name)
        .map(|found| {
            let taken = runs_of(graph, runs, &found);
            (found, taken)
        })
        .find(|(_, taken)| !taken.is_empty())
}

/// The runs that are of what a tier found, newest first.
fn runs_of(graph: &EntityGraph, runs: &[Run], found: &TierMatch) -> Vec<usize> {
    let mut taken: Vec<usize> = Vec::new();
    for (number, run) in runs.iter().enumerate() {
        let by_pod = run.pods.iter().any(|pod| found.pods.contains(pod));
        let by_workload = match run.root {
            Root::Workload(root) => {
                found.workloads.contains(&root)
                    || run
                        .pods
                        .iter()
                        .any(|pod| chain(graph, *pod).any(|owner| found.workloads.contains(&owner)))
                    || found.workloads.iter().any(|one| top(graph, *one) == root)
            }
            Root::Pod(_) => false,
        };
        if by_pod || by_workload {
            taken.push(number);
        }
    }
    taken.reverse();
    taken
}

/// A name in several namespaces is listed, not merged: the newest run's place is taken.
/// Records that leave the namespace out are of that place, too: of one job some do.
fn one_place(
    graph: &EntityGraph,
    runs: &[Run],
    taken: Vec<usize>,
    name: &Name,
) -> (Vec<usize>, Vec<OtherRun>) {
    let many = name.name.contains('*') || name.kind.as_deref() == Some("Namespace");
    let place = |number: &usize| runs.get(*number).map_or("", |run| run.names(graph).2);
    let mut places = taken.iter().map(place);
    let first = places.find(|place| !place.is_empty()).unwrap_or_default();
    if many || taken.is_empty() {
        return (taken, Vec::new());
    }
    let named = |number: &usize| {
        let names = runs.get(*number).map(|run| run.names(graph));
        names.map(|(_, kind, _, name)| (kind, name))
    };
    let is_twin = |number: &usize| {
        let mut others = taken.iter().filter(|other| !place(other).is_empty());
        place(number).is_empty() && others.any(|other| named(other) == named(number))
    };
    let own = taken.iter().filter(|number| !is_twin(number));
    let (here, elsewhere): (Vec<usize>, Vec<usize>) =
        own.partition(|number| [first, ""].contains(&place(number)));
    let mut others: Vec<OtherRun> = elsewhere
        .iter()
        .filter_map(|number| runs.get(*number))
        .map(|run| {
            let (_, kind, namespace, name) = run.names(graph);
            OtherRun {
                kind: kind.to_owned(),
                namespace: namespace.to_owned(),
                name: name.to_owned(),
            }
        })
        .collect();
    others.sort();
    others.dedup();
    (here, others)
}

pub(super) fn chain(graph: &EntityGraph, pod: TaskRow) -> impl Iterator<Item = WorkloadRow> + '_ {
    let first = graph.pods.get(pod).and_then(|pod| pod.owner);
    graph.owners(first).map(|(number, _)| number)
}

fn top(graph: &EntityGraph, workload: WorkloadRow) -> WorkloadRow {
    let up = |number: &WorkloadRow| {
        let owner = graph.workloads.get(*number)?.owner?;
        let above = graph.workloads.get(owner)?;
        (graph.name(above.kind) != "CronJob").then_some(owner)
    };
    std::iter::successors(Some(workload), up)
        .take(16)
        .last()
        .unwrap_or(workload)
}

/// Up to five names that are nearest to what was typed.
fn nearest(graph: &EntityGraph, name: &Name) -> Vec<String> {
    // The name is right, and the kind or the namespace before it is not.
    let same = graph.workloads.iter().filter(|one| {
        name.kind.is_some() && one.body.is_some() && graph.name(one.name) == name.name
    });
    let whole = |one: &Workload| match (graph.name(one.kind), graph.name(one.namespace)) {
        (kind, "") => format!("{}/{}", kind.to_lowercase(), name.name),
        (kind, namespace) => format!("{}/{namespace}/{}", kind.to_lowercase(), name.name),
    };
    let mut same: Vec<String> = same.map(whole).collect();
    same.sort();
    same.dedup();
    if !same.is_empty() {
        same.truncate(5);
        return same;
    }
    let mut known: BTreeSet<String> = graph
        .workloads
        .iter()
        .map(|one| graph.name(one.name).to_owned())
        .collect();
    known.extend(graph.pods.iter().map(|pod| graph.name(pod.name).to_owned()));
    for body in graph.pods.iter().filter_map(|pod| pod.body.as_ref()) {
        known.extend(
            LABELS
                .iter()
                .filter_map(|key| body.labels.get(*key).cloned()),
        );
    }
    rank_names(&name.name, known)
}

/// The up to five of some names that are nearest to what was typed, nearest first.
#[must_use]
pub fn rank_names(typed: &str, known: impl IntoIterator<Item = String>) -> Vec<String> {
    let typed = typed.to_lowercase();
    let mut ranked: Vec<(u64, String)> = known
        .into_iter()
        .filter(|one| !one.is_empty())
        .filter_map(|one| {
            let lower = one.to_lowercase();
            // Who typed it exactly did not mean it.
            if lower == typed {
                return None;
            }
            let inside = lower.contains(&typed) || (lower.len() > 3 && typed.contains(&lower));
            let likeness = strsim::jaro_winkler(&typed, &lower) + if inside { 0.5 } else { 0.0 };
            // Whole thousandths, so that the order does not hang on the last bit.
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "between 0 and 1500"
            )]
            let rank = (likeness * 1000.0) as u64;
            (rank >= 700).then_some((1_500 - rank, one))
        })
        .collect();
    ranked.sort();
    ranked.dedup();
    ranked.into_iter().take(5).map(|(_, one)| one).collect()
}
