//! Which cloud instance carried which node, and when.
//!
//! A name is not an identity: a group recreates an instance under the name of
//! the one before. So an instance carries a node only during its own life, and
//! where the node's object says which instance it is, only that one does.

use std::collections::{BTreeMap, HashMap, HashSet};

use whathappened_model::machine::{Cloud, Machine};
use whathappened_model::time::{Nanos, SECOND};

use super::slurm_machine::SlurmMachines;
use super::{EntityGraph, Task, TaskKind};
use crate::evidence::{Objects, Version};
use crate::graph::TaskRow;
use crate::symbols::{Symbol, SymbolTable};

/// GKE writes the numeric id of the instance here; `spec.providerID` has only its name.
const GCE_ID: &str = "container.googleapis.com/instance_id";

/// An instance that carried a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeInstance {
    /// Number of the instance among the graph's tasks.
    pub member: TaskRow,
    /// Its id.
    pub instance: Symbol,
    /// From when, [`Nanos::MIN`] where nothing tells.
    pub from: Nanos,
    /// Until when, [`Nanos::MAX`] where nothing tells.
    pub to: Nanos,
}

/// Instances by the names of the nodes that they carried, in time order.
pub type NodeInstances = HashMap<Symbol, Vec<NodeInstance>>;

/// What a node's object says of the machine under it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ProviderId {
    /// The instance's id, lower-cased; empty where the object does not tell.
    pub(super) id: String,
    /// Project or account of the instance, where the object tells.
    account: Option<String>,
    /// Its zone, where the cloud's names are unique in a zone only.
    zone: Option<String>,
    pub(super) from: Nanos,
    pub(super) to: Nanos,
}

impl ProviderId {
    /// A node that was an instance for as long.
    pub(super) fn of(id: String, from: Nanos, to: Nanos) -> Self {
        Self {
            id,
            from,
            to,
            ..Self::default()
        }
    }
}

/// Ties instances to the nodes that they carried.
pub(super) fn join(graph: &EntityGraph, of_slurm: &SlurmMachines) -> NodeInstances {
    let mut pins = pins(&graph.evidence.objects);
    of_slurm.add_to(&mut pins, &graph.evidence.symbols, &graph.pods);
    let mut by_id: HashMap<&str, Vec<(&str, &ProviderId)>> = HashMap::new();
    for (node, pin) in pins
        .iter()
        .flat_map(|(node, pins)| pins.iter().map(move |pin| (node, pin)))
    {
        if !pin.id.is_empty() {
            by_id.entry(&pin.id).or_default().push((node, pin));
        }
    }
    let symbols = &graph.evidence.symbols;
    // Batch jobs and logs name the machines that they were on as pods do.
    let ran = graph.pods.iter();
    let ran = ran.filter(|one| one.kind != TaskKind::Instance);
    let mut nodes: HashSet<Symbol> = ran.flat_map(Task::machines).collect();
    nodes.extend(pins.keys().filter_map(|node| symbols.find(node)));
    let mut found: NodeInstances = HashMap::new();
    let mut accounts: HashMap<Symbol, HashSet<Symbol>> = HashMap::new();
    for (number, one) in graph.pods.numbered() {
        if one.kind != TaskKind::Instance {
            continue;
        }
        let (from, to) = one.stay();
        let node_instance = |from, to| NodeInstance {
            member: number,
            instance: one.uid,
            from,
            to,
        };
        let id = graph.name(one.uid).to_lowercase();
        for (node, pin) in by_id.get(id.as_str()).into_iter().flatten() {
            if let Some(node) = symbols.find(node) {
                let node_instance = node_instance(from.max(pin.from), to.min(pin.to));
                found.entry(node).or_default().push(node_instance);
            }
        }
        if by_id.contains_key(id.as_str()) {
            continue;
        }
        if let Some(name) = called(symbols, one, &nodes)
            && let Some(node_instance) =
                by_name(graph, (number, name), &pins, node_instance(from, to))
        {
            found.entry(name).or_default().push(node_instance);
            accounts.entry(name).or_default().insert(one.namespace);
        }
    }
    // Of machines of one name in two accounts nobody can say which of them it was.
    for (name, of) in accounts {
        let mut of = of.iter().map(|account| graph.name(*account));
        let first = of.next().unwrap_or_default();
        let same = |account: &str| account.is_empty() || same_account(first, account);
        if !pins.contains_key(graph.name(name)) && !first.is_empty() && !of.all(same) {
            found.remove(&name);
        }
    }
    for node_instances in found.values_mut() {
        one_after_the_other(graph, node_instances);
    }
    found
}

/// The node that bears an instance's name, or the first word of that, or the name that its owner gave it.
fn called(symbols: &SymbolTable, one: &Task, nodes: &HashSet<Symbol>) -> Option<Symbol> {
    let is_node = |name: &Symbol| name.is_some() && nodes.contains(name);
    if is_node(&one.name) {
        return Some(one.name);
    }
    let short = symbols.name(one.name).split_once('.').map(|(word, _)| word);
    let tag = one.body.as_ref().and_then(|body| body.labels.get("Name"));
    let names = short.into_iter().chain(tag.map(String::as_str));
    names.filter_map(|name| symbols.find(name)).find(is_node)
}

