//! The tiers in which a name is looked for, the plainest first: each is one way to bear it.

use std::collections::{BTreeMap, BTreeSet};

use whathappened_model::table::{RowNumber, Table};

use super::matching::chain;
use super::name::Name;
use crate::graph::{EntityGraph, Task, TaskKind, TaskRow, Workload, WorkloadRow};
use crate::symbols::Symbol;

/// Labels and annotations that carry an experiment's name, the plainest first.
pub const LABELS: [&str; 22] = [
    "experiment",
    "experiment-name",
    "experiment_name",
    "run",
    "run-name",
    "skypilot-cluster-name",
    "jobset.sigs.k8s.io/jobset-name",
    "leaderworkerset.sigs.k8s.io/name",
    "training.kubeflow.org/job-name",
    "ray.io/originated-from-cr-name",
    "ray.io/cluster",
    "volcano.sh/job-name",
    "workflows.argoproj.io/workflow",
    "kueue.x-k8s.io/pod-group-name",
    "determined.ai/job-name",
    "determined.ai/task_id",
    "wandb.ai/run-id",
    "batch.kubernetes.io/job-name",
    "job-name",
    "app.kubernetes.io/instance",
    "app.kubernetes.io/name",
    "app",
];

/// How a name matched that nothing bears but pods whose names begin with it.
pub const BY_STEM: &str = "stem of pod names";

/// How a name matched that is the number of a job array.
pub const BY_ARRAY: &str = "number of a job array";

/// What one tier found: pods and workloads, and the words for it.
#[derive(Default)]
pub(super) struct TierMatch {
    pub(super) how: String,
    pub(super) pods: BTreeSet<TaskRow>,
    pub(super) workloads: BTreeSet<WorkloadRow>,
    pub(super) only_pods: bool,
}

/// What has the name in each tier in which anything has it, in their order.
pub(super) fn tiers(graph: &EntityGraph, name: &Name) -> impl Iterator<Item = TierMatch> {
    const TIERS: [fn(&EntityGraph, &Name) -> Option<TierMatch>; 9] = [
        by_label,
        by_annotation,
        by_owner_chain,
        by_array,
        by_log_tag,
        by_pod_name,
        by_file_stem,
        by_stem,
        by_namespace,
    ];
    TIERS.iter().filter_map(move |tier| tier(graph, name))
}

fn in_namespace(name: &Name, namespace: &str) -> bool {
    name.namespace
        .as_deref()
        .is_none_or(|asked| asked == namespace)
}

fn by_label(graph: &EntityGraph, name: &Name) -> Option<TierMatch> {
    by_words(graph, name, "label", |body| &body.labels)
}

fn by_annotation(graph: &EntityGraph, name: &Name) -> Option<TierMatch> {
    by_words(graph, name, "annotation", |body| &body.annotations)
}

/// The first key of the list under which any object bears the name.
fn by_words(
    graph: &EntityGraph,
    name: &Name,
    what: &str,
    words: impl Fn(&whathappened_model::object::ObjectBody) -> &BTreeMap<String, String>,
) -> Option<TierMatch> {
    if name.kind.is_some() || name.name.contains('*') {
        return None;
    }
    LABELS.iter().find_map(|key| {
        let has_word = |body: &Option<std::sync::Arc<_>>, namespace: Symbol| {
            in_namespace(name, graph.name(namespace))
                && body
                    .as_ref()
                    .is_some_and(|body| words(body).get(*key) == Some(&name.name))
        };
        let pods = numbers(&graph.pods, |pod| has_word(&pod.body, pod.namespace));
        let workloads = numbers(&graph.workloads, |one| has_word(&one.body, one.namespace));
        (!pods.is_empty() || !workloads.is_empty()).then(|| TierMatch {
            how: format!("{what} {key}"),
            pods,
            workloads,
            only_pods: false,
        })
    })
}

/// The numbers of those of which something is so.
fn numbers<T>(all: &Table<T>, is: impl Fn(&T) -> bool) -> BTreeSet<RowNumber<T>> {
    let such = all.numbered().filter(|(_, one)| is(one));
    such.map(|(number, _)| number).collect()
}

