//! Which run of those that a name means leads the answer.
//!
//! Of generations of one thing the newest does: the older ones are past. Of several
//! things that share a label or a namespace the one that is broken does, however many
//! healthy ones were made after it.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use whathappened_core::death::RunState;
use whathappened_core::graph::EntityGraph;
use whathappened_core::resolve::{BY_ARRAY, NameMatch, Run};
use whathappened_model::time::Nanos;

use crate::case::Case;
use crate::explain::Verdict;
use crate::explain::candidate::Candidate;
use crate::explain::gang::Finding;

/// The runs of a name, the leading one first.
pub(super) fn in_order(case: &Case, verdict: &Verdict, matched: &NameMatch) -> Vec<usize> {
    let graph = &case.graph;
    let mut order = matched.runs.clone();
    let run = |number: &usize| case.runs.get(*number);
    // What only Events and lines still know is past where something else is there.
    order.sort_by_key(|number| {
        let run = run(number);
        (
            run.is_none_or(|run| !is_there(graph, run)),
            Reverse(run.and_then(|run| run.begin)),
            Reverse(*number),
        )
    });
    let Some(newest) = order.first().copied() else {
        return order;
    };
    let named = |number: &usize| {
        run(number).map(|run| {
            let (_, kind, namespace, name) = run.names(graph);
            (kind, namespace, name)
        })
    };
    let mut seen = BTreeSet::new();
    let latest: BTreeSet<usize> = order
        .iter()
        .copied()
        // The tasks of an array are no generations of each other.
        .filter(|number| seen.insert(named(number)) || matched.how == BY_ARRAY)
        .collect();
    if latest.len() < 2 {
        return order;
    }
    let broken = |number: &usize| {
        let mut own = verdict.findings.iter().filter(|one| one.run == *number);
        own.any(|finding| !finding.recovered && !made_way(graph, finding))
    };
    // A run of an experiment that began when another had ended, and came through, makes it good.
    let generations = matched.how.starts_with("label experiment")
        || matched.how.starts_with("label run")
        || matched.how.starts_with("annotation");
    let begin = run(&newest).and_then(|run| run.begin);
    let completed = verdict.states.contains(&(newest, RunState::Completed));
    let is_past = |number: &usize| {
        let over = last_end(case, *number);
        let before = matches!((over, begin), (Some(over), Some(begin)) if over <= begin);
        generations && completed && before
    };
    order.sort_by_key(|number| {
        let leads = latest.contains(number) && broken(number) && !is_past(number);
        (!leads, !latest.contains(number))
    });
    order
}

/// Whether a run was ended for the next one of its cron job (`concurrencyPolicy: Replace`), as was meant.
fn made_way(graph: &EntityGraph, finding: &Finding) -> bool {
    let root = finding.candidate.as_ref().map(Candidate::root);
    let root = root.and_then(|root| graph.facts.get(root));
    root.is_some_and(|root| {
        graph.name(root.signal) == "k8s.workload.deleted_by_controller"
            && graph.name(root.actor).ends_with(":cronjob-controller")
    })
}

/// Whether an object of the run was seen, and not that it was gone.
fn is_there(graph: &EntityGraph, run: &Run) -> bool {
    let mut pods = run
        .pods
        .iter()
        .filter_map(|pod| graph.pods.get(*pod as usize));
    let root = match run.root {
        whathappened_core::resolve::Root::Workload(root) => graph.workloads.get(root as usize),
        whathappened_core::resolve::Root::Pod(_) => None,
    };
    root.is_some_and(|root| root.body.is_some())
        || pods.any(|pod| pod.body.is_some() || pod.kind != whathappened_core::graph::TaskKind::Pod)
}

/// When the last of its pods had ended, if all have.
fn last_end(case: &Case, number: usize) -> Option<Nanos> {
    let run = case.runs.get(number)?;
    let ends = run
        .pods
        .iter()
        .map(|pod| Some(case.ends.get(*pod as usize)?.final_time()?.lo));
    let ends: Option<Vec<Nanos>> = ends.collect();
    ends?.into_iter().max()
}
