//! Logs whose zone was found out: by when their containers ran, or by what the kernel wrote of the same thing.

use std::collections::{BTreeMap, BTreeSet};

use whathappened_core::graph::{EntityGraph, TaskKind, TaskRow};
use whathappened_core::resolve::Run;
use whathappened_model::table::HasRow as _;
use whathappened_model::time::{Nanos, SECOND};

/// A note for each zone that logs of some runs were taken to be in.
pub(super) fn notes<'a>(graph: &EntityGraph, runs: impl Iterator<Item = &'a Run>) -> Vec<String> {
    if graph.zones.is_empty() {
        return Vec::new();
    }
    let pods: BTreeSet<TaskRow> = runs.flat_map(|run| run.pods.iter().copied()).collect();
    let mut names: BTreeMap<(Nanos, bool), BTreeSet<&str>> = BTreeMap::new();
    for (row, pod) in graph.evidence.rows().iter().zip(&graph.pod_of_row) {
        if let Some(by) = graph.zones.get(&row.file()).filter(|_| pods.has(*pod))
            && let Some(pod) = graph.pods.get(*pod)
        {
            let of_slurm = pod.kind == TaskKind::Job;
            let names = names.entry((*by, of_slurm)).or_default();
            names.insert(graph.name(pod.name));
        }
    }
    names
        .into_iter()
        .map(|((by, of_slurm), pods)| note(by, of_slurm, &pods))
        .collect()
}

fn note(by: Nanos, of_slurm: bool, pods: &BTreeSet<&str>) -> String {
    let minutes = by.saturating_neg() / (60 * SECOND);
    let sign = if minutes < 0 { '-' } else { '+' };
    let zone = format!(
        "UTC{sign}{:02}:{:02}",
        minutes.abs() / 60,
        minutes.abs() % 60
    );
    if of_slurm {
        return format!(
            "Slurm's records name no time zone; read as {zone}, in which they fit what the machines' own logs say."
        );
    }
    let first = pods.first().copied().unwrap_or_default();
    let whose = match pods.len() {
        0 | 1 => format!("The log of {first} names"),
        many => format!("The logs of {first} and {} more name", many - 1),
    };
    format!(
        "{whose} no time zone; read as {zone}, in which it fits the time that the container ran."
    )
}
