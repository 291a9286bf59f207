//! The one order in which tasks, workloads and facts stand, by their content.

use whathappened_model::table::{RowNumber, Table};

use super::{EntityGraph, Exit, Task, Workload};
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
    place(&mut graph.pods, &pod_order);
    place(&mut graph.workloads, &workload_order);
    for pod in &mut graph.pods {
        pod.owner = workload_order.get(pod.owner).copied();
        pod.root = workload_order.get(pod.root).copied();
    }
    for workload in &mut graph.workloads {
        workload.owner = workload_order.get(workload.owner).copied();
    }
    for fact in &mut graph.facts {
        fact.pod = pod_order.get(fact.pod).copied();
        fact.other = pod_order.get(fact.other).copied();
        fact.workload = workload_order.get(fact.workload).copied();
    }
    for number in &mut graph.pod_of_row {
        *number = pod_order.get(*number).copied();
    }
    for fact in &graph.facts {
        if let Some(workload) = fact.workload {
            let entry = graph.last_signals.entry((workload, fact.signal));
            let last = entry.or_insert(fact.time.hi);
            *last = fact.time.hi.max(*last);
        }
    }
    let name = |sym: Symbol| symbols.name(sym);
    graph
        .facts
        .sort_by(|a, b| (a.time, name(a.signal), a.id).cmp(&(b.time, name(b.signal), b.id)));
}

/// For each old number its new one.
fn order<T>(
    items: &Table<T>,
    compare: impl Fn(&T, &T) -> std::cmp::Ordering,
) -> Table<T, RowNumber<T>> {
    let mut sorted: Vec<(RowNumber<T>, &T)> = items.numbered().collect();
    sorted.sort_by(|(_, a), (_, b)| compare(a, b));
    let mut order: Table<T, RowNumber<T>> = items.numbers().collect();
    for (new, (old, _)) in items.numbers().zip(sorted) {
        if let Some(slot) = order.get_mut(old) {
            *slot = new;
        }
    }
    order
}

/// Moves each item to its number, where it is: a copy of all tasks beside them is what would
/// take the most memory of a case.
fn place<T>(items: &mut Table<T>, order: &Table<T, RowNumber<T>>) {
    let mut to: Vec<usize> = order.iter().map(|number| number.index()).collect();
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
    use super::*;

    #[test]
    fn items_are_put_in_order_where_they_are() {
        // Every order of five.
        let mut orders: Vec<Vec<RowNumber<String>>> = vec![Vec::new()];
        for number in (0..5).filter_map(RowNumber::at) {
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
            let order = Table::from(order);
            let mut items: Table<String> = order
                .iter()
                .map(|number| format!("to {number:?}"))
                .collect();
            place(&mut items, &order);
            assert_eq!(
                *items,
                ["to 0", "to 1", "to 2", "to 3", "to 4"],
                "{order:?}"
            );
        }
    }
}