/// An instance of the node's name, where the node's object does not say otherwise.
fn by_name(
    graph: &EntityGraph,
    (number, name): (TaskRow, Symbol),
    pins: &BTreeMap<String, Vec<ProviderId>>,
    mut node_instance: NodeInstance,
) -> Option<NodeInstance> {
    let one = graph.pods.get(number)?;
    let name = graph.name(name);
    let account = graph.name(one.namespace);
    let zone = graph.name(one.zone);
    let zone = zone.rsplit_once('/').map_or(zone, |(_, zone)| zone);
    for pin in pins.get(name).into_iter().flatten() {
        let elsewhere = pin
            .account
            .as_ref()
            .is_some_and(|theirs| !account.is_empty() && !same_account(theirs, account))
            || pin
                .zone
                .as_ref()
                .is_some_and(|theirs| !zone.is_empty() && !theirs.eq_ignore_ascii_case(zone));
        // Another instance was this node then: this one can only have been it before or after.
        if elsewhere || !pin.id.is_empty() {
            if node_instance.from < pin.from {
                node_instance.to = node_instance.to.min(pin.from);
            } else {
                node_instance.from = node_instance.from.max(pin.to);
            }
        }
    }
    (node_instance.from < node_instance.to).then_some(node_instance)
}

/// A project may be told by its number, which its name does not show.
fn same_account(a: &str, b: &str) -> bool {
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    a.eq_ignore_ascii_case(b) || is_number(a) || is_number(b)
}

/// A name is borne by one instance at a time: where a beginning or an end is
/// not told, the neighbour's tells it.
fn one_after_the_other(graph: &EntityGraph, node_instances: &mut [NodeInstance]) {
    let seen = |node_instance: &NodeInstance| {
        let one = graph.pods.get(node_instance.member);
        one.and_then(|one| one.seen)
            .unwrap_or((node_instance.from, node_instance.to))
    };
    node_instances.sort_by_key(|one| {
        let begin = if one.from == Nanos::MIN {
            seen(one).0
        } else {
            one.from
        };
        (begin, one.to, one.member)
    });
    for index in 1..node_instances.len() {
        let (before, after) = (node_instances[index - 1], node_instances[index]);
        if before.to == Nanos::MAX && after.from != Nanos::MIN {
            node_instances[index - 1].to = after.from;
        } else if after.from == Nanos::MIN && before.to != Nanos::MAX {
            node_instances[index].from = before.to;
        } else if before.to == Nanos::MAX && after.from == Nanos::MIN {
            // Neither is told: the first record of the later one parts them.
            let parts = seen(&after).0;
            node_instances[index - 1].to = parts;
            node_instances[index].from = parts;
        }
    }
}

/// What node objects say of their machines, by the node's name, in time order.
pub(super) fn pins(objects: &Objects) -> BTreeMap<String, Vec<ProviderId>> {
    let mut found: BTreeMap<String, Vec<ProviderId>> = BTreeMap::new();
    for (key, versions) in objects.iter().filter(|(key, _)| key.kind == "Node") {
        found
            .entry(key.name.clone())
            .or_default()
            .push(pin(versions));
    }
    for pins in found.values_mut() {
        pins.sort_by_key(|pin| (pin.from, pin.to));
        // The next node of the name began when this one had ended at the latest.
        for index in 1..pins.len() {
            let next = pins[index].from;
            pins[index - 1].to = pins[index - 1].to.min(next);
        }
    }
    found
}

fn pin(versions: &[Version]) -> ProviderId {
    let created = versions.iter().find_map(|version| version.body.created);
    let gone = versions
        .iter()
        .find(|version| version.deleted)
        .and_then(|version| version.at);
    let reported = versions
        .iter()
        .find_map(|version| version.body.provider_id.as_deref())
        .and_then(Machine::parse_provider_id);
    let annotated = versions
        .iter()
        .find_map(|version| version.body.annotations.get(GCE_ID));
    let id = annotated
        .cloned()
        .or_else(|| reported.as_ref()?.id.clone())
        .unwrap_or_default();
    let of_gce = reported.as_ref().filter(|one| one.cloud == Cloud::Gcp);
    ProviderId {
        id: id.to_lowercase(),
        zone: of_gce.and_then(|machine| machine.zone.clone()),
        account: reported.and_then(|machine| machine.account),
        from: created.map_or(Nanos::MIN, |at| at.lo),
        to: gone.map_or(Nanos::MAX, |at| at.hi),
    }
}

/// The instances that carried a node at a time. Of several that may have been
/// it, none is taken: one of them would be blamed wrongly.
#[must_use]
pub(super) fn at(node_instances: &NodeInstances, node: Symbol, at: Nanos) -> Option<NodeInstance> {
    let mut then = node_instances
        .get(&node)
        .into_iter()
        .flatten()
        .filter(|one| one.from.saturating_sub(SECOND) <= at && at <= one.to.saturating_add(SECOND));
    let first = then.next().copied()?;
    match then.next() {
        None => Some(first),
        // On the border the later one is only just made: it had nobody yet.
        Some(_) => Some(first).filter(|first| at <= first.to),
    }
}
