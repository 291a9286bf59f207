//! Which machine bore a name, and when, as far as any record tells.
//!
//! [`super::NodeInstances`] are for what ran on a node. This is for the question
//! whether a name meant the same machine at two times, of which no pod need tell.

use std::collections::BTreeMap;

use whathappened_model::time::{Nanos, SECOND};

use super::{EntityGraph, TaskKind, node_instance};

/// An instance that bore a name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NameTenure {
    /// From when, [`Nanos::MIN`] where nothing tells.
    pub from: Nanos,
    /// Until when, [`Nanos::MAX`] where nothing tells.
    pub to: Nanos,
    /// The instance's id, in lower case.
    pub id: String,
}

/// Instances by the names that they bore, each name's in order of time.
#[derive(Clone, Debug, Default)]
pub struct NameTenures(BTreeMap<String, Vec<NameTenure>>);

impl NameTenures {
    /// What node objects say of their machines, and else inventories and the
    /// machines' own records.
    #[must_use]
    pub fn of(graph: &EntityGraph) -> Self {
        let mut found: BTreeMap<String, Vec<NameTenure>> = BTreeMap::new();
        for (node, pins) in node_instance::pins(&graph.evidence.objects) {
            let reported = pins.into_iter().filter(|pin| !pin.id.is_empty());
            let name_tenures: Vec<NameTenure> = reported
                .map(|pin| NameTenure {
                    from: pin.from,
                    to: pin.to,
                    id: pin.id,
                })
                .collect();
            if !name_tenures.is_empty() {
                found.insert(node, name_tenures);
            }
        }
        for (node, node_instances) in &graph.node_instances {
            let of_node = found.entry(graph.name(*node).to_owned()).or_default();
            of_node.extend(node_instances.iter().map(|one| NameTenure {
                from: one.from,
                to: one.to,
                id: graph.name(one.instance).to_lowercase(),
            }));
        }
        let mut by_name: BTreeMap<String, Vec<NameTenure>> = BTreeMap::new();
        for one in graph
            .pods
            .iter()
            .filter(|one| one.kind == TaskKind::Instance)
        {
            let name = graph.name(one.name);
            if name.is_empty() || found.contains_key(name) {
                continue;
            }
            let (from, to) = one.stay();
            let id = graph.name(one.uid).to_lowercase();
            let of_name = by_name.entry(name.to_owned()).or_default();
            of_name.push(NameTenure { from, to, id });
        }
        found.append(&mut by_name);
        for name_tenures in found.values_mut() {
            name_tenures.sort();
            name_tenures.dedup();
        }
        Self(found)
    }

    /// The instance that bore a name at a time. Of several that may have, none.
    #[must_use]
    pub fn at(&self, name: &str, at: Nanos) -> Option<&str> {
        let mut then = self.of_name(name).iter().filter(|one| {
            one.from.saturating_sub(SECOND) <= at && at <= one.to.saturating_add(SECOND)
        });
        let first = then.next()?;
        then.all(|one| one.id == first.id)
            .then_some(first.id.as_str())
    }

    /// All instances of which a record tells that they bore a name.
    #[must_use]
    pub fn of_name(&self, name: &str) -> &[NameTenure] {
        self.0.get(name).map_or(&[], Vec::as_slice)
    }
}
