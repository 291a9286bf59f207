//! Devices that nodes have and do not offer, and the pods that they would have had room for.
//!
//! A kubelet counts in `capacity` what the device plugin once told of, and in `allocatable` what is well; when the plugin is
//! gone for five minutes, it sets both to zero and keeps the resource's name. Schedulers only look at `allocatable`: they say
//! that a resource is lacking, whether it is used up or not offered.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;
use whathappened_model::event::{Event, EventId};
use whathappened_model::object::{ObjectBody, ObjectKey, Taint};
use whathappened_model::table::Table;
use whathappened_model::time::Stamp;

use super::toleration::Tolerations;
use super::{Fact, Task, TaskKind, clusters};
use crate::evidence::{Evidence, Objects, SpillError, Version};
use crate::graph::TaskRow;
use crate::signals::named;
use crate::symbols::{Symbol, SymbolTable};

/// Nodes that are told of one pod: one would have been enough.
const MOST_NODES: usize = 3;

/// The kind of fact.
const FACT: &str = "k8s.node.devices_short";

/// What a pod's containers may wait for, as facts tell, when it does not run.
const WAITS: [&str; 5] = [
    named::K8S_CONTAINER_CANNOT_RUN,
    named::K8S_CONTAINER_CONFIG_ERROR,
    named::K8S_CONTAINER_CRASH_LOOP,
    named::K8S_CONTAINER_IMAGE_PULL_FAILED,
    named::K8S_POD_SANDBOX_FAILED,
];

/// Of one resource of a node: how many it has, where that is known, and how many it offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shortage {
    has: Option<i64>,
    offers: i64,
}

/// A fact for each resource of which a node offered fewer than it has when it was last seen.
pub(super) fn facts(objects: &Objects) -> Vec<Event> {
    let nodes = objects.iter().filter(|(key, _)| key.kind == "Node");
    let mut found = Vec::new();
    for (key, versions) in nodes {
        let Some(last) = versions.last().filter(|last| !last.deleted) else {
            continue;
        };
        for (resource, shortage) in shortages(&last.body) {
            found.extend(event(key, versions, last, &resource, shortage));
        }
    }
    found
}

fn event(
    key: &ObjectKey,
    versions: &[Version],
    last: &Version,
    resource: &str,
    shortage: Shortage,
) -> Option<Event> {
    let time = last.at.filter(|at| *at != Stamp::OPEN)?;
    let same = |version: &&Version| shortages(&version.body).get(resource) == Some(&shortage);
    let streak = versions.iter().rev().take_while(same);
    let since = streak.filter_map(|version| version.at).min();
    let since = since.map_or(time, |since| Stamp {
        lo: since.lo.min(time.lo),
        hi: time.hi,
    });
    let offers = shortage.offers.to_string();
    let has = shortage.has.map(|has| has.to_string());
    let identity = key.identity();
    let id = EventId::of(&[FACT, &identity, resource, &offers, &since.lo.to_string()]);
    let mut event = Event::new(id, FACT, since, last.source_kind);
    event.object_kind = Some(key.kind.clone());
    event.object_uid = Some(key.uid.clone()).filter(|uid| !uid.is_empty());
    event.entities.node = Some(key.name.clone());
    event.origin = last.origin.clone();
    event.raw = json!({ "resource": resource, "capacity": has, "allocatable": offers }).to_string();
    event.set_attribute("resource", Some(resource));
    event.set_attribute("capacity", has);
    event.set_attribute("allocatable", Some(offers));
    Some(event)
}

/// What a node has and does not offer. One that is about to be partitioned anew has its plugin stopped for that.
fn shortages(node: &ObjectBody) -> BTreeMap<String, Shortage> {
    let mig = node.labels.get("nvidia.com/mig.config.state");
    if mig.is_some_and(|state| matches!(state.as_str(), "pending" | "rebooting")) {
        return BTreeMap::new();
    }
    let amount = |text: Option<&String>| text.map_or(Some(0), |text| text.parse::<i64>().ok());
    let mut found = BTreeMap::new();
    for (resource, has) in &node.devices {
        let (Some(has), Some(offers)) = (amount(Some(has)), amount(node.allocatable.get(resource)))
        else {
            continue;
        };
        // A plugin that splits its devices offers them under other names, and none under the first.
        let vendor = |name: &str| name.split('/').next().unwrap_or_default().to_owned();
        let otherwise = || {
            let mut others = node.devices.iter();
            others.any(|(other, count)| {
                other != resource
                    && vendor(other) == vendor(resource)
                    && amount(Some(count)) != Some(0)
            })
        };
        if has > 0 && offers < has {
            found.insert(
                resource.clone(),
                Shortage {
                    has: Some(has),
                    offers,
                },
            );
        } else if has == 0 && offers == 0 && has_gpus(node) && !otherwise() {
            found.insert(resource.clone(), Shortage { has: None, offers });
        }
    }
    found
}

