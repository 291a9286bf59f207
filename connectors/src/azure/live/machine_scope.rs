//! Which machines a question is about, and which facts are about them.

use std::collections::{BTreeMap, BTreeSet};

use crate::connector::{Entity, Scope};
use crate::event::Event;
use crate::machine::{Cloud, Machine};
use crate::observation::Observation;

/// The machines that a question is about. All is in lower case: Azure's own
/// sources write one name in several ways.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct MachineScope {
    /// No machine is named: all are wanted.
    pub(super) all: bool,
    /// Resource ids.
    ids: BTreeSet<String>,
    /// Host names of machines, wherever they are.
    names: BTreeSet<String>,
    /// Host names whose resource is not known.
    pub(super) nameless: BTreeSet<String>,
    /// `vmId`s whose resource is not known: nodes of old clusters have them.
    pub(super) vm_ids: BTreeSet<String>,
}

impl MachineScope {
    /// `None` where all machines that are named are of other clouds.
    pub(super) fn of(scope: &Scope) -> Option<Self> {
        let mut wanted = Self::default();
        let mut entities = scope.nodes.iter().chain(&scope.instances).peekable();
        if entities.peek().is_none() {
            wanted.all = true;
            return Some(wanted);
        }
        for entity in entities {
            wanted.add(entity);
        }
        let none = wanted.ids.is_empty() && wanted.names.is_empty() && wanted.vm_ids.is_empty();
        (!none).then_some(wanted)
    }

    fn add(&mut self, entity: &Entity) {
        let uid = entity.uid.as_deref().unwrap_or_default();
        let machine =
            Machine::parse_provider_id(uid).or_else(|| Machine::parse_provider_id(&entity.name));
        let name = entity.name.to_ascii_lowercase();
        let named = !name.is_empty() && !name.contains('/');
        match machine {
            Some(machine) if machine.cloud != Cloud::Azure => return,
            // Somebody else's machine, of a kind that is not known here.
            None if uid.contains("://") => return,
            Some(Machine { id: Some(id), .. }) if id.starts_with('/') => {
                self.ids.insert(id);
            }
            Some(Machine { id: Some(id), .. }) => {
                self.vm_ids.insert(id);
            }
            _ if named => {
                self.nameless.insert(name.clone());
            }
            _ => return,
        }
        if named {
            self.names.insert(name);
        }
    }

    /// A machine's resource was found.
    pub(super) fn found(&mut self, name: Option<&str>, vm_id: Option<&str>, id: &str) {
        if let Some(name) = name {
            self.nameless.remove(name);
        }
        if let Some(vm_id) = vm_id {
            self.vm_ids.remove(vm_id);
        }
        self.ids.insert(id.to_ascii_lowercase());
    }

    /// Whether the resources of some are not known.
    pub(super) fn is_incomplete(&self) -> bool {
        !self.nameless.is_empty() || !self.vm_ids.is_empty()
    }

    /// The subscriptions that machines are in.
    pub(super) fn subscriptions(&self) -> BTreeSet<String> {
        let ids = self.ids.iter();
        ids.filter_map(|id| part(id, "subscriptions").map(str::to_owned))
            .collect()
    }

    /// The machines of a subscription, by resource id.
    pub(super) fn ids_in(&self, subscription: &str) -> Vec<&str> {
        let mine = |id: &&str| part(id, "subscriptions") == Some(subscription);
        self.ids.iter().map(String::as_str).filter(mine).collect()
    }

    /// The resource groups of the machines of a subscription.
    pub(super) fn groups_in(&self, subscription: &str) -> BTreeSet<&str> {
        let ids = self.ids_in(subscription).into_iter();
        ids.filter_map(|id| part(id, "resourcegroups")).collect()
    }

    /// Whether a cluster may be that of the machines: its nodes are in a group
    /// named `MC_<its group>_<its name>_<region>`, unless another was chosen.
    fn is_cluster(&self, subscription: &str, group: &str, cluster: &str) -> bool {
        let prefix = format!("mc_{group}_{cluster}_").to_ascii_lowercase();
        let mut groups = self.groups_in(subscription).into_iter();
        groups.any(|group| group.starts_with(&prefix) || !group.starts_with("mc_"))
    }

