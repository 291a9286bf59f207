//! The one order in which tasks, workloads and facts stand, by their content.

use super::{EntityGraph, Exit, NO, Task, Workload};
use crate::symbols::Symbol;

/// Sorts by content and renumbers, so that nothing shows in what order records came.
pub(super) fn put_in_order(graph: &mut EntityGraph) {
    let symbols = &graph.evidence.symbols;
    for pod in &mut graph.pods {
        pod.exits.sort_by(|a, b| {
            let key = |exit: &Exit| {
                (
                    exit.time,
                    symbols.name(exit.container),
                    exit.exit_code,
                    symbols.name(exit.reason),
                )
            };
            key(a).cmp(&key(b))
        });
        pod.exits.dedup();
        pod.starts.sort_unstable();
        pod.starts.dedup();
        pod.kills.sort_unstable();
        pod.kills.dedup();
    }
    let pod_key = |pod: &Task| {
        (
            symbols.name(pod.namespace),
            symbols.name(pod.name),
            pod.begin(),
            symbols.name(pod.uid),
        )
    };
    let workload_key = |one: &Workload| {
        (
            symbols.name(one.namespace),
            symbols.name(one.kind),
            symbols.name(one.name),
            one.created,
            symbols.name(one.uid),
        )
    };
    let pod_order = order(&graph.pods, |a, b| pod_key(a).cmp(&pod_key(b)));
    let workload_order = order(&graph.workloads, |a, b| {
        workload_key(a).cmp(&workload_key(b))
    });
    let renumber = |order: &[u32], number: u32| order.get(number as usize).copied().unwrap_or(NO);
    place(&mut graph.pods, &pod_order);
    place(&mut graph.workloads, &workload_order);
    for pod in &mut graph.pods {
        pod.owner = renumber(&workload_order, pod.owner);
        pod.root = renumber(&workload_order, pod.root);
    }
    for workload in &mut graph.workloads {
        workload.owner = renumber(&workload_order, workload.owner);
    }
    for fact in &mut graph.facts {
        fact.pod = renumber(&pod_order, fact.pod);
        fact.other = renumber(&pod_order, fact.other);
        fact.workload = renumber(&workload_order, fact.workload);
    }
    for number in &mut graph.pod_of_row {
        *number = renumber(&pod_order, *number);
    }
    for fact in graph.facts.iter().filter(|fact| fact.workload != NO) {
        let said = graph.said.entry((fact.workload, fact.signal));
        let last = said.or_insert(fact.time.hi);
        *last = fact.time.hi.max(*last);
    }
    let name = |sym: Symbol| symbols.name(sym);
    graph
        .facts
        .sort_by(|a, b| (a.time, name(a.signal), a.id).cmp(&(b.time, name(b.signal), b.id)));
}

/// For each old number its new one.
fn order<T>(items: &[T], compare: impl Fn(&T, &T) -> std::cmp::Ordering) -> Vec<u32> {
    let mut sorted: Vec<usize> = (0..items.len()).collect();
    sorted.sort_by(|a, b| compare(&items[*a], &items[*b]));
    let mut order = vec![NO; items.len()];
    for (new, old) in sorted.into_iter().enumerate() {
        order[old] = u32::try_from(new).unwrap_or(NO);
    }
    order
}

/// Moves each item to its number, where it is: a copy of all tasks beside them is what would
/// take the most memory of a case.
fn place<T>(items: &mut [T], order: &[u32]) {
    let mut to: Vec<usize> = order.iter().map(|number| *number as usize).collect();
    if to.len() != items.len() {
        return;
    }
    for at in 0..to.len() {
        // Each swap brings one item to its place, so that there are no more of them than items.
        while let Some(target) = to
            .get(at)
            .copied()
            .filter(|target| *target != at && *target < to.len())
        {
            items.swap(at, target);
            to.swap(at, target);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::place;

    #[test]
    fn items_are_put_in_order_where_they_are() {
        // Every order of five.
        let mut orders: Vec<Vec<u32>> = vec![Vec::new()];
        for number in 0..5 {
            orders = orders
                .iter()
                .flat_map(|order| {
                    (0..=order.len()).map(move |at| {
                        let mut more = order.clone();
                        more.insert(at, number);
                        more
                    })
                })
                .collect();
        }
        assert_eq!(orders.len(), 120);
        for order in orders {
            let mut items: Vec<String> =
                order.iter().map(|number| format!("to {number}")).collect();
            place(&mut items, &order);
            assert_eq!(items, ["to 0", "to 1", "to 2", "to 3", "to 4"], "{order:?}");
        }
    }
}
