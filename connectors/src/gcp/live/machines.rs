//! Which machines a question is about, by the names that Google knows them by.

use std::collections::BTreeSet;

use super::filter::is_name;
use crate::connector::{Entity, Scope};
use crate::machine::{Cloud, Machine};

/// Domains in which other clouds name their machines.
const ELSEWHERE: [&str; 3] = ["ec2.internal", "compute.internal", "internal.cloudapp.net"];

/// The machines of a question, and what is known around them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Machines {
    /// Those that are looked for; zone and project only where known.
    pub(super) wanted: BTreeSet<Machine>,
    /// Managed instance groups that they are of.
    pub(super) groups: BTreeSet<String>,
    /// Clusters of GKE that they are of.
    pub(super) clusters: BTreeSet<String>,
    /// Those that most is to be known of, the first that something happened to first.
    pub(super) hurt: Vec<Machine>,
    /// Names of pods, in the same order.
    pub(super) pods: Vec<String>,
    /// How many are of other clouds, or cannot be Google's by their names.
    pub(super) elsewhere: usize,
    /// Whether the question names no machine, so that all count.
    pub(super) all: bool,
}

impl Machines {
    /// The machines that a question names.
    pub(super) fn of(scope: &Scope) -> Self {
        let mut machines = Self::default();
        for entity in in_order(scope.nodes.iter().chain(&scope.instances)) {
            match machine(entity) {
                Some(machine) => {
                    machines.groups.extend(gke_group(&machine));
                    machines.hurt.push(machine.clone());
                    machines.wanted.insert(machine);
                }
                None => machines.elsewhere += 1,
            }
        }
        let pods = in_order(scope.pods.iter()).into_iter();
        machines.pods = pods.map(|pod| pod.name.clone()).collect();
        machines.all = machines.wanted.is_empty() && machines.elsewhere == 0;
        machines
    }

    /// Whether there are machines, but none of Google's.
    pub(super) fn none_here(&self) -> bool {
        self.wanted.is_empty() && !self.all
    }

    /// The projects that the machines name, and whether each does.
    pub(super) fn projects(&self) -> (BTreeSet<String>, bool) {
        let named = self.wanted.iter().filter_map(|one| one.account.clone());
        let each = self.wanted.iter().all(|one| one.account.is_some());
        (named.collect(), each && !self.all)
    }

    /// Those that may be in a project.
    pub(super) fn within(&self, project: &str) -> Vec<&Machine> {
        let here = |one: &&Machine| one.account.as_deref().is_none_or(|own| own == project);
        self.wanted.iter().filter(here).collect()
    }

    /// Whether a machine that exists is one of those.
    pub(super) fn wants(&self, found: &Machine) -> bool {
        self.all || self.wanted.iter().any(|one| is(one, found))
    }

    /// Takes in what the inventory says of a machine that is wanted: the number
    /// under which logs may have it.
    pub(super) fn learn(&mut self, found: &Machine) {
        if !self.all {
            self.groups.extend(gke_group(found));
            self.wanted.insert(found.clone());
        }
    }

    /// Whether some are nodes of GKE.
    pub(super) fn any_of_gke(&self) -> bool {
        let by_name = |one: &Machine| {
            let name = one.name.as_deref().unwrap_or_default();
            name.starts_with("gke-") || name.starts_with("gk3-")
        };
        self.all || !self.clusters.is_empty() || self.wanted.iter().any(by_name)
    }
}

/// Entities in order of what happened to them; those that nothing happened to come last.
fn in_order<'e>(entities: impl Iterator<Item = &'e Entity>) -> Vec<&'e Entity> {
    let mut entities: Vec<&Entity> = entities.collect();
    entities.sort_by_key(|one| {
        let first = one.moments.iter().min();
        (first.is_none(), first.copied(), &one.name, &one.uid)
    });
    entities
}

/// Whether both are one machine as far as is known of them.
fn is(wanted: &Machine, found: &Machine) -> bool {
    let agree = |a: &Option<String>, b: &Option<String>| a.is_none() || b.is_none() || a == b;
    let by_id = wanted.id.is_some() && wanted.id == found.id;
    let by_name = wanted.name.is_some() && wanted.name == found.name;
    (by_id || by_name) && agree(&wanted.zone, &found.zone) && agree(&wanted.account, &found.account)
}