    /// Whether what a record about `resource` tells is about these machines, what
    /// they belong to, or all that is in the subscription.
    pub(super) fn keeps(&self, resource: &str, emitted: &Observation) -> bool {
        let Observation::Event(event) = emitted else {
            return true;
        };
        self.all || self.concerns(&resource.to_ascii_lowercase(), event)
    }

    fn concerns(&self, resource: &str, event: &Event) -> bool {
        let lower = |text: &Option<String>| text.as_deref().map(str::to_ascii_lowercase);
        let id = lower(&event.entities.instance);
        let name = lower(&event.entities.node);
        if id.is_some() || name.is_some() {
            return id.is_some_and(|id| self.ids.contains(&id))
                || name.is_some_and(|name| self.names.contains(&name));
        }
        if let Some(cluster) = &event.entities.cluster {
            let place = |kind| part(resource, kind).unwrap_or_default();
            return self.is_cluster(place("subscriptions"), place("resourcegroups"), cluster);
        }
        let group = event.attribute("group").map(str::to_ascii_lowercase);
        group.is_none_or(|group| {
            let mut sets = self
                .ids
                .iter()
                .filter_map(|id| part(id, "virtualmachinescalesets"));
            sets.any(|set| set == group)
        })
    }
}

/// The part of a resource id in lower case after `kind`.
pub(super) fn part<'a>(id: &'a str, kind: &str) -> Option<&'a str> {
    let mut parts = id.split('/');
    parts.find(|part| *part == kind)?;
    parts.next().filter(|part| !part.is_empty())
}

/// Scale sets by resource id, with the numbers of the machines wanted of each.
pub(super) fn by_set<'a>(ids: &[&'a str]) -> BTreeMap<&'a str, Vec<&'a str>> {
    let mut sets: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for id in ids {
        if let Some((set, number)) = id.rsplit_once("/virtualmachines/")
            && set.contains("/virtualmachinescalesets/")
        {
            sets.entry(set).or_default().push(number);
        }
    }
    sets
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str, uid: Option<&str>) -> Entity {
        Entity {
            name: name.to_owned(),
            uid: uid.map(str::to_owned),
            ..Entity::default()
        }
    }

    const OF_SET: &str = "azure:///subscriptions/S-1/resourceGroups/MC_rg_lab_eastus/providers/Microsoft.Compute/virtualMachineScaleSets/aks-gpu-1-vmss/virtualMachines/3";

    #[test]
    fn machines_are_known_by_provider_id_by_vm_id_and_by_name() {
        let scope = Scope {
            nodes: vec![
                node("aks-gpu-1-vmss000003", Some(OF_SET)),
                node(
                    "old-1",
                    Some("azure:////04030201-0605-0807-090A-0B0C0D0E0F10"),
                ),
                node("GPU-7", None),
                node("gke-1", Some("gce://p/z/gke-1")),
                node("metal", Some("k3s://metal")),
            ],
            ..Scope::default()
        };
        let wanted = MachineScope::of(&scope).unwrap();
        assert!(!wanted.all && wanted.is_incomplete());
        assert_eq!(wanted.ids_in("s-1").len(), 1);
        assert_eq!(
            wanted.groups_in("s-1").into_iter().collect::<Vec<_>>(),
            ["mc_rg_lab_eastus"]
        );
        assert!(
            wanted
                .vm_ids
                .contains("01020304-0506-0708-090a-0b0c0d0e0f10")
        );
        assert_eq!(wanted.nameless.iter().collect::<Vec<_>>(), ["gpu-7"]);
        assert!(!wanted.names.contains("gke-1") && !wanted.names.contains("metal"));
        assert!(wanted.is_cluster("s-1", "RG", "lab"));
        assert!(!wanted.is_cluster("s-1", "rg", "la"));
    }

    #[test]
    fn no_machine_is_all_and_machines_of_others_are_none() {
        assert!(MachineScope::of(&Scope::default()).unwrap().all);
        let scope = Scope {
            nodes: vec![node("gke-1", Some("gce://p/z/gke-1"))],
            ..Scope::default()
        };
        assert_eq!(MachineScope::of(&scope), None);
    }
}
