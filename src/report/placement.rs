//! Which nodes a pod that waits for a place cannot have, why, and what comes nearest: beside the scheduler's own sentence, which
//! counts nodes and names none.
//!
//! Nodes are compared as they were while it waited, by what is kept of them: cordons, taints, labels that the pod selects by, and
//! what they offer and pods ask for. Affinities, spreads, ports and volumes are not compared, and a node may be full of pods
//! that nobody showed us.

use std::collections::BTreeMap;

use whathappened_core::death::Death;
use whathappened_core::graph::{EntityGraph, Task, TaskKind, Tolerations};
use whathappened_model::object::{Container, ObjectBody, Taint};
use whathappened_model::time::{Nanos, SECOND};

use super::context::ReportContext;
use crate::explain::gang::Finding;

/// Names that are told of the nodes of one reason.
const NAMED: usize = 3;

/// Clocks of nodes and of the API server differ.
const CLOCKS: Nanos = 60 * SECOND;

/// What keeps a pod from one node. In the order in which they are told.
#[derive(Clone, Debug, PartialEq, PartialOrd)]
enum Obstacle {
    /// It takes no pods.
    Cordoned,
    /// It has a taint that the pod does not tolerate.
    Tainted(String),
    /// It has no such label.
    Unlabelled(String),
    /// It has less of a resource than the pod asks for, however empty it is.
    Small {
        resource: String,
        has: f64,
        asked: f64,
    },
    /// Others have what it has.
    Taken {
        resource: String,
        free: f64,
        asked: f64,
    },
}

/// Which nodes are kept from a pod by what.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Placement {
    /// `Of the 4 nodes that are known, …`
    pub(super) counted: String,
    /// `Nearest is gpu-a3: it lacks 4 nvidia.com/gpu.`
    pub(super) nearest: Option<String>,
}

impl ReportContext<'_> {
    /// Compares the nodes that are known with what the first victim of a finding asks for, if it was never placed.
    pub(super) fn placement(&self, finding: &Finding) -> Option<Placement> {
        let death = self.death(*finding.first.first()?)?;
        let cause = finding.candidate.as_ref().and_then(|one| self.rule(one));
        let is_about_places =
            cause.is_some_and(|rule| rule.cause.starts_with("sched.unschedulable"));
        if death.state != "never_scheduled" || !is_about_places {
            return None;
        }
        let graph = self.graph();
        let pod = graph.pods.get(death.pod as usize)?;
        let root = finding.candidate.as_ref()?.root();
        let said = self.event(root).ok().flatten();
        let said = said.as_ref().and_then(|event| event.message.as_deref());
        let of_all = said.and_then(nodes_counted);
        compared(graph, pod, death, of_all)
    }
}

/// `0/64 nodes are available: …`: how many nodes the scheduler looked at.
fn nodes_counted(message: &str) -> Option<usize> {
    let (before, _) = message.split_once(" nodes are available")?;
    let (_, all) = before.rsplit_once('/')?;
    all.parse().ok()
}

fn compared(
    graph: &EntityGraph,
    pod: &Task,
    death: &Death,
    of_all: Option<usize>,
) -> Option<Placement> {
    let template = graph.template(pod)?;
    if pod.kind != TaskKind::Pod || template.containers.is_empty() {
        return None;
    }
    let until = death.until.map(|until| until.hi).or(graph.now)?;
    let nodes = nodes_at(graph, until);
    let asked = asked(template);
    let tolerations = Tolerations::of(template);
    let used = used_at(graph, pod, until);
    let none = BTreeMap::new();
    let looked: Vec<(&str, Vec<Obstacle>)> = nodes
        .into_iter()
        .map(|(name, body)| {
            let used = used.get(name).unwrap_or(&none);
            (name, obstacles(body, template, &tolerations, &asked, used))
        })
        .collect();
    told(&looked, of_all)
}

/// The nodes that there were, as they were last seen until a time.
fn nodes_at(graph: &EntityGraph, until: Nanos) -> BTreeMap<&str, &ObjectBody> {
    let objects = graph.evidence.objects.iter();
    objects
        .filter(|(key, _)| key.kind == "Node")
        .filter_map(|(key, versions)| {
            let by_then = |at: Nanos| at <= until.saturating_add(CLOCKS);
            let mut seen = versions.iter().rev();
            let last = seen.find(|one| one.at.is_none_or(|at| by_then(at.lo)))?;
            (!last.deleted).then_some((key.name.as_str(), &*last.body))
        })
        .collect()
}

