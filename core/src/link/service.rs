//! What was done to a Service touches the pods that look for others by its name.

use std::collections::BTreeSet;

use crate::graph::{EntityGraph, Fact, Task};

/// The dependency of which a signal tells that a name could not be resolved.
const NAMES: &str = "name resolution";

/// Those of some facts about Services that are about one of the pod's namespace whose name is that of a workload above it, as
/// those are called that give the pods of a workload their names, or stands in a name that its program could not resolve.
/// `own` are the numbers of the facts about the pod.
pub(super) fn about<'g>(
    graph: &'g EntityGraph,
    facts: &[usize],
    pod: &Task,
    own: impl Iterator<Item = &'g usize>,
) -> Vec<usize> {
    let above = graph.owners(pod.owner).map(|(_, one)| graph.name(one.name));
    let mut names: BTreeSet<String> = above.map(str::to_owned).collect();
    for fact in own.filter_map(|number| graph.facts.get(*number)) {
        names.extend(looked_for(graph, fact).into_iter().flatten());
    }
    let is_about = |number: &&usize| {
        let fact = graph.facts.get(**number);
        let row = fact.and_then(|fact| graph.evidence.rows().get(fact.row));
        row.is_some_and(|row| {
            row.namespace == pod.namespace && names.contains(graph.name(row.workload))
        })
    };
    facts.iter().filter(is_about).copied().collect()
}

/// What may be the name of a Service in the name of a host that did not resolve: `run`, `run.lab.svc`, `run-0.run`.
fn looked_for(graph: &EntityGraph, fact: &Fact) -> Option<[String; 2]> {
    let shared = graph.traits.shared(graph.name(fact.signal))?;
    if &*shared.what != NAMES {
        return None;
    }
    let event = graph.evidence.event(fact.row).ok()?;
    let mut labels = event.attribute("target")?.split(['.', ':']);
    let mut label = || labels.next().unwrap_or_default().to_owned();
    Some([label(), label()])
}