/// Whether a node's labels say that there are GPUs in it: those of feature discovery, and a cloud's own.
fn has_gpus(node: &ObjectBody) -> bool {
    const LABELS: [&str; 4] = [
        "amd.com/gpu.",
        "cloud.google.com/gke-accelerator",
        "feature.node.kubernetes.io/pci-10de.present",
        "nvidia.com/gpu.",
    ];
    let mut labels = node
        .labels
        .iter()
        .filter(|(_, value)| !matches!(value.as_str(), "0" | "false"));
    labels.any(|(key, _)| LABELS.iter().any(|known| key.starts_with(known)))
}

/// Tells the pods that found no room of the nodes that would have had some, and of the plugins that do not run there.
pub(super) fn add_to_waiting(
    pods: &Table<Task>,
    evidence: &mut Evidence,
    facts: &mut Vec<Fact>,
) -> Result<(), SpillError> {
    let symbols = &evidence.symbols;
    let (Some(short), Some(lacking)) = (
        symbols.find(named::GPU_ALLOCATABLE_SHORT),
        symbols.find(named::K8S_POD_UNSCHEDULABLE_CAPACITY),
    ) else {
        return Ok(());
    };
    let down = evidence.symbols.number(named::GPU_DEVICE_PLUGIN_DOWN);
    let evidence = &*evidence;
    let nodes = short_nodes(evidence, facts, short)?;
    if nodes.is_empty() {
        return Ok(());
    }
    let mut lacks: BTreeMap<TaskRow, BTreeSet<Symbol>> = BTreeMap::new();
    for fact in facts.iter().filter(|fact| fact.signal == lacking) {
        if let Some(pod) = fact.pod {
            lacks.entry(pod).or_default().insert(fact.detail);
        }
    }
    let plugins = plugins(pods, &evidence.symbols, facts);
    let mut added = Vec::new();
    for (number, lacks) in &lacks {
        let Some(pod) = pods.get(*number) else {
            continue;
        };
        let would_fit = |node: &&ShortNode<'_>| {
            lacks.contains(&node.fact.detail)
                && !clusters::is_elsewhere(pod, &node.fact)
                && node.fits(pod, evidence.symbols.name(node.fact.detail))
        };
        for node in nodes.iter().filter(would_fit).take(MOST_NODES) {
            added.push(Fact {
                pod: Some(*number),
                ..node.fact
            });
            let plugin = plugins.get(&node.fact.node);
            added.extend(plugin.map(|reason| Fact {
                signal: down,
                pod: Some(*number),
                node: node.fact.node,
                ..*reason
            }));
        }
    }
    facts.extend(added);
    Ok(())
}

/// A node that offers fewer devices than it has.
struct ShortNode<'a> {
    fact: Fact,
    shortage: Shortage,
    body: &'a ObjectBody,
}

fn short_nodes<'a>(
    evidence: &'a Evidence,
    facts: &[Fact],
    short: Symbol,
) -> Result<Vec<ShortNode<'a>>, SpillError> {
    let mut known: BTreeMap<&str, &ObjectBody> = BTreeMap::new();
    let mut found = Vec::new();
    for fact in facts
        .iter()
        .filter(|fact| fact.signal == short && fact.node.is_some())
    {
        if known.is_empty() {
            let nodes = evidence
                .objects
                .iter()
                .filter(|(key, _)| key.kind == "Node");
            known = nodes
                .filter_map(|(key, versions)| Some((key.name.as_str(), &*versions.last()?.body)))
                .collect();
        }
        let event = evidence.event(fact.row)?;
        let number = |key: &str| event.attribute(key)?.parse::<i64>().ok();
        if let (Some(body), Some(offers)) = (
            known.get(evidence.symbols.name(fact.node)),
            number("allocatable"),
        ) {
            let has = number("capacity");
            found.push(ShortNode {
                fact: *fact,
                shortage: Shortage { has, offers },
                body,
            });
        }
    }
    // Those that offer none first, then by name.
    found.sort_by_key(|node| {
        let name = evidence.symbols.name(node.fact.node);
        (node.shortage.offers, name, node.fact.row)
    });
    Ok(found)
}

