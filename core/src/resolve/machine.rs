//! Which machine a name means, for questions about a machine instead of a run.

use std::collections::BTreeSet;

use super::name::Name;
use crate::evidence::{EvidenceRow, SpillError};
use crate::graph::{EntityGraph, Fact, Task, TaskKind};
use crate::symbols::Symbol;

/// Kinds under which a machine is asked for.
const MACHINES: [&str; 5] = ["Node", "Instance", "Machine", "Host", "GPU"];

/// Attributes of facts that name a GPU: where it sits on the bus, or its own id.
const GPU: [&str; 3] = ["gpu_pci", "pci", "gpu_uuid"];

/// A machine, or several of one name at different times.
#[derive(Clone, Debug, Default)]
pub struct MachineMatch {
    /// How the name matched, in words.
    pub how: String,
    /// Names of nodes.
    nodes: BTreeSet<Symbol>,
    /// Ids of instances.
    instances: BTreeSet<Symbol>,
    /// Rows of the evidence: what is told of one GPU, or in a file that names no machine.
    rows: BTreeSet<EvidenceRow>,
}

impl MachineMatch {
    /// Whether a fact is about the machine.
    #[must_use]
    pub fn holds(&self, graph: &EntityGraph, fact: &Fact) -> bool {
        graph.is_of_machine(fact)
            && (self.nodes.contains(&fact.node)
                || self.instances.contains(&fact.instance)
                || self.rows.contains(&fact.row))
    }

    /// Whether a pod or a batch job was on the machine, or is it.
    #[must_use]
    pub fn holds_member(&self, graph: &EntityGraph, member: &Task) -> bool {
        if member.kind == TaskKind::Instance {
            return self.instances.contains(&member.uid);
        }
        let (from, _) = member.stay();
        member.machines().any(|node| {
            let node_instance = || graph.node_instance(node, from);
            self.nodes.contains(&node)
                || node_instance().is_some_and(|one| self.instances.contains(&one.instance))
        })
    }

    /// Names of nodes that it is, in order.
    #[must_use]
    pub fn nodes<'w>(&self, graph: &'w EntityGraph) -> Vec<&'w str> {
        let mut names: Vec<&str> = self.nodes.iter().map(|node| graph.name(*node)).collect();
        names.sort_unstable();
        names
    }

    /// Ids of instances that it is or was, in order.
    #[must_use]
    pub fn instances<'w>(&self, graph: &'w EntityGraph) -> Vec<&'w str> {
        let mut ids: Vec<&str> = self.instances.iter().map(|one| graph.name(*one)).collect();
        ids.sort_unstable();
        ids
    }
}

impl Name {
    /// Whether a machine is asked for by its kind.
    #[must_use]
    pub fn is_machine(&self) -> bool {
        self.kind.is_some() && MACHINES.iter().any(|kind| self.is_kind(kind))
    }
}

/// The machine that a name means, if any record speaks of one.
///
/// # Errors
/// When facts cannot be read back.
pub fn place(graph: &EntityGraph, name: &Name) -> Result<Option<MachineMatch>, SpillError> {
    if name.kind.is_some() && !name.is_machine() {
        return Ok(None);
    }
    let mut found = MachineMatch::default();
    let wanted = |kind: &str| name.kind.is_none() || name.is_kind(kind);
    if wanted("Node") || wanted("Machine") || wanted("Host") || wanted("Instance") {
        by_name(graph, name, &mut found);
    }
    if name.kind.is_some() && name.is_kind("GPU") {
        by_gpu(graph, name, &mut found)?;
    }
    let any = !found.nodes.is_empty() || !found.instances.is_empty() || !found.rows.is_empty();
    Ok(any.then_some(found))
}

fn by_name(graph: &EntityGraph, name: &Name, found: &mut MachineMatch) {
    let is_node = |node: Symbol| node.is_some() && name.is(graph.name(node));
    for one in graph
        .pods
        .iter()
        .filter(|one| one.kind == TaskKind::Instance)
    {
        if name.is_id(graph.name(one.uid)) || is_node(one.name) {
            found.instances.insert(one.uid);
            "instance".clone_into(&mut found.how);
        }
    }
    // A node is asked for with all instances that carried it.
    for (node, node_instances) in &graph.node_instances {
        if is_node(*node) {
            found
                .instances
                .extend(node_instances.iter().map(|one| one.instance));
        }
    }
    // Nothing need have befallen it: what ran on it, or its object, names it as well.
    let on_pods = graph
        .pods
        .iter()
        .filter(|one| one.kind != TaskKind::Instance);
    let objects = graph.evidence.objects.iter();
    let of_objects = objects
        .filter(|(key, _)| key.kind == "Node")
        .filter_map(|(key, _)| graph.evidence.symbols.find(&key.name));
    for node in on_pods.flat_map(Task::machines).chain(of_objects) {
        if is_node(node) {
            found.nodes.insert(node);
            "machine".clone_into(&mut found.how);
        }
    }
    for fact in graph.facts.iter().filter(|fact| graph.is_of_machine(fact)) {
        if is_node(fact.node) {
            found.nodes.insert(fact.node);
            "machine".clone_into(&mut found.how);
        } else if !fact.node.is_some() && !fact.instance.is_some() {
            let row = graph.evidence.rows().get(fact.row);
            if row.is_some_and(|row| name.is(graph.name(row.file()))) {
                found.rows.insert(fact.row);
                "file of an unnamed machine".clone_into(&mut found.how);
            }
        }
    }
}

fn by_gpu(graph: &EntityGraph, name: &Name, found: &mut MachineMatch) -> Result<(), SpillError> {
    for fact in graph.facts.iter().filter(|fact| graph.is_of_machine(fact)) {
        if !graph.name(fact.signal).starts_with("gpu.") || found.rows.contains(&fact.row) {
            continue;
        }
        let event = graph.evidence.event(fact.row)?;
        let is = |reported: &str| {
            reported == name.name || reported.starts_with(&format!("{}.", name.name))
        };
        let by_index = event.gpu.is_some_and(|gpu| gpu.to_string() == name.name);
        if by_index || GPU.iter().filter_map(|key| event.attribute(key)).any(is) {
            found.rows.insert(fact.row);
            "GPU".clone_into(&mut found.how);
        }
    }
    Ok(())
}
