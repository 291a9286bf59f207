//! Which machine a node of Slurm is, as Slurm says itself: a cloud's instance, a host of another name, an address.
//!
//! `scontrol show node` has `InstanceId`, `NodeHostName` and `NodeAddr`. What else is known speaks of the machine by
//! these: a cloud by the id, its journal by the name of the host.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use whathappened_model::table::Table;

use super::node_instance::ProviderId;
use super::{Fact, Task, TaskKind};
use crate::evidence::{Evidence, SpillError};
use crate::symbols::{Symbol, SymbolTable};

/// What Slurm says of a node's machine.
const FACT: &str = "slurm.machine";

/// What Slurm says of the machines of its nodes.
#[derive(Debug, Default)]
pub(super) struct SlurmMachines(BTreeSet<SlurmMachine>);

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct SlurmMachine {
    node: String,
    /// The cloud's id, in lower case; empty where Slurm does not know it.
    id: String,
    /// What the machine calls itself, up to the first dot.
    host: String,
    /// The host's name that EC2 makes of the address.
    host_of_address: String,
}

impl SlurmMachines {
    /// Reads them.
    ///
    /// # Errors
    /// When a record cannot be read again.
    pub(super) fn of(evidence: &Evidence) -> Result<Self, SpillError> {
        let mut found = BTreeSet::new();
        let Some(fact) = evidence.symbols.find(FACT) else {
            return Ok(Self(found));
        };
        for (number, row) in evidence.rows().numbered() {
            if row.fact != fact {
                continue;
            }
            let event = evidence.event(number)?;
            let text = |key: &str| event.attribute(key).unwrap_or_default();
            let address = text("address");
            let is_address = address.parse::<std::net::Ipv4Addr>().is_ok();
            found.insert(SlurmMachine {
                node: event.entities.node.clone().unwrap_or_default(),
                id: text("instance_id").to_lowercase(),
                host: first_word(text("host_name")).to_owned(),
                host_of_address: if is_address {
                    format!("ip-{}", address.replace('.', "-"))
                } else {
                    String::new()
                },
            });
        }
        Ok(Self(found))
    }

    /// Gives facts about a host to the node that it is, where no job or pod was on a machine of the host's own name, and
    /// only one node is that host.
    pub(super) fn rename(&self, symbols: &SymbolTable, tasks: &Table<Task>, facts: &mut [Fact]) {
        if self.0.is_empty() {
            return;
        }
        let known: HashSet<Symbol> = tasks.iter().flat_map(Task::machines).collect();
        let mut nodes: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for one in self.0.iter().filter(|one| !one.host.is_empty()) {
            nodes.entry(&one.host).or_default().insert(&one.node);
        }
        let mut known_as: HashMap<Symbol, Option<Symbol>> = HashMap::new();
        for fact in facts.iter_mut().filter(|fact| fact.node.is_some()) {
            let node = known_as.entry(fact.node).or_insert_with(|| {
                let name = symbols.name(fact.node);
                let of = nodes.get(first_word(name))?;
                let only = of.first().filter(|_| of.len() == 1)?;
                let node = symbols.find(only)?;
                (known.contains(&node) && !known.contains(&fact.node)).then_some(node)
            });
            if let Some(node) = node {
                fact.node = *node;
            }
        }
    }

    /// Adds to what nodes' objects say of their machines what Slurm says of its nodes'.
    pub(super) fn add_to(
        &self,
        pins: &mut BTreeMap<String, Vec<ProviderId>>,
        symbols: &SymbolTable,
        tasks: &Table<Task>,
    ) {
        let instances = || tasks.iter().filter(|one| one.kind == TaskKind::Instance);
        for one in &self.0 {
            // A node of Slurm is another machine each time that it is started: an instance was it while it was there.
            let is_it = |instance: &&Task| {
                let named = first_word(symbols.name(instance.name));
                if one.id.is_empty() {
                    !named.is_empty() && (named == one.host || named == one.host_of_address)
                } else {
                    symbols.name(instance.uid).to_lowercase() == one.id
                }
            };
            for instance in instances().filter(is_it) {
                let id = symbols.name(instance.uid).to_lowercase();
                let (from, to) = instance.stay();
                let of_node = pins.entry(one.node.clone()).or_default();
                of_node.push(ProviderId::of(id, from, to));
            }
        }
    }
}

/// A name up to its first dot.
fn first_word(name: &str) -> &str {
    name.split('.').next().unwrap_or_default()
}
