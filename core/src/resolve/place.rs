//! Which machine a name means, for questions about a machine instead of a run.

use std::collections::BTreeSet;

use super::name::Name;
use crate::evidence::SpillError;
use crate::symbols::Sym;
use crate::world::{Fact, Kind, Pod, World};

/// Kinds under which a machine is asked for.
const MACHINES: [&str; 5] = ["Node", "Instance", "Machine", "Host", "GPU"];

/// Attributes of facts that name a GPU: where it sits on the bus, or its own id.
const GPU: [&str; 3] = ["gpu_pci", "pci", "gpu_uuid"];

/// A machine, or several of one name at different times.
#[derive(Clone, Debug, Default)]
pub struct Place {
    /// How the name matched, in words.
    pub how: String,
    /// Names of nodes.
    nodes: BTreeSet<Sym>,
    /// Ids of instances.
    instances: BTreeSet<Sym>,
    /// Rows of the evidence: what is told of one GPU, or in a file that names no machine.
    rows: BTreeSet<u32>,
}

impl Place {
    /// Whether a fact is about the machine.
    #[must_use]
    pub fn holds(&self, world: &World, fact: &Fact) -> bool {
        world.is_of_machine(fact)
            && (self.nodes.contains(&fact.node)
                || self.instances.contains(&fact.instance)
                || self.rows.contains(&fact.row))
    }

    /// Whether a pod or a batch job was on the machine, or is it.
    #[must_use]
    pub fn holds_member(&self, world: &World, member: &Pod) -> bool {
        if member.kind == Kind::Instance {
            return self.instances.contains(&member.uid);
        }
        let (from, _) = member.stay();
        member.machines().any(|node| {
            let carrier = || world.carrier(node, from);
            self.nodes.contains(&node)
                || carrier().is_some_and(|one| self.instances.contains(&one.instance))
        })
    }

    /// Names of nodes that it is, in order.
    #[must_use]
    pub fn nodes<'w>(&self, world: &'w World) -> Vec<&'w str> {
        let mut names: Vec<&str> = self.nodes.iter().map(|node| world.name(*node)).collect();
        names.sort_unstable();
        names
    }

    /// Ids of instances that it is or was, in order.
    #[must_use]
    pub fn instances<'w>(&self, world: &'w World) -> Vec<&'w str> {
        let mut ids: Vec<&str> = self.instances.iter().map(|one| world.name(*one)).collect();
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
pub fn place(world: &World, name: &Name) -> Result<Option<Place>, SpillError> {
    if name.kind.is_some() && !name.is_machine() {
        return Ok(None);
    }
    let mut found = Place::default();
    let wanted = |kind: &str| name.kind.is_none() || name.is_kind(kind);
    if wanted("Node") || wanted("Machine") || wanted("Host") || wanted("Instance") {
        by_name(world, name, &mut found);
    }
    if name.kind.is_some() && name.is_kind("GPU") {
        by_gpu(world, name, &mut found)?;
    }
    let any = !found.nodes.is_empty() || !found.instances.is_empty() || !found.rows.is_empty();
    Ok(any.then_some(found))
}

fn by_name(world: &World, name: &Name, found: &mut Place) {
    let is_node = |node: Sym| node.is_some() && name.is(world.name(node));
    for one in world.pods.iter().filter(|one| one.kind == Kind::Instance) {
        if name.is_id(world.name(one.uid)) || is_node(one.name) {
            found.instances.insert(one.uid);
            "instance".clone_into(&mut found.how);
        }
    }
    // A node is asked for with all instances that carried it.
    for (node, carriers) in &world.carriers {
        if is_node(*node) {
            found
                .instances
                .extend(carriers.iter().map(|one| one.instance));
        }
    }
    // Nothing need have befallen it: what ran on it, or its object, names it as well.
    let on_pods = world.pods.iter().filter(|one| one.kind != Kind::Instance);
    let objects = world.evidence.objects.iter();
    let of_objects = objects
        .filter(|(key, _)| key.kind == "Node")
        .filter_map(|(key, _)| world.evidence.symbols.find(&key.name));
    for node in on_pods.flat_map(Pod::machines).chain(of_objects) {
        if is_node(node) {
            found.nodes.insert(node);
            "machine".clone_into(&mut found.how);
        }
    }
    for fact in world.facts.iter().filter(|fact| world.is_of_machine(fact)) {
        if is_node(fact.node) {
            found.nodes.insert(fact.node);
            "machine".clone_into(&mut found.how);
        } else if !fact.node.is_some() && !fact.instance.is_some() {
            let row = world.evidence.rows().get(fact.row as usize);
            if row.is_some_and(|row| name.is(world.name(row.file()))) {
                found.rows.insert(fact.row);
                "file of an unnamed machine".clone_into(&mut found.how);
            }
        }
    }
}

fn by_gpu(world: &World, name: &Name, found: &mut Place) -> Result<(), SpillError> {
    for fact in world.facts.iter().filter(|fact| world.is_of_machine(fact)) {
        if !world.name(fact.signal).starts_with("gpu.") || found.rows.contains(&fact.row) {
            continue;
        }
        let event = world.evidence.event(fact.row)?;
        let is = |told: &str| told == name.name || told.starts_with(&format!("{}.", name.name));
        let by_index = event.gpu.is_some_and(|gpu| gpu.to_string() == name.name);
        if by_index || GPU.iter().filter_map(|key| event.attribute(key)).any(is) {
            found.rows.insert(fact.row);
            "GPU".clone_into(&mut found.how);
        }
    }
    Ok(())
}