/// The machine that an entity is, where it can be Google's.
fn machine(entity: &Entity) -> Option<Machine> {
    let uid = entity.uid.as_deref().unwrap_or_default();
    let known =
        Machine::parse_provider_id(uid).or_else(|| Machine::parse_provider_id(&entity.name));
    let mut machine = match known {
        Some(machine) if machine.cloud == Cloud::Gcp => machine,
        Some(_) => return None,
        None => Machine::of(Cloud::Gcp),
    };
    if is_number(uid) {
        machine.id = Some(uid.to_owned());
    }
    if machine.name.is_none() {
        let (host, domain) = entity.name.split_once('.').unwrap_or((&entity.name, ""));
        if is_number(host) && domain.is_empty() {
            machine.id = machine.id.or_else(|| Some(host.to_owned()));
        } else if !ELSEWHERE.iter().any(|end| domain.ends_with(end)) {
            machine.name = Some(host.to_owned());
            // `z.c.project.internal`, or `c.project.internal` of older projects.
            let parts: Vec<&str> = domain.split('.').collect();
            if let [.., "c", project, "internal"] = parts.as_slice() {
                machine.account = Some((*project).to_owned());
            }
        }
    }
    machine.name = machine.name.filter(|name| is_name(name));
    machine.zone = machine.zone.filter(|zone| is_name(zone));
    (machine.name.is_some() || machine.id.is_some()).then_some(machine)
}

pub(super) fn is_number(text: &str) -> bool {
    !text.is_empty() && text.len() <= 20 && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// What a managed group begins its machines' names with: they end in a hyphen
/// and four letters or digits.
pub(super) fn base_name(name: &str) -> Option<&str> {
    let (base, end) = name.rsplit_once('-')?;
    (end.len() == 4 && !base.is_empty()).then_some(base)
}

/// The group of a node of GKE, by GKE's own rule: `gke-<cluster>-<pool>-<8 hex>-grp`.
fn gke_group(machine: &Machine) -> Option<String> {
    let base = base_name(machine.name.as_deref()?)?;
    let (rest, hash) = base.rsplit_once('-')?;
    let of_gke = rest.starts_with("gke-") || rest.starts_with("gk3-");
    let hashed = hash.len() == 8 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    (of_gke && hashed).then(|| format!("{base}-grp"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entity(name: &str, uid: Option<&str>) -> Entity {
        Entity {
            name: name.to_owned(),
            uid: uid.map(str::to_owned),
            ..Entity::default()
        }
    }

    #[test]
    fn machines_are_known_by_provider_id_number_name_and_host_name() {
        let scope = Scope {
            nodes: vec![
                entity(
                    "gke-lab-gpu-1a2b3c4d-x9z8",
                    Some("gce://lab/z-a/gke-lab-gpu-1a2b3c4d-x9z8"),
                ),
                entity("trainer-1.z-a.c.lab-2.internal", Some("8e9f-uid-of-a-node")),
                entity("ip-10-0-0-1.ec2.internal", None),
                entity("gpu-7", Some("aws:///us-east-1a/i-0123456789abcdef0")),
                entity("GPU_7", None),
            ],
            instances: vec![entity("gpu-3", Some("42")), entity("77", None)],
            ..Scope::default()
        };
        let machines = Machines::of(&scope);
        let shown: Vec<_> = machines
            .wanted
            .iter()
            .map(|one| {
                let part = |part: &Option<String>| part.clone().unwrap_or_default();
                [
                    part(&one.account),
                    part(&one.zone),
                    part(&one.name),
                    part(&one.id),
                ]
                .join("/")
            })
            .collect();
        assert_eq!(
            shown,
            [
                "///77",
                "//gpu-3/42",
                "lab/z-a/gke-lab-gpu-1a2b3c4d-x9z8/",
                "lab-2//trainer-1/",
            ]
        );
        assert_eq!(machines.elsewhere, 3);
        assert_eq!(
            machines.groups,
            BTreeSet::from(["gke-lab-gpu-1a2b3c4d-grp".to_owned()])
        );
        assert!(!machines.all && machines.any_of_gke());
        let (projects, each) = machines.projects();
        assert_eq!(projects.into_iter().collect::<Vec<_>>(), ["lab", "lab-2"]);
        assert!(!each);
    }

    #[test]
    fn without_machines_all_count_and_with_others_none() {
        assert!(Machines::of(&Scope::default()).all);
        let elsewhere = Scope {
            nodes: vec![entity(
                "n",
                Some("azure:////04030201-0605-0807-090A-0B0C0D0E0F10"),
            )],
            ..Scope::default()
        };
        assert!(Machines::of(&elsewhere).none_here());
    }

    #[test]
    fn a_namesake_in_another_zone_is_another_machine() {
        let scope = Scope {
            nodes: vec![entity("gpu-1", Some("gce://lab/z-a/gpu-1"))],
            ..Scope::default()
        };
        let mut machines = Machines::of(&scope);
        let found = |zone: &str| Machine {
            id: Some("42".to_owned()),
            ..Machine::gce(&format!("projects/lab/zones/{zone}/instances/gpu-1")).unwrap()
        };
        assert!(machines.wants(&found("z-a")) && !machines.wants(&found("z-b")));
        machines.learn(&found("z-a"));
        assert_eq!(machines.within("lab").len(), 2);
        assert!(machines.within("other").is_empty());
    }
}