/// What pods that are known have of each node at a time.
fn used_at<'g>(
    graph: &'g EntityGraph,
    waiting: &Task,
    until: Nanos,
) -> BTreeMap<&'g str, BTreeMap<String, f64>> {
    let mut used: BTreeMap<&str, BTreeMap<String, f64>> = BTreeMap::new();
    for one in &graph.pods {
        let is_there = one.kind == TaskKind::Pod
            && one.node.is_some()
            && one.uid != waiting.uid
            && one.created.is_none_or(|created| created.lo <= until)
            && one.ended.or(one.gone).is_none_or(|over| over.lo > until)
            && !matches!(one.phase.as_deref(), Some("Succeeded" | "Failed"));
        let Some(body) = one.body.as_ref().filter(|_| is_there) else {
            continue;
        };
        let node = used.entry(graph.name(one.node)).or_default();
        for (resource, amount) in asked(body) {
            *node.entry(resource).or_default() += amount;
        }
    }
    used
}

/// What the containers of a pod ask for together. Who sets a limit alone asks for as much.
fn asked(body: &ObjectBody) -> BTreeMap<String, f64> {
    let mut asked: BTreeMap<String, f64> = BTreeMap::new();
    for container in &body.containers {
        for (resource, amount) in of_container(container) {
            *asked.entry(resource.clone()).or_default() += amount;
        }
    }
    asked
}

fn of_container(container: &Container) -> BTreeMap<&String, f64> {
    let limits = container.limits.iter();
    let all = limits.chain(&container.requests);
    all.filter_map(|(resource, text)| Some((resource, quantity(text)?)))
        .collect()
}

fn obstacles(
    node: &ObjectBody,
    pod: &ObjectBody,
    tolerations: &Tolerations,
    asked: &BTreeMap<String, f64>,
    used: &BTreeMap<String, f64>,
) -> Vec<Obstacle> {
    const CORDON: &str = "node.kubernetes.io/unschedulable";
    let mut found = Vec::new();
    let cordon = Taint {
        key: CORDON.to_owned(),
        value: String::new(),
        effect: "NoSchedule".to_owned(),
        added: None,
    };
    if node.unschedulable && !tolerations.cover(&cordon) {
        found.push(Obstacle::Cordoned);
    }
    let keeps_away = |taint: &&Taint| {
        let is_cordon = node.unschedulable && taint.key == CORDON;
        taint.effect != "PreferNoSchedule" && !is_cordon && !tolerations.cover(taint)
    };
    found.extend(node.taints.iter().filter(keeps_away).map(|taint| {
        let value = Some(&taint.value).filter(|value| !value.is_empty());
        let value = value.map_or_else(String::new, |value| format!("={value}"));
        Obstacle::Tainted(format!("{}{value}", taint.key))
    }));
    let selected = pod.node_selector.iter();
    let missing = selected.filter(|(key, value)| node.labels.get(*key) != Some(value));
    found.extend(missing.map(|(key, value)| Obstacle::Unlabelled(format!("{key}={value}"))));
    // A node whose status is not known offers nothing that could be compared.
    if node.allocatable.is_empty() {
        return found;
    }
    for (resource, asked) in asked.iter().filter(|(_, asked)| **asked > 0.0) {
        let has = node.allocatable.get(resource);
        let has = has.and_then(|text| quantity(text)).unwrap_or(0.0);
        let free = has - used.get(resource).copied().unwrap_or(0.0);
        let (resource, asked) = (resource.clone(), *asked);
        if asked > has {
            found.push(Obstacle::Small {
                resource,
                has,
                asked,
            });
        } else if asked > free {
            found.push(Obstacle::Taken {
                resource,
                free: free.max(0.0),
                asked,
            });
        }
    }
    found
}

fn told(looked: &[(&str, Vec<Obstacle>)], of_all: Option<usize>) -> Option<Placement> {
    if looked.is_empty() {
        return None;
    }
    // Each counts where it fails first, as the scheduler counts.
    let mut reasons: BTreeMap<(u8, String), Vec<&str>> = BTreeMap::new();
    for (name, obstacles) in looked {
        let reason = obstacles.first().map_or_else(
            || (u8::MAX, "shows none of these obstacles".to_owned()),
            |one| (one.order(), one.words()),
        );
        reasons.entry(reason).or_default().push(name);
    }
    // That a node could be had by what is known tells nothing by itself.
    if reasons.keys().all(|(order, _)| *order == u8::MAX) {
        return None;
    }
    let parts = reasons.iter().map(|((_, words), names)| {
        let more = names.len().saturating_sub(NAMED);
        let mut list = names
            .iter()
            .take(NAMED)
            .copied()
            .collect::<Vec<_>>()
            .join(", ");
        if more > 0 {
            list = format!("{list} and {more} more");
        }
        format!("{} {words} ({list})", names.len())
    });
    let parts: Vec<String> = parts.collect();
    let known = looked.len();
    let of_all = of_all.filter(|all| *all != known);
    let all = of_all.map_or_else(String::new, |all| {
        format!(", of {all} that the scheduler looked at")
    });
    let nodes = if known == 1 {
        "node that is"
    } else {
        "nodes that are"
    };
    Some(Placement {
        counted: format!("Of the {known} {nodes} known{all}: {}.", parts.join("; ")),
        nearest: nearest(looked),
    })
}

