//! Pods that ask for more devices than any node has: they fit nowhere, however long they wait.

use std::collections::BTreeMap;

use whathappened_core::death::DeathState;
use whathappened_core::graph::EntityGraph;
use whathappened_model::object::{Container, ObjectBody};

use super::context::ReportContext;
use crate::explain::gang::Finding;

/// What a pod asks for, and the most that one node offers of it.
pub(super) struct TooLarge {
    resource: String,
    wanted: i64,
    most: i64,
}

impl TooLarge {
    /// What is said of it.
    pub(super) fn sentence(&self) -> String {
        format!(
            "It requests {} {}, and no node that was read has more than {}.",
            self.wanted, self.resource, self.most
        )
    }

    /// What to do about it.
    pub(super) fn advice(&self) -> String {
        format!(
            "Request at most {} {} in one pod, or use nodes that have more; on the nodes that were read, waiting does not help.",
            self.most, self.resource
        )
    }
}

impl ReportContext<'_> {
    /// What the pod that was never scheduled lacks on every node, whatever runs there, as its scheduler says as well.
    pub(super) fn too_large(&self, finding: &Finding, message: &str) -> Option<TooLarge> {
        let first = finding.first.first().and_then(|death| self.death(*death))?;
        let graph = self.graph();
        let pod = graph.pods.get(first.pod as usize)?;
        if first.state != DeathState::NeverScheduled {
            return None;
        }
        let found = beyond(pod.body.as_deref()?, &most_of_nodes(graph))?;
        let is_told = message.contains(&format!("Insufficient {}", found.resource));
        is_told.then_some(found)
    }
}

/// The device of which a container of a pod asks for more than the most that any node has. One that no node has at all may be of
/// nodes that are yet to come. Those that prepare a pod ask for themselves, so that containers are not added up.
fn beyond(pod: &ObjectBody, most: &BTreeMap<&str, i64>) -> Option<TooLarge> {
    let mut wanted: BTreeMap<&str, i64> = BTreeMap::new();
    for container in &pod.containers {
        for (resource, count) in requested(container) {
            let known = wanted.entry(resource).or_default();
            *known = count.max(*known);
        }
    }
    wanted.into_iter().find_map(|(resource, wanted)| {
        let most = *most.get(resource)?;
        (most > 0 && wanted > most).then(|| TooLarge {
            resource: resource.to_owned(),
            wanted,
            most,
        })
    })
}

/// Devices that a container asks for: their limits are their requests.
fn requested(container: &Container) -> impl Iterator<Item = (&str, i64)> {
    container.limits.iter().filter_map(|(resource, count)| {
        let is_device = resource.contains('/') && !resource.starts_with("hugepages-");
        Some((resource.as_str(), count.parse().ok()?)).filter(|_| is_device)
    })
}

/// The most of each device that one node has, by the last version of each.
fn most_of_nodes(graph: &EntityGraph) -> BTreeMap<&str, i64> {
    let mut most: BTreeMap<&str, i64> = BTreeMap::new();
    let nodes = graph.evidence.objects.iter();
    for (_, versions) in nodes.filter(|(key, _)| key.kind == "Node") {
        let Some(last) = versions.last().filter(|last| !last.deleted) else {
            continue;
        };
        // What it has and does not offer at the moment it may offer again.
        let body = &last.body;
        for (resource, count) in body.devices.iter().chain(&body.allocatable) {
            if let Ok(count) = count.parse::<i64>() {
                let known = most.entry(resource.as_str()).or_default();
                *known = count.max(*known);
            }
        }
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asks_for(gpus: &str) -> ObjectBody {
        let limits = [("nvidia.com/gpu".to_owned(), gpus.to_owned())];
        ObjectBody {
            containers: vec![Container {
                name: "main".to_owned(),
                limits: limits.into(),
                ..Container::default()
            }],
            ..ObjectBody::default()
        }
    }

    #[test]
    fn a_pod_that_fits_on_no_node_is_told_so() {
        let most = BTreeMap::from([("nvidia.com/gpu", 8)]);
        let found = beyond(&asks_for("16"), &most);
        let told = found.map(|found| found.sentence());
        assert_eq!(
            told.as_deref(),
            Some("It requests 16 nvidia.com/gpu, and no node that was read has more than 8.")
        );
        assert!(beyond(&asks_for("8"), &most).is_none());
        assert!(beyond(&asks_for("16"), &BTreeMap::new()).is_none());
    }
}
