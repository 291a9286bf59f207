//! In which region, zone and node pool each machine was.
//!
//! Notices of clouds are about regions and zones, and upgrades about pools:
//! neither names the machines that it befell.

use std::collections::HashMap;

use whathappened_connectors::cloud::identity::Machine;
use whathappened_connectors::cloud::place::{normal, region_of};
use whathappened_connectors::object::ObjectBody;

use super::{Kind, Membership, World};
use crate::symbols::Sym;

/// Labels of nodes, the first one there counts.
const REGION: [&str; 2] = [
    "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/region",
];
const ZONE: [&str; 2] = [
    "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/zone",
];

/// Where a machine was, as far as any record tells; names in one spelling.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Whereabouts {
    /// `us-central1`, `us-west-2`, `uksouth`.
    pub region: Option<String>,
    /// `us-central1-a`, `us-west-2a`, `uksouth-1`.
    pub zone: Option<String>,
    /// Which pool and cluster it is of.
    pub member: Membership,
}

/// How a place that a notice names holds a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Within {
    /// It is the machine's region.
    Region,
    /// It is the machine's very zone.
    Zone,
}

impl Whereabouts {
    fn of(region: Option<&str>, zone: Option<&str>) -> Self {
        let zone = zone.map(normal).filter(|zone| zone.len() > 1);
        let region = region
            .map(normal)
            .or_else(|| region_of(zone.as_deref()?).map(str::to_owned));
        Self {
            region,
            zone,
            member: Membership::default(),
        }
    }

    fn of_node(body: &ObjectBody) -> Self {
        let label = |keys: [&str; 2]| {
            let mut told = keys.iter().filter_map(|key| body.labels.get(*key));
            told.next().map(String::as_str)
        };
        let machine = body
            .provider_id
            .as_deref()
            .and_then(Machine::parse_provider_id);
        let zone = machine.and_then(|machine| machine.zone);
        Self {
            member: Membership::of(body),
            ..Self::of(label(REGION), label(ZONE).or(zone.as_deref()))
        }
    }

    /// AWS names a machine by its address and region; those of its first region have none.
    fn of_name(node: &str) -> Self {
        let name = node.strip_prefix("ip-").or_else(|| node.strip_prefix("i-"));
        let domain = name.and_then(|name| name.split_once('.'));
        let region = match domain {
            Some((_, "ec2.internal")) => Some("us-east-1"),
            Some((_, domain)) => domain.strip_suffix(".compute.internal"),
            None => None,
        };
        Self::of(region.filter(|region| !region.contains('.')), None)
    }

    /// What an inventory says. Azure numbers the zones of a region.
    fn of_instance(body: &ObjectBody) -> Self {
        let told = |key: &str| body.annotations.get(key).map(String::as_str);
        match (told("location"), told("zone")) {
            (Some(region), Some(zone)) => Self::of(Some(region), Some(&format!("{region}-{zone}"))),
            (region, zone) => Self::of(region, zone),
        }
    }

    fn is_known(&self) -> bool {
        self.region.is_some() || self.zone.is_some() || self.member.is_known()
    }

    /// How one of `places`, parted by spaces, holds the machine.
    #[must_use]
    pub fn within(&self, places: &str) -> Option<Within> {
        let holds = |place: &str| {
            if self.zone.as_deref() == Some(place) {
                Some(Within::Zone)
            } else {
                (self.region.as_deref() == Some(place)).then_some(Within::Region)
            }
        };
        places.split(' ').filter_map(holds).max()
    }
}

/// The whereabouts of all machines.
#[derive(Clone, Debug, Default)]
pub struct Map {
    /// By the node's name.
    nodes: HashMap<String, Whereabouts>,
    /// By the instance's id.
    instances: HashMap<String, Whereabouts>,
}