impl ShortNode<'_> {
    /// Whether a pod would have been put there, as far as its own wishes and the node's go, had all devices been offered.
    fn fits(&self, pod: &Task, resource: &str) -> bool {
        let waits = pod.kind == TaskKind::Pod
            && pod.unplaced.is_some()
            && pod.bound.is_none()
            && pod.started.is_none()
            // One that is gone lacked them if they were not offered by then.
            && pod.gone.is_none_or(|gone| self.fact.time.lo <= gone.hi)
            && !pod.node.is_some();
        let requested = pod.body.as_deref();
        let wants = requested.map_or(0, |body| wanted(body, resource)).max(1);
        let would =
            self.shortage.offers < wants && self.shortage.has.is_none_or(|has| wants <= has);
        let selector = requested
            .map(|body| &body.node_selector)
            .into_iter()
            .flatten();
        let chosen = || {
            let mut selector = selector;
            selector.all(|(key, value)| self.body.labels.get(key) == Some(value))
        };
        let stands = |taint: &Taint| {
            taint.key == resource
                || requested.is_some_and(|body| Tolerations::of(body).cover(taint))
        };
        let mut taints = self.body.taints.iter();
        waits
            && would
            && chosen()
            && !self.body.unschedulable
            && taints.all(|taint| taint.effect == "PreferNoSchedule" || stands(taint))
    }
}

/// How many of a resource all containers of a pod ask for.
fn wanted(pod: &ObjectBody, resource: &str) -> i64 {
    let amounts = pod.containers.iter().filter_map(|container| {
        let asked = container.limits.get(resource);
        asked
            .or_else(|| container.requests.get(resource))?
            .parse::<i64>()
            .ok()
    });
    amounts.sum()
}

/// Words in the names of pods and containers that make a node offer its devices: without the driver no plugin finds any.
const PLUGINS: [&str; 3] = ["device-plugin", "deviceplugin", "nvidia-driver-daemonset"];

/// By node, what is told last of a device plugin there that does not run.
fn plugins(pods: &Table<Task>, symbols: &SymbolTable, facts: &[Fact]) -> BTreeMap<Symbol, Fact> {
    let waits: Vec<Symbol> = WAITS.iter().filter_map(|name| symbols.find(name)).collect();
    let mut found: BTreeMap<Symbol, Fact> = BTreeMap::new();
    for fact in facts.iter().filter(|fact| waits.contains(&fact.signal)) {
        let Some(pod) = pods.get(fact.pod) else {
            continue;
        };
        let names = [symbols.name(pod.name), symbols.name(fact.container)];
        let is_plugin = names
            .iter()
            .any(|name| PLUGINS.iter().any(|word| name.contains(word)));
        if is_plugin && pod.node.is_some() && !pod.waits.is_empty() && pod.gone.is_none() {
            let known = found.entry(pod.node).or_insert(*fact);
            if (known.time, known.id) < (fact.time, fact.id) {
                *known = *fact;
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(devices: &[(&str, &str, &str)]) -> ObjectBody {
        let mut body = ObjectBody::default();
        for (resource, has, offers) in devices {
            body.devices
                .insert((*resource).to_owned(), (*has).to_owned());
            body.allocatable
                .insert((*resource).to_owned(), (*offers).to_owned());
        }
        body
    }

    #[test]
    fn a_node_is_short_of_what_it_has_and_does_not_offer() {
        let one = |devices| shortages(&node(devices)).into_values().next();
        let none = Some(Shortage {
            has: Some(8),
            offers: 0,
        });
        assert_eq!(one(&[("nvidia.com/gpu", "8", "0")]), none);
        assert_eq!(one(&[("nvidia.com/gpu", "8", "8")]), None);
        // A plugin that has been gone for longer than the kubelet waits for it.
        let mut gone = node(&[("nvidia.com/gpu", "0", "0")]);
        assert!(shortages(&gone).is_empty(), "a machine without any");
        let label = (
            "nvidia.com/gpu.product".to_owned(),
            "NVIDIA-H100".to_owned(),
        );
        gone.labels.extend([label]);
        let none = Shortage {
            has: None,
            offers: 0,
        };
        assert_eq!(shortages(&gone).get("nvidia.com/gpu"), Some(&none));
    }

    #[test]
    fn gpus_that_are_split_are_offered_under_other_names() {
        let split = [
            ("nvidia.com/gpu", "0", "0"),
            ("nvidia.com/mig-1g.10gb", "56", "56"),
        ];
        assert!(shortages(&node(&split)).is_empty());
        let mut anew = node(&[("nvidia.com/gpu", "8", "0")]);
        anew.labels.insert(
            "nvidia.com/mig.config.state".to_owned(),
            "pending".to_owned(),
        );
        assert!(shortages(&anew).is_empty());
    }
}
