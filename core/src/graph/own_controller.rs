//! Who deletes a pod as the controller of its workload, and not of their own accord.

use super::EntityGraph;
use super::fact::Fact;
use crate::graph::TaskRow;
use crate::signals::named;

/// What operators that make and replace pods are called: whole words of the names of their accounts.
const MAKERS: [&str; 19] = [
    "argo",
    "jobset",
    "kuberay",
    "kueue",
    "leaderworkerset",
    "lws",
    "mpi",
    "mpijob",
    "pytorch",
    "pytorchjob",
    "ray",
    "raycluster",
    "tf",
    "tfjob",
    "trainer",
    "training",
    "vc",
    "volcano",
    "workflow",
];

/// What such names end in: who trains, or submits, or looks after an operator may be called after it as well.
const ROLES: [&str; 6] = [
    "-admission",
    "-controller",
    "-controllers",
    "-manager",
    "-operator",
    "-scheduler",
];

/// What the accounts of Kubernetes' own controllers end in.
const CONTROLLERS: [&str; 4] = ["-controller", "-collector", "-autoscaler", "-binder"];

impl EntityGraph {
    /// The pod that the controller of its workload deleted, as its Event or the audit log tells.
    #[must_use]
    pub fn taken_by_its_controller(&self, fact: &Fact) -> Option<TaskRow> {
        match self.name(fact.signal) {
            named::K8S_WORKLOAD_POD_DELETED => fact.other,
            _ if self.is_own_deletion(fact) => fact.pod,
            _ => None,
        }
    }

    /// Whether a fact is that a controller deleted a pod that it had made: other accounts of programs (a pipeline's runner)
    /// do so for somebody.
    pub(crate) fn is_own_deletion(&self, fact: &Fact) -> bool {
        self.name(fact.signal) == named::K8S_POD_DELETED_BY_CONTROLLER
            && makes_pods(self.name(fact.actor))
    }
}

/// Whether an account is that of a controller that makes pods. Of who is not known as the account of a program nothing
/// else is known.
fn makes_pods(actor: &str) -> bool {
    let Some(account) = actor.strip_prefix("system:serviceaccount:") else {
        return true;
    };
    let (namespace, name) = account.split_once(':').unwrap_or_default();
    let is_of_kubernetes =
        namespace == "kube-system" && CONTROLLERS.iter().any(|end| name.ends_with(end));
    is_of_kubernetes || name.ends_with("-operator") || is_operators(account)
}

/// Whether a service account, `namespace:name`, is that of an operator which makes workloads as they were asked for.
#[must_use]
pub fn is_operators(account: &str) -> bool {
    let (namespace, name) = account.split_once(':').unwrap_or(("", account));
    let is_maker = name.split('-').any(|word| MAKERS.contains(&word));
    let is_argos = namespace.starts_with("argo") && matches!(name, "argo" | "argo-workflows");
    is_argos || is_maker && ROLES.iter().any(|role| name.ends_with(role))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_runner_of_pipelines_makes_no_pods_of_workloads() {
        for (actor, makes) in [
            ("system:serviceaccount:kube-system:job-controller", true),
            (
                "system:serviceaccount:jobset-system:jobset-controller-manager",
                true,
            ),
            ("system:serviceaccount:kubeflow:training-operator", true),
            ("system:kube-controller-manager", true),
            ("", true),
            ("system:serviceaccount:ci:gitlab-runner", false),
            ("system:serviceaccount:kube-system:janitor", false),
            ("system:serviceaccount:argo:workflow-controller", true),
            (
                "system:serviceaccount:volcano-system:volcano-controllers",
                true,
            ),
            ("system:serviceaccount:ray-system:kuberay-operator", true),
            // A word in the name of somebody's account, or of a namespace, makes no operator.
            ("system:serviceaccount:kueue-jobs:default", false),
            ("system:serviceaccount:ml-training:default", false),
            ("system:serviceaccount:ml:training-operator-user", false),
            ("system:serviceaccount:research:ray-submitter", false),
            ("system:serviceaccount:research:trainer", false),
            ("system:serviceaccount:research:compile-bot", false),
            ("system:serviceaccount:array-exp:default", false),
        ] {
            assert_eq!(makes_pods(actor), makes, "{actor}");
        }
    }
}