impl Map {
    /// Where nodes, inventories and records of instances say that machines were.
    pub(super) fn of(world: &World) -> Self {
        let mut map = Self::default();
        for (key, versions) in world.evidence.objects.iter() {
            let (slot, read): (_, fn(&ObjectBody) -> Whereabouts) = match key.kind.as_str() {
                "Node" => (
                    map.nodes.entry(key.name.clone()).or_default(),
                    Whereabouts::of_node,
                ),
                "Instance" => (
                    map.instances.entry(key.uid.clone()).or_default(),
                    Whereabouts::of_instance,
                ),
                _ => continue,
            };
            // A name that comes again does so in its own pool, and thus region.
            let last = versions.iter().rev().map(|version| read(&version.body));
            if let Some(told) = last.into_iter().find(Whereabouts::is_known) {
                *slot = told;
            }
        }
        for one in world.pods.iter().filter(|one| one.kind == Kind::Instance) {
            let told = Whereabouts::of(None, world.evidence.symbols.some(one.zone));
            if told.is_known() {
                let slot = map.instances.entry(world.name(one.uid).to_owned());
                let known = slot.or_default();
                if !known.is_known() {
                    *known = told;
                }
            }
        }
        for pod in &world.pods {
            if let Some(name) = world.evidence.symbols.some(pod.node) {
                let slot = map.nodes.entry(name.to_owned()).or_default();
                if slot.region.is_none() {
                    slot.region = Whereabouts::of_name(name).region;
                }
            }
        }
        map.nodes.retain(|_, told| told.is_known());
        map.instances.retain(|_, told| told.is_known());
        map
    }

    /// What a node's object says of where it was, then what is known of the
    /// instance that carried it.
    pub fn find<'m>(
        &'m self,
        world: &World,
        node: Sym,
        instance: Option<Sym>,
    ) -> impl Iterator<Item = &'m Whereabouts> + use<'m> {
        let of_node = self.nodes.get(world.name(node));
        let of_instance = instance.and_then(|id| self.instances.get(world.name(id)));
        of_node.into_iter().chain(of_instance)
    }

    /// Where all nodes are, if that is one region.
    #[must_use]
    pub fn everywhere(&self) -> Option<Whereabouts> {
        let mut regions = self.nodes.values().map(|one| one.region.as_deref());
        let first = regions.next()??;
        let same = regions.all(|one| one == Some(first));
        same.then(|| Whereabouts {
            region: Some(first.to_owned()),
            ..Whereabouts::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notice_holds_machines_of_its_region_or_zone() {
        let aws = Whereabouts::of(None, Some("us-west-2a"));
        assert_eq!(aws.within("us-west-2"), Some(Within::Region));
        assert_eq!(aws.within("us-west-2 us-west-2a"), Some(Within::Zone));
        assert_eq!(aws.within("us-west-2b"), None);
        assert_eq!(aws.within("us-west-1"), None);
        let azure = Whereabouts::of(Some("UK South"), Some("uksouth-2"));
        assert_eq!(azure.within("uksouth"), Some(Within::Region));
        assert_eq!(azure.within("uksouth-2"), Some(Within::Zone));
        // AKS says of a node that is in no zone that it is in `0`.
        let none = Whereabouts::of(Some("uksouth"), Some("0"));
        assert_eq!(none.zone, None);
        assert_eq!(Whereabouts::of(None, None).within(""), None);
    }

    #[test]
    fn the_name_of_a_machine_of_aws_holds_its_region() {
        let region = |name: &str| Whereabouts::of_name(name).region;
        let told = region("ip-10-3-167-19.eu-west-1.compute.internal");
        assert_eq!(told.as_deref(), Some("eu-west-1"));
        assert_eq!(
            region("i-0123456789abcdef0.us-west-2.compute.internal").as_deref(),
            Some("us-west-2")
        );
        assert_eq!(
            region("ip-10-0-0-1.ec2.internal").as_deref(),
            Some("us-east-1")
        );
        assert_eq!(region("ip-10-0-0-1.lab.example"), None);
        assert_eq!(region("gpu-7"), None);
    }
}