fn by_owner_chain(graph: &EntityGraph, name: &Name) -> Option<TierMatch> {
    let workloads = numbers(&graph.workloads, |one| {
        // A namespace holds things and is none of them.
        graph.name(one.kind) != "Namespace"
            && name.is_kind(graph.name(one.kind))
            && (name.is(graph.name(one.name)) || is_number_of(name, graph, one))
            && in_namespace(name, graph.name(one.namespace))
    });
    let kinds: BTreeSet<&str> = workloads
        .iter()
        .filter_map(|one| graph.workloads.get(*one))
        .map(|one| graph.name(one.kind))
        .collect();
    let kinds: Vec<&str> = kinds.into_iter().collect();
    let how = match kinds.as_slice() {
        // It is no object of Kubernetes', but what its members' names have in common.
        ["Gang"] => "the names of its members".to_owned(),
        kinds => format!("name of {}", kinds.join(", ")),
    };
    (!workloads.is_empty()).then(|| TierMatch {
        how,
        workloads,
        ..TierMatch::default()
    })
}

/// The tasks of a job array by the array's number: `7` is `7_1`, `7_2`, …
fn by_array(graph: &EntityGraph, name: &Name) -> Option<TierMatch> {
    let is_task = |one: &Workload| {
        let id = graph.name(one.uid).rsplit('/').next();
        let array = id.and_then(|id| id.split_once('_'));
        graph.name(one.kind) == "SlurmJob"
            && name.is_kind("SlurmJob")
            && array.is_some_and(|(array, _)| array == name.name)
    };
    let workloads = numbers(&graph.workloads, is_task);
    (!workloads.is_empty()).then(|| TierMatch {
        how: BY_ARRAY.to_owned(),
        workloads,
        ..TierMatch::default()
    })
}

/// Tasks whose lines a log store's labels or tags say to be of the experiment.
fn by_log_tag(graph: &EntityGraph, name: &Name) -> Option<TierMatch> {
    if name.kind.is_some() {
        return None;
    }
    let tagged = |task: &Task| task.tags.iter().any(|tag| name.is(graph.name(*tag)));
    let pods = numbers(&graph.pods, |task| {
        tagged(task) && in_namespace(name, graph.name(task.namespace))
    });
    (!pods.is_empty()).then(|| TierMatch {
        how: "tag of log lines".to_owned(),
        pods,
        ..TierMatch::default()
    })
}

/// Whether a batch job is asked for by its number.
fn is_number_of(name: &Name, graph: &EntityGraph, one: &Workload) -> bool {
    let id = graph.name(one.uid);
    graph.name(one.kind) == "SlurmJob" && id.rsplit('/').next().is_some_and(|id| name.is(id))
}

/// Pods by name, instances by name or id; batch jobs are found by what they are of.
fn by_pod_name(graph: &EntityGraph, name: &Name) -> Option<TierMatch> {
    let is = |pod: &Task| {
        let id = || pod.kind == TaskKind::Instance && name.is_id(graph.name(pod.uid));
        pod.kind != TaskKind::Job
            && name.is_kind(pod.kind.as_str())
            && (name.is(graph.name(pod.name)) || id())
            && in_namespace(name, graph.name(pod.namespace))
    };
    let pods = numbers(&graph.pods, is);
    let machines = pods.iter().all(|pod| {
        let one = graph.pods.get(*pod);
        one.is_some_and(|one| one.kind == TaskKind::Instance)
    });
    let logs = pods.iter().all(|pod| {
        let one = graph.pods.get(*pod);
        one.is_some_and(|one| one.kind == TaskKind::Log)
    });
    (!pods.is_empty()).then(|| TierMatch {
        how: match (machines, logs) {
            (true, _) => "instance",
            (_, true) => "file name",
            _ => "pod name",
        }
        .to_owned(),
        pods,
        only_pods: true,
        ..TierMatch::default()
    })
}

