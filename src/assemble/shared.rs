//! Who else was hit by what failed: counts alone, for whoever asks may not see the
//! others.

use std::collections::BTreeSet;

use whathappened_connectors::time::SECOND;
use whathappened_core::shared::{MACHINES, Seen, Troubles, Who, namespace_number};
use whathappened_core::world::Fact;

use super::teller::Teller;
use crate::answer::Shared;
use crate::explain::gang::Finding;

impl Teller<'_> {
    /// Who saw the trouble that a finding's chain tells of; `None` where nobody else did.
    pub(super) fn shared(&self, finding: &Finding) -> Option<Shared> {
        let world = self.world();
        let candidate = finding.candidate.as_ref()?;
        let troubles: Vec<&Fact> = candidate
            .path
            .iter()
            .filter_map(|step| self.fact(step.fact))
            .filter(|fact| Troubles::is_one(world, fact))
            .collect();
        if troubles.is_empty() {
            return None;
        }
        let all = Troubles::of(world, &self.case.runs);
        let most = |seen: &Seen| (seen.witnesses(), seen.nodes.len());
        let seen = troubles
            .into_iter()
            .filter_map(|fact| all.seen(world, fact))
            .max_by_key(most)?;
        if seen.witnesses() < 2 {
            return None;
        }
        let own = self.case.runs.get(finding.run)?;
        let namespace = |pod: u32| {
            let pod = world.pods.get(pod as usize)?;
            Some(world.name(pod.namespace).to_owned())
        };
        let own_namespaces: BTreeSet<String> =
            own.pods.iter().filter_map(|pod| namespace(*pod)).collect();
        let (mut others, mut elsewhere) = (0, BTreeSet::new());
        for who in &seen.pods {
            match who {
                Who::Pod(pod) if own.pods.contains(pod) => {}
                Who::Pod(pod) => {
                    others += 1;
                    elsewhere.extend(
                        namespace(*pod)
                            .filter(|name| !own_namespaces.contains(name))
                            .map(|name| namespace_number(&name)),
                    );
                }
                Who::Other(_, number) => {
                    others += 1;
                    let is_own = own_namespaces
                        .iter()
                        .any(|name| namespace_number(name) == *number);
                    elsewhere.extend(Some(*number).filter(|_| !is_own));
                }
            }
        }
        let mut nodes = seen.nodes.iter().cloned();
        let node = match (nodes.next(), nodes.next()) {
            (Some(only), None) => Some(only),
            _ => None,
        };
        Some(Shared {
            what: seen.what.to_owned(),
            pods: seen.pods.len(),
            nodes: seen.nodes.len(),
            other_pods: others,
            other_namespaces: elsewhere.len(),
            node,
            within_s: (seen.within + SECOND - 1) / SECOND,
        })
    }
}

impl Shared {
    /// A sentence of it, after the one that says what happened.
    pub(super) fn sentence(&self) -> String {
        let pods = counted(self.pods, "pod");
        let within = match self.within_s {
            seconds @ 0..120 => format!("{} s", seconds.max(1)),
            seconds => format!("{} min", (seconds + 59) / 60),
        };
        let others = match (self.other_pods, self.other_namespaces) {
            (0, _) => String::new(),
            (pods, 0) => format!(", among them {} of other runs", counted(pods, "pod")),
            (pods, spaces) => format!(
                ", among them {} of other runs, of {}",
                counted(pods, "pod"),
                counted(spaces, "other namespace")
            ),
        };
        match (&self.node, self.pods) {
            (Some(node), pods) if pods > 1 => format!(
                "Seen by {pods} pods within {within}, all on {node}: that host's own trouble{others}."
            ),
            (_, 0) if self.what == MACHINES => format!(
                "{} stopped answering within {within}.",
                counted(self.nodes, "node")
            ),
            (_, 0) => format!(
                "Seen by {} themselves within {within}.",
                counted(self.nodes, "node")
            ),
            _ => {
                let nodes = counted(self.nodes, "node");
                format!(
                    "Shared: {} seen failing by {pods} on {nodes} within {within}{others}.",
                    self.what
                )
            }
        }
    }
}

fn counted(number: usize, word: &str) -> String {
    match number {
        1 => format!("1 {word}"),
        many => format!("{many} {word}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(pods: usize, nodes: usize, others: (usize, usize), node: Option<&str>) -> String {
        let shared = Shared {
            what: "name resolution".to_owned(),
            pods,
            nodes,
            other_pods: others.0,
            other_namespaces: others.1,
            node: node.map(str::to_owned),
            within_s: 40,
        };
        shared.sentence()
    }

    #[test]
    fn others_are_counted_and_not_named() {
        assert_eq!(
            seen(16, 6, (14, 3), None),
            "Shared: name resolution seen failing by 16 pods on 6 nodes within 40 s, among them 14 pods of other runs, of 3 other namespaces."
        );
        assert_eq!(
            seen(4, 1, (2, 0), Some("gpu-7")),
            "Seen by 4 pods within 40 s, all on gpu-7: that host's own trouble, among them 2 pods of other runs."
        );
        assert_eq!(
            seen(0, 12, (0, 0), None),
            "Seen by 12 nodes themselves within 40 s."
        );
        let silent = Shared {
            what: MACHINES.to_owned(),
            pods: 0,
            nodes: 2,
            other_pods: 0,
            other_namespaces: 0,
            node: None,
            within_s: 4,
        };
        assert_eq!(silent.sentence(), "2 nodes stopped answering within 4 s.");
    }
}
