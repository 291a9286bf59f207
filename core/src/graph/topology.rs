//! In which region, zone and node pool each machine was.
//!
//! Notices of clouds are about regions and zones, and upgrades about pools:
//! neither names the machines that it happened to.

use std::collections::HashMap;

use whathappened_model::machine::Machine;
use whathappened_model::object::ObjectBody;
use whathappened_model::place::{normal, region_of};

use super::{EntityGraph, Membership, TaskKind};
use crate::symbols::Symbol;

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
pub struct Location {
    /// `us-central1`, `us-west-2`, `uksouth`.
    pub region: Option<String>,
    /// `us-central1-a`, `us-west-2a`, `uksouth-1`.
    pub zone: Option<String>,
    /// Which pool and cluster it is of.
    pub member: Membership,
}

/// How a place that a notice names holds a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PlaceKind {
    /// It is the machine's region.
    Region,
    /// It is the machine's very zone.
    Zone,
}

impl Location {
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
            let mut reported = keys.iter().filter_map(|key| body.labels.get(*key));
            reported.next().map(String::as_str)
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
        let reported = |key: &str| body.annotations.get(key).map(String::as_str);
        match (reported("location"), reported("zone")) {
            (Some(region), Some(zone)) => Self::of(Some(region), Some(&format!("{region}-{zone}"))),
            (region, zone) => Self::of(region, zone),
        }
    }

    fn is_known(&self) -> bool {
        self.region.is_some() || self.zone.is_some() || self.member.is_known()
    }

    /// How one of `places`, parted by spaces, holds the machine.
    #[must_use]
    pub fn within(&self, places: &str) -> Option<PlaceKind> {
        let holds = |place: &str| {
            if self.zone.as_deref() == Some(place) {
                Some(PlaceKind::Zone)
            } else {
                (self.region.as_deref() == Some(place)).then_some(PlaceKind::Region)
            }
        };
        places.split(' ').filter_map(holds).max()
    }
}

/// The whereabouts of all machines.
#[derive(Clone, Debug, Default)]
pub struct Topology {
    /// By the node's name.
    nodes: HashMap<String, Location>,
    /// By the instance's id.
    instances: HashMap<String, Location>,
}

impl Topology {
    /// Where nodes, inventories and records of instances say that machines were.
    pub(super) fn of(graph: &EntityGraph) -> Self {
        let mut map = Self::default();
        for (key, versions) in graph.evidence.objects.iter() {
            let (slot, read): (_, fn(&ObjectBody) -> Location) = match key.kind.as_str() {
                "Node" => (
                    map.nodes.entry(key.name.clone()).or_default(),
                    Location::of_node,
                ),
                "Instance" => (
                    map.instances.entry(key.uid.clone()).or_default(),
                    Location::of_instance,
                ),
                _ => continue,
            };
            // A name that comes again does so in its own pool, and thus region.
            let last = versions.iter().rev().map(|version| read(&version.body));
            if let Some(reported) = last.into_iter().find(Location::is_known) {
                *slot = reported;
            }
        }
        for one in graph
            .pods
            .iter()
            .filter(|one| one.kind == TaskKind::Instance)
        {
            let mut reported = Location::of(None, graph.evidence.symbols.some(one.zone));
            let group = graph.evidence.symbols.some(one.group);
            if let Some(group) = group {
                reported.member.add_group(group);
            }
            let known = map.instances.entry(graph.name(one.uid).to_owned());
            let known = known.or_default();
            match (known.is_known(), group) {
                (false, _) => *known = reported,
                (true, Some(group)) => known.member.add_group(group),
                (true, None) => {}
            }
        }
        for pod in &graph.pods {
            if let Some(name) = graph.evidence.symbols.some(pod.node) {
                let slot = map.nodes.entry(name.to_owned()).or_default();
                if slot.region.is_none() {
                    slot.region = Location::of_name(name).region;
                }
            }
        }
        map.nodes.retain(|_, reported| reported.is_known());
        map.instances.retain(|_, reported| reported.is_known());
        map
    }

    /// What a node's object says of where it was, then what is known of the
    /// instance that carried it.
    pub fn find<'m>(
        &'m self,
        graph: &EntityGraph,
        node: Symbol,
        instance: Option<Symbol>,
    ) -> impl Iterator<Item = &'m Location> + use<'m> {
        let of_node = self.nodes.get(graph.name(node));
        let of_instance = instance.and_then(|id| self.instances.get(graph.name(id)));
        of_node.into_iter().chain(of_instance)
    }

    /// Where all nodes are, if that is one region.
    #[must_use]
    pub fn everywhere(&self) -> Option<Location> {
        let mut regions = self.nodes.values().map(|one| one.region.as_deref());
        let first = regions.next()??;
        let same = regions.all(|one| one == Some(first));
        same.then(|| Location {
            region: Some(first.to_owned()),
            ..Location::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notice_holds_machines_of_its_region_or_zone() {
        let aws = Location::of(None, Some("us-west-2a"));
        assert_eq!(aws.within("us-west-2"), Some(PlaceKind::Region));
        assert_eq!(aws.within("us-west-2 us-west-2a"), Some(PlaceKind::Zone));
        assert_eq!(aws.within("us-west-2b"), None);
        assert_eq!(aws.within("us-west-1"), None);
        let azure = Location::of(Some("UK South"), Some("uksouth-2"));
        assert_eq!(azure.within("uksouth"), Some(PlaceKind::Region));
        assert_eq!(azure.within("uksouth-2"), Some(PlaceKind::Zone));
        // AKS says of a node that is in no zone that it is in `0`.
        let none = Location::of(Some("uksouth"), Some("0"));
        assert_eq!(none.zone, None);
        assert_eq!(Location::of(None, None).within(""), None);
    }

    #[test]
    fn the_name_of_a_machine_of_aws_holds_its_region() {
        let region = |name: &str| Location::of_name(name).region;
        let reported = region("ip-10-3-167-19.eu-west-1.compute.internal");
        assert_eq!(reported.as_deref(), Some("eu-west-1"));
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
