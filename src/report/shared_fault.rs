//! Who else was hit by what failed: counts alone, for whoever asks may not see the
//! others.

use std::collections::{BTreeSet, HashSet};

use whathappened_core::graph::{Fact, TaskRow};
use whathappened_core::shared_fault::{
    FaultWitnesses, MACHINES, SharedFaults, WitnessPod, namespace_number,
};
use whathappened_model::time::SECOND;

use super::context::ReportContext;
use crate::answer::SharedFault;
use crate::explain::gang::Finding;

impl ReportContext<'_> {
    /// Who saw the trouble that a finding's chain tells of; `None` where nobody else did.
    pub(super) fn shared(&self, finding: &Finding) -> Option<SharedFault> {
        let graph = self.graph();
        let candidate = finding.candidate.as_ref()?;
        let faults: Vec<&Fact> = candidate
            .path
            .iter()
            .filter_map(|step| self.fact(step.fact))
            .filter(|fact| SharedFaults::is_one(graph, fact))
            .collect();
        if faults.is_empty() {
            return None;
        }
        let all = self.shared_faults();
        let most = |seen: &FaultWitnesses| (seen.witnesses(), seen.nodes.len());
        let seen = faults
            .into_iter()
            .filter_map(|fact| all.seen(graph, fact))
            .max_by_key(most)?;
        if seen.witnesses() < 2 {
            return None;
        }
        let own = self.case.runs.get(finding.run)?;
        let namespace = |pod: TaskRow| {
            let pod = graph.pods.get(pod)?;
            Some(graph.name(pod.namespace).to_owned())
        };
        let own_namespaces: BTreeSet<String> =
            own.pods.iter().filter_map(|pod| namespace(*pod)).collect();
        let members: HashSet<TaskRow> = own.pods.iter().copied().collect();
        let (mut others, mut elsewhere) = (0, BTreeSet::new());
        for who in &seen.pods {
            match who {
                WitnessPod::Pod(pod) if members.contains(pod) => {}
                WitnessPod::Pod(pod) => {
                    others += 1;
                    elsewhere.extend(
                        namespace(*pod)
                            .filter(|name| !own_namespaces.contains(name))
                            .map(|name| namespace_number(&name)),
                    );
                }
                WitnessPod::Other(_, number) => {
                    others += 1;
                    let is_own = own_namespaces
                        .iter()
                        .any(|name| namespace_number(name) == *number);
                    elsewhere.extend(Some(*number).filter(|_| !is_own));
                }
            }
        }
        // What one saw is shared with nobody.
        if seen.pods.len() == 1 {
            return None;
        }
        let mut nodes = seen.nodes.iter().cloned();
        let node = match (nodes.next(), nodes.next()) {
            (Some(only), None) => Some(only),
            _ => None,
        };
        Some(SharedFault {
            what: seen.what.to_string(),
            pods: seen.pods.len(),
            nodes: seen.nodes.len(),
            other_pods: others,
            other_namespaces: elsewhere.len(),
            node,
            within_s: (seen.within + SECOND - 1) / SECOND,
        })
    }
}

impl SharedFault {
    /// A sentence of it, after the one that says what happened.
    pub(super) fn sentence(&self) -> String {
        let pods = counted(self.pods, "pod");
        let within = match self.within_s {
            seconds @ 0..120 => format!("{} s", seconds.max(1)),
            seconds => format!("{} min", (seconds + 59) / 60),
        };
        let others = match (self.other_pods, self.other_namespaces) {
            (0, _) => String::new(),
            (pods, 0) => format!(", including {} of other runs", counted(pods, "pod")),
            (pods, spaces) => format!(
                ", including {} of other runs in {}",
                counted(pods, "pod"),
                counted(spaces, "other namespace")
            ),
        };
        match (&self.node, self.pods) {
            (Some(node), pods) if pods > 1 => format!(
                "Seen by {pods} pods within {within}{others}, all on {node}: a problem of that host."
            ),
            (_, 0) if self.what == MACHINES => format!(
                "{} stopped responding within {within}.",
                counted(self.nodes, "node")
            ),
            (_, 0) => format!(
                "Reported by {} themselves within {within}.",
                counted(self.nodes, "node")
            ),
            _ => {
                let nodes = counted(self.nodes, "node");
                format!(
                    "Shared failure: {pods} on {nodes} saw {} fail within {within}{others}.",
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
        let shared = SharedFault {
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
            "Shared failure: 16 pods on 6 nodes saw name resolution fail within 40 s, including 14 pods of other runs in 3 other namespaces."
        );
        assert_eq!(
            seen(4, 1, (2, 0), Some("gpu-7")),
            "Seen by 4 pods within 40 s, including 2 pods of other runs, all on gpu-7: a problem of that host."
        );
        assert_eq!(
            seen(0, 12, (0, 0), None),
            "Reported by 12 nodes themselves within 40 s."
        );
        let silent = SharedFault {
            what: MACHINES.to_owned(),
            pods: 0,
            nodes: 2,
            other_pods: 0,
            other_namespaces: 0,
            node: None,
            within_s: 4,
        };
        assert_eq!(silent.sentence(), "2 nodes stopped responding within 4 s.");
    }
}
