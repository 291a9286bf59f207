//! What a machine's own tools wrote without naming it, in a file that was put under its name:
//! `gpu-r01-n03/ipmi-sel.txt`.

use std::collections::HashSet;

use whathappened_model::event::SourceKind;

use super::fact::{Fact, NO};
use super::task::Task;
use crate::evidence::Evidence;
use crate::symbols::{Symbol, SymbolTable};

/// Gives facts of machines' logs that name no machine to the known node whose name a folder on
/// the way to their file bears, the innermost first.
pub(super) fn claim(evidence: &Evidence, pods: &[Task], facts: &mut [Fact]) {
    let of_pods = pods.iter().flat_map(Task::machines);
    let of_facts = facts.iter().map(|fact| fact.node);
    let nodes: HashSet<Symbol> = of_pods
        .chain(of_facts)
        .filter(|node| node.is_some())
        .collect();
    let is_of_nobody = |fact: &&mut Fact| {
        fact.source_kind == SourceKind::NodeLog
            && !fact.node.is_some()
            && !fact.instance.is_some()
            && fact.pod == NO
            && fact.workload == NO
    };
    for fact in facts.iter_mut().filter(is_of_nobody) {
        let Some(row) = evidence.rows().get(fact.row as usize) else {
            continue;
        };
        let path = evidence.symbols.name(row.file());
        if let Some(node) = of(path, &evidence.symbols, &nodes) {
            fact.node = node;
        }
    }
}

/// The machine whose name a folder on the way to a file bears, the innermost first.
pub(super) fn of(path: &str, symbols: &SymbolTable, nodes: &HashSet<Symbol>) -> Option<Symbol> {
    // The file's own name says what it is, not of what.
    path.rsplit(['/', '\\', '!'])
        .skip(1)
        .filter_map(|folder| symbols.find(folder))
        .find(|folder| nodes.contains(folder))
}

/// The machines whose own logs name them.
pub(super) fn named_by_their_logs(evidence: &Evidence) -> HashSet<Symbol> {
    let of_machines = evidence
        .rows()
        .iter()
        .filter(|row| row.source_kind() == SourceKind::NodeLog && row.node.is_some());
    of_machines.map(|row| row.node).collect()
}
