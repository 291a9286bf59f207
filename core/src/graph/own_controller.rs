//! Who deletes a pod as the controller of its workload, and not of their own accord.

use super::EntityGraph;
use super::fact::Fact;
use crate::graph::TaskRow;
use crate::signals::named;

/// What the service accounts of operators that make and replace pods are called after.
const OPERATORS: [&str; 13] = [
    "argo",
    "jobset",
    "kueue",
    "leaderworkerset",
    "lws",
    "mpi",
    "operator",
    "pytorch",
    "ray",
    "tf-job",
    "training",
    "volcano",
    "workflow",
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
    is_of_kubernetes || OPERATORS.iter().any(|operator| account.contains(operator))
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
        ] {
            assert_eq!(makes_pods(actor), makes, "{actor}");
        }
    }
}