/// Logs by their files' names without what tells of their form: `train` is `train.log`.
fn by_file_stem(graph: &EntityGraph, name: &Name) -> Option<TierMatch> {
    const FORMS: [&str; 11] = [
        "bz2", "err", "gz", "json", "jsonl", "log", "ndjson", "out", "txt", "xz", "zst",
    ];
    fn bare<'a>(file: &&'a str) -> Option<&'a str> {
        let (stem, form) = file.rsplit_once('.')?;
        FORMS.contains(&form).then_some(stem)
    }
    let is_of = |file: &str| {
        let stems = std::iter::successors(Some(file), bare);
        name.namespace.is_none() && stems.skip(1).any(|stem| name.is(stem))
    };
    // What is the only log of an instance is that of what ran on it.
    let only_log = |one: &Task| {
        let file = one.log_files.first().filter(|_| one.log_files.len() == 1);
        let path = file.map(|file| graph.name(*file));
        path.and_then(|path| path.rsplit(['/', '\\', '!']).next().map(str::to_owned))
    };
    let is = |log: &Task| {
        let called = |known: &Symbol| name.namespace.is_none() && name.is(graph.name(*known));
        let is_it = || is_of(graph.name(log.name)) || log.called.iter().any(called);
        log.kind == TaskKind::Log && name.is_kind(log.kind.as_str()) && is_it()
            || log.kind == TaskKind::Instance
                && name.kind.is_none()
                && only_log(log).is_some_and(|file| is_of(&file))
    };
    let pods = numbers(&graph.pods, is);
    (!pods.is_empty()).then(|| TierMatch {
        how: "file name".to_owned(),
        pods,
        only_pods: true,
        ..TierMatch::default()
    })
}

/// Pods named `<stem>-<what their maker appended>`.
fn by_stem(graph: &EntityGraph, name: &Name) -> Option<TierMatch> {
    if name.name.contains('*') || name.kind.as_deref() == Some("Namespace") {
        return None;
    }
    // A kind that is not known here still made pods that carry its object's name. Where an
    // object of that name and of another kind made them, the one asked for did not.
    let of_another_kind = |pod: TaskRow| {
        chain(graph, pod).any(|owner| {
            let owner = graph.workloads.get(owner);
            owner.is_some_and(|one| {
                one.body.is_some()
                    && graph.name(one.name) == name.name
                    && !name.is_kind(graph.name(one.kind))
            })
        })
    };
    let rest = |pod: &Task| {
        let rest = graph.name(pod.name).strip_prefix(name.name.as_str())?;
        rest.strip_prefix('-')
    };
    let mut pods = numbers(&graph.pods, |pod| {
        rest(pod).is_some() && in_namespace(name, graph.name(pod.namespace))
    });
    pods.retain(|pod| !of_another_kind(*pod));
    // Where some bear the name itself, one with a word behind it is another name: `run-1-0-6f78f`, and `run-1-eval-0-8bcfd`.
    let is_own = |pod: &TaskRow| {
        let rest = graph.pods.get(*pod).and_then(rest);
        rest.is_some_and(|rest| rest.split('-').all(is_appended))
    };
    if pods.iter().any(is_own) {
        pods.retain(is_own);
    }
    (!pods.is_empty()).then(|| TierMatch {
        how: BY_STEM.to_owned(),
        pods,
        ..TierMatch::default()
    })
}

/// Whether a part of a pod's name is what controllers append: an index, or some letters and digits at random, among which
/// are no vowels.
fn is_appended(part: &str) -> bool {
    let is_index = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let has_digit = part.bytes().any(|byte| byte.is_ascii_digit());
    let has_vowel = part.contains(['a', 'e', 'i', 'o', 'u']);
    let is_random = matches!(part.len(), 5 | 8..=10)
        && part
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    is_index || is_random && (has_digit || !has_vowel)
}

fn by_namespace(graph: &EntityGraph, name: &Name) -> Option<TierMatch> {
    if !name.is_kind("Namespace") || name.namespace.is_some() {
        return None;
    }
    let here = |namespace: Symbol| namespace.is_some() && name.is(graph.name(namespace));
    let pods = numbers(&graph.pods, |pod| {
        pod.kind == TaskKind::Pod && here(pod.namespace)
    });
    let workloads = numbers(&graph.workloads, |one| here(one.namespace));
    (!pods.is_empty() || !workloads.is_empty()).then(|| TierMatch {
        how: "namespace".to_owned(),
        pods,
        workloads,
        only_pods: false,
    })
}
