//! Machines that bear one name at one time: two clusters were read together, and a record that gives no
//! more than the name may be of either.

use std::collections::{BTreeMap, HashSet};

use whathappened_core::graph::EntityGraph;
use whathappened_core::symbols::Symbol;
use whathappened_model::time::{Nanos, Stamp};

/// Names that two nodes bore while both were there.
pub(super) fn namesakes(graph: &EntityGraph) -> HashSet<Symbol> {
    let mut lives: BTreeMap<&str, Vec<(Nanos, Nanos)>> = BTreeMap::new();
    for (key, versions) in graph.evidence.objects.iter() {
        // What was printed has no uid, and is of a node that may be known from its object as well.
        if key.kind != "Node" || key.uid.is_empty() {
            continue;
        }
        let made = versions.iter().filter_map(|one| one.body.created).min();
        let seen = versions.iter().filter_map(|one| one.at);
        let seen = seen.filter(|at| *at != Stamp::OPEN).map(|at| at.lo).max();
        if let (Some(made), Some(seen)) = (made, seen) {
            lives.entry(&key.name).or_default().push((made.hi, seen));
        }
    }
    let meet = |lives: &mut Vec<(Nanos, Nanos)>| {
        lives.sort_unstable();
        lives.windows(2).any(|two| two[1].0 < two[0].1)
    };
    let both = lives
        .into_iter()
        .filter_map(|(name, mut lives)| meet(&mut lives).then_some(name));
    both.filter_map(|name| graph.evidence.symbols.find(name))
        .collect()
}
