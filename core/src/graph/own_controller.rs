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

/// Operators that act under their bare names, as their Events call them.
const BARE: [&str; 5] = ["jobset", "kueue", "leaderworkerset", "lws", "volcano"];

/// Kubernetes' own controllers, each of which acts under an account of its own in kube-system: kubernetes/kubernetes,
/// `plugin/pkg/auth/authorizer/rbac/bootstrappolicy/controller_policy.go`. Whatever else is called a controller there
/// somebody installed.
const KUBERNETES: [&str; 38] = [
    "attachdetach-controller",
    "bootstrap-signer",
    "certificate-controller",
    "clusterrole-aggregation-controller",
    "cronjob-controller",
    "daemon-set-controller",
    "deployment-controller",
    "device-taint-eviction-controller",
    "disruption-controller",
    "endpoint-controller",
    "endpointslice-controller",
    "endpointslicemirroring-controller",
    "ephemeral-volume-controller",
    "expand-controller",
    "generic-garbage-collector",
    "horizontal-pod-autoscaler",
    "job-controller",
    "legacy-service-account-token-cleaner",
    "namespace-controller",
    "node-controller",
    "persistent-volume-binder",
    "pod-garbage-collector",
    "pv-protection-controller",
    "pvc-protection-controller",
    "replicaset-controller",
    "replication-controller",
    "resource-claim-controller",
    "resourcequota-controller",
    "root-ca-cert-publisher",
    "route-controller",
    "service-account-controller",
    "service-controller",
    "statefulset-controller",
    "storage-version-migrator-controller",
    "taint-eviction-controller",
    "token-cleaner",
    "ttl-after-finished-controller",
    "ttl-controller",
];

/// Kinds whose pods Kubernetes' own controllers make and delete.
const WITH_CONTROLLERS: [&str; 5] = [
    "DaemonSet",
    "Job",
    "ReplicaSet",
    "ReplicationController",
    "StatefulSet",
];

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
        let deletes = self.name(fact.signal) == named::K8S_POD_DELETED_BY_CONTROLLER;
        deletes && makes_pods(self.name(fact.actor)) || self.is_of_custom_operator(fact)
    }

    /// Whether a fact is what a controller did that makes workloads and pods as they were asked for, or clears away what is
    /// left of them: what it does it does for somebody.
    #[must_use]
    pub fn is_by_operator(&self, fact: &Fact) -> bool {
        is_by_operator(self.name(fact.actor)) || self.is_of_custom_operator(fact)
    }

    /// Whether who deleted a pod is called an operator, and the pod may be one that it makes: that of a Job or a set is
    /// not, since those have controllers of their own.
    fn is_of_custom_operator(&self, fact: &Fact) -> bool {
        let actor = self.name(fact.actor);
        let account = actor.strip_prefix("system:serviceaccount:");
        let pod = fact.pod.and_then(|pod| self.pods.get(pod));
        let owner = pod.and_then(|pod| self.workloads.get(pod.owner));
        self.name(fact.signal) == named::K8S_POD_DELETED_BY_CONTROLLER
            && account.is_some_and(|account| account.ends_with("-operator"))
            && !owner.is_some_and(|owner| WITH_CONTROLLERS.contains(&self.name(owner.kind)))
    }
}

/// Whether an account is that of a controller that makes pods, whatever they are. Of who is not known as the account of a
/// program nothing else is known.
fn makes_pods(actor: &str) -> bool {
    let account = actor.strip_prefix("system:serviceaccount:");
    account.is_none_or(|account| ships_with_kubernetes(account) || is_operators(account))
}

/// Whether a service account, `namespace:name`, is that of one of Kubernetes' own controllers.
fn ships_with_kubernetes(account: &str) -> bool {
    let own = account.strip_prefix("kube-system:");
    own.is_some_and(|name| KUBERNETES.contains(&name))
}

/// Whether an actor is such a controller, whatever it does.
#[must_use]
pub fn is_by_operator(actor: &str) -> bool {
    match actor.strip_prefix("system:serviceaccount:") {
        Some(account) => ships_with_kubernetes(account) || is_operators(account),
        None => BARE.contains(&actor) || is_operators(actor),
    }
}

/// Whether a service account, `namespace:name`, is that of an operator which makes workloads as they were asked for.
fn is_operators(account: &str) -> bool {
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
            (
                "system:serviceaccount:kube-system:idle-gpu-controller",
                false,
            ),
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