/// The node that lacks least.
fn nearest(looked: &[(&str, Vec<Obstacle>)]) -> Option<String> {
    let distance =
        |obstacles: &[Obstacle]| -> f64 { obstacles.iter().map(Obstacle::distance).sum() };
    let kept = looked.iter().filter(|(_, obstacles)| !obstacles.is_empty());
    let (name, obstacles) = kept.min_by(|(a, of_a), (b, of_b)| {
        let by_number = of_a.len().cmp(&of_b.len());
        let by_distance = distance(of_a).total_cmp(&distance(of_b));
        by_number.then(by_distance).then(a.cmp(b))
    })?;
    let lacks: Vec<String> = obstacles.iter().map(Obstacle::remedy).collect();
    Some(format!(
        "Of the nodes that are known {name} comes nearest: it would fit {}.",
        lacks.join(" and ")
    ))
}

impl Obstacle {
    fn order(&self) -> u8 {
        match self {
            Self::Cordoned => 0,
            Self::Tainted(_) => 1,
            Self::Unlabelled(_) => 2,
            Self::Small { .. } => 3,
            Self::Taken { .. } => 4,
        }
    }

    /// What nodes have it: `1 …`.
    fn words(&self) -> String {
        match self {
            Self::Cordoned => "unschedulable".to_owned(),
            Self::Tainted(taint) => format!("with the taint {taint}"),
            Self::Unlabelled(label) => format!("without the label {label}"),
            Self::Small {
                resource,
                has,
                asked,
            } => format!(
                "with {} {resource} in all where it requests {}",
                amount(resource, *has),
                amount(resource, *asked)
            ),
            Self::Taken {
                resource,
                free,
                asked,
            } => format!(
                "with {} {resource} free where it requests {}",
                amount(resource, *free),
                amount(resource, *asked)
            ),
        }
    }

    /// When the node would fit.
    fn remedy(&self) -> String {
        match self {
            Self::Cordoned => "if it were uncordoned".to_owned(),
            Self::Tainted(taint) => format!("if the pod tolerated {taint}"),
            Self::Unlabelled(label) => format!("if it had the label {label}"),
            Self::Small {
                resource,
                has,
                asked,
            } => format!(
                "if the pod requested {} {resource} less",
                amount(resource, asked - has)
            ),
            Self::Taken {
                resource,
                free,
                asked,
            } => format!(
                "if {} more {resource} were free",
                amount(resource, asked - free)
            ),
        }
    }

    /// How far it is from no obstacle: a part of what is asked for, or a whole.
    fn distance(&self) -> f64 {
        match self {
            Self::Small { has, asked, .. } => 1.0 - has / asked,
            Self::Taken { free, asked, .. } => (1.0 - free / asked) / 2.0,
            Self::Cordoned | Self::Tainted(_) | Self::Unlabelled(_) => 1.0,
        }
    }
}

/// An amount of a resource for people.
fn amount(resource: &str, value: f64) -> String {
    const GIB: f64 = 1_073_741_824.0;
    let is_bytes =
        resource == "memory" || resource.contains("storage") || resource.starts_with("hugepages");
    let (value, unit) = if is_bytes {
        (value / GIB, " GiB of")
    } else {
        (value, "")
    };
    let text = format!("{value:.1}");
    format!("{}{unit}", text.strip_suffix(".0").unwrap_or(&text))
}

