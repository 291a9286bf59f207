//! Names and words that need no hiding, or none where they stand alone.

/// Where a cluster's own components are: what they are called is no secret, and
/// says who acted on a machine.
pub(super) const SYSTEM: &str = "kube-system";

/// Namespaces that every cluster has: their names are no secret anywhere.
pub(super) const EVERYWHERE: [&str; 4] = ["default", SYSTEM, "kube-public", "kube-node-lease"];

/// Namespaces that are named in the manuals of what runs in them: they belong to
/// those who look after the cluster, so their names tell nothing of another team.
/// What is in them is hidden like what is in any other.
const OPERATORS: [&str; 29] = [
    "amazon-cloudwatch",
    "argocd",
    "calico-system",
    "cert-manager",
    "flux-system",
    "gatekeeper-system",
    "gke-managed-system",
    "gmp-system",
    "gpu-operator",
    "ingress-nginx",
    "istio-system",
    "jobset-system",
    "karpenter",
    "knative-serving",
    "kserve",
    "kube-flannel",
    "kubeflow",
    "kueue-system",
    "kyverno",
    "logging",
    "metallb-system",
    "monitoring",
    "network-operator",
    "nvidia-gpu-operator",
    "nvidia-network-operator",
    "opentelemetry-operator-system",
    "tigera-operator",
    "volcano-system",
    "yunikorn",
];

/// Words of ordinary texts and of records' own structure. A namespace of such a
/// name is hidden where the text says that it is one, and nowhere else: hiding
/// each "data" or "worker" would destroy the text and tell nobody anything.
const ORDINARY: [&str; 104] = [
    "active",
    "admin",
    "allocation",
    "api",
    "app",
    "apps",
    "batch",
    "class",
    "cluster",
    "config",
    "container",
    "containers",
    "controller",
    "cpu",
    "create",
    "data",
    "delete",
    "deletion",
    "deployment",
    "dev",
    "development",
    "disk",
    "error",
    "errors",
    "event",
    "events",
    "experiment",
    "experiments",
    "failed",
    "file",
    "get",
    "gpu",
    "gpus",
    "group",
    "host",
    "http",
    "https",
    "image",
    "inference",
    "info",
    "internal",
    "io",
    "job",
    "jobs",
    "kind",
    "kubelet",
    "label",
    "labels",
    "level",
    "lifecycle",
    "list",
    "local",
    "log",
    "logs",
    "machine",
    "master",
    "memory",
    "message",
    "metadata",
    "metrics",
    "model",
    "models",
    "name",
    "names",
    "namespace",
    "namespaces",
    "network",
    "node",
    "nodes",
    "normal",
    "object",
    "operator",
    "owner",
    "pod",
    "pods",
    "prod",
    "production",
    "project",
    "public",
    "queue",
    "quota",
    "reason",
    "research",
    "resource",
    "resources",
    "scheduler",
    "service",
    "services",
    "shared",
    "source",
    "spec",
    "staging",
    "status",
    "storage",
    "system",
    "team",
    "test",
    "tests",
    "training",
    "type",
    "user",
    "users",
    "warning",
    "worker",
];

/// Words that many a workload is called by, together with a number or with each other.
const GENERIC: [&str; 28] = [
    "base", "baseline", "chief", "debug", "demo", "eval", "example", "exp", "finetune", "large",
    "launcher", "leader", "main", "mini", "new", "pretrain", "replica", "run", "runs", "server",
    "sft", "small", "step", "sweep", "task", "tmp", "train", "trainer",
];

/// Words that follow "namespace" in a sentence and are no name.
const SENTENCE: [&str; 58] = [
    "a",
    "already",
    "an",
    "and",
    "are",
    "as",
    "at",
    "be",
    "because",
    "been",
    "being",
    "but",
    "by",
    "can",
    "cannot",
    "could",
    "created",
    "deleted",
    "did",
    "do",
    "does",
    "doesn",
    "due",
    "exceeded",
    "exists",
    "false",
    "finalizer",
    "for",
    "from",
    "had",
    "has",
    "have",
    "if",
    "in",
    "is",
    "it",
    "its",
    "nil",
    "none",
    "not",
    "null",
    "of",
    "on",
    "or",
    "scoped",
    "so",
    "still",
    "terminating",
    "that",
    "the",
    "to",
    "true",
    "was",
    "when",
    "which",
    "while",
    "will",
    "with",
];

/// Whether a namespace's name is no secret.
pub(super) fn is_public(name: &str) -> bool {
    EVERYWHERE.contains(&name) || OPERATORS.contains(&name)
}

/// Whether a word says nothing where it stands alone; numbers do not.
pub(super) fn is_ordinary(word: &str) -> bool {
    ORDINARY.contains(&word) || !word.bytes().any(|byte| byte.is_ascii_alphabetic())
}

/// Whether a word says nothing in a workload's name.
pub(super) fn is_generic(word: &str) -> bool {
    GENERIC.contains(&word)
}

/// Whether a word only goes on with the sentence.
pub(super) fn is_sentence(word: &str) -> bool {
    SENTENCE.contains(&word)
}