/// `500m`, `4`, `64Gi`, `1e3`: a quantity of Kubernetes.
fn quantity(text: &str) -> Option<f64> {
    const UNITS: [(&str, f64); 13] = [
        ("Ki", 1_024.0),
        ("Mi", 1_048_576.0),
        ("Gi", 1_073_741_824.0),
        ("Ti", 1_099_511_627_776.0),
        ("Pi", 1_125_899_906_842_624.0),
        ("n", 1e-9),
        ("u", 1e-6),
        ("m", 1e-3),
        ("k", 1e3),
        ("M", 1e6),
        ("G", 1e9),
        ("T", 1e12),
        ("P", 1e15),
    ];
    let text = text.trim();
    let with_unit = UNITS.iter().find_map(|(unit, by)| {
        let number: f64 = text.strip_suffix(unit)?.parse().ok()?;
        Some(number * by)
    });
    with_unit.or_else(|| text.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        let owned = pairs.iter();
        owned
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect()
    }

    fn node(gpus: &str, pool: &str) -> ObjectBody {
        ObjectBody {
            labels: texts(&[("pool", pool)]),
            allocatable: texts(&[
                ("nvidia.com/gpu", gpus),
                ("memory", "512Gi"),
                ("cpu", "63500m"),
            ]),
            ..ObjectBody::default()
        }
    }

    fn tainted(mut node: ObjectBody) -> ObjectBody {
        node.taints.push(Taint {
            key: "team".to_owned(),
            value: "other".to_owned(),
            effect: "NoSchedule".to_owned(),
            added: None,
        });
        node
    }

    fn pod() -> ObjectBody {
        ObjectBody {
            node_selector: texts(&[("pool", "a")]),
            containers: vec![Container {
                requests: texts(&[("cpu", "8"), ("memory", "64Gi")]),
                limits: texts(&[("nvidia.com/gpu", "8"), ("cpu", "16")]),
                ..Container::default()
            }],
            ..ObjectBody::default()
        }
    }

    fn look(node: &ObjectBody, used: &[(&str, f64)]) -> Vec<Obstacle> {
        let pod = pod();
        let used = used
            .iter()
            .map(|(name, value)| ((*name).to_owned(), *value))
            .collect();
        obstacles(node, &pod, &Tolerations::of(&pod), &asked(&pod), &used)
    }

    #[test]
    fn each_node_counts_for_what_keeps_the_pod_from_it() {
        let cordoned = ObjectBody {
            unschedulable: true,
            ..node("8", "a")
        };
        let looked = [
            ("gpu-a1", look(&tainted(node("8", "a")), &[])),
            ("gpu-a2", look(&cordoned, &[])),
            ("gpu-a3", look(&node("4", "a"), &[])),
            ("gpu-a4", look(&node("8", "b"), &[])),
            ("gpu-a5", look(&node("8", "a"), &[("nvidia.com/gpu", 2.0)])),
        ];
        let told = told(&looked, Some(5)).unwrap();
        assert_eq!(
            told.counted,
            "Of the 5 nodes that are known: 1 unschedulable (gpu-a2); 1 with the taint team=other (gpu-a1); \
             1 without the label pool=a (gpu-a4); 1 with 4 nvidia.com/gpu in all where it requests 8 (gpu-a3); \
             1 with 6 nvidia.com/gpu free where it requests 8 (gpu-a5)."
        );
        assert_eq!(
            told.nearest.as_deref(),
            Some(
                "Of the nodes that are known gpu-a5 comes nearest: it would fit if 2 more nvidia.com/gpu were free."
            )
        );
    }

    #[test]
    fn many_nodes_are_counted_and_the_first_few_are_named() {
        let full = look(&node("8", "a"), &[("nvidia.com/gpu", 8.0)]);
        let names: Vec<String> = (1..=7).map(|number| format!("gpu-a{number}")).collect();
        let looked: Vec<(&str, Vec<Obstacle>)> = names
            .iter()
            .map(|name| (name.as_str(), full.clone()))
            .collect();
        assert_eq!(
            told(&looked, Some(64)).unwrap().counted,
            "Of the 7 nodes that are known, of 64 that the scheduler looked at: 7 with 0 nvidia.com/gpu free where it \
             requests 8 (gpu-a1, gpu-a2, gpu-a3 and 4 more)."
        );
    }

    #[test]
    fn nothing_is_said_where_nothing_that_is_compared_is_in_the_way() {
        assert_eq!(told(&[], Some(4)), None);
        assert_eq!(
            told(&[("gpu-a1", look(&node("8", "a"), &[]))], Some(1)),
            None
        );
    }

    #[test]
    fn a_taint_that_is_tolerated_keeps_nobody_away() {
        let mut pod = pod();
        pod.tolerations = Some(r#"[{"key":"team","operator":"Exists"}]"#.to_owned());
        let node = tainted(node("8", "a"));
        let found = obstacles(
            &node,
            &pod,
            &Tolerations::of(&pod),
            &asked(&pod),
            &BTreeMap::new(),
        );
        assert_eq!(found, []);
    }

    #[test]
    fn quantities_are_what_kubernetes_means() {
        for (text, expected) in [
            ("500m", 0.5),
            ("4", 4.0),
            ("64Gi", 64.0 * 1_073_741_824.0),
            ("1e3", 1_000.0),
            ("2k", 2_000.0),
        ] {
            assert_eq!(quantity(text), Some(expected), "{text}");
        }
        assert_eq!(quantity("many"), None);
        assert_eq!(amount("memory", 64.0 * 1_073_741_824.0), "64 GiB of");
    }
}
