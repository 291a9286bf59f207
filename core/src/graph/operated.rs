//! What operators make of an object of theirs bears its name.

use std::collections::{BTreeMap, BTreeSet};

use whathappened_model::time::{Nanos, Stamp};

use super::identity::{Pods, Workloads};
use super::parent::{drawn, loosely_drawn, numbered, own};
use crate::graph::WorkloadRow;
use crate::symbols::{Symbol, SymbolTable};

/// What makes sets of workloads whose pods name it: its kind, that of what it makes, and the labels by which pods name it, say which
/// object of that name it is, and of which attempt they are.
struct Makes {
    kind: &'static str,
    part: &'static str,
    name: &'static str,
    uid: &'static str,
    attempt: &'static str,
}

const MAKERS: [Makes; 2] = [
    Makes {
        kind: "JobSet",
        part: "Job",
        name: "jobset.sigs.k8s.io/jobset-name",
        uid: "jobset.sigs.k8s.io/jobset-uid",
        attempt: "jobset.sigs.k8s.io/restart-attempt",
    },
    // One set of all leaders, which bears its name, and one of the workers of each, which is made anew with its leader.
    Makes {
        kind: "LeaderWorkerSet",
        part: "StatefulSet",
        name: "leaderworkerset.sigs.k8s.io/name",
        uid: "",
        attempt: "",
    },
];

/// A set that pods name, and its parts by name and attempt.
struct NamedSet {
    namespace: Symbol,
    begin: Nanos,
    parts: BTreeMap<(Symbol, String), BTreeSet<WorkloadRow>>,
}

/// Gives workloads whose objects are not known the set that their pods name. Where two of one attempt bear one name, they are of two
/// sets that bore one name, unless the pods say which.
pub(super) fn sets_of_pods(symbols: &mut SymbolTable, pods: &Pods, workloads: &mut Workloads) {
    for makes in MAKERS {
        let mut found: BTreeMap<(String, String, String), NamedSet> = BTreeMap::new();
        for pod in &pods.all {
            let Some((part, owner)) = pod.owner.zip(workloads.all.get(pod.owner)) else {
                continue;
            };
            let is_unknown = owner.owner.is_none() && owner.body.is_none();
            let body = pod.body.as_ref().filter(|_| is_unknown);
            let label = |key: &str| body.and_then(|body| body.labels.get(key));
            let Some(set) = label(makes.name).filter(|_| symbols.name(owner.kind) == makes.part)
            else {
                continue;
            };
            let rest = symbols.name(owner.name).strip_prefix(set.as_str());
            let is_named = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'));
            // A Job bears the name of its template, and a number, too.
            let is_whole = rest.is_some_and(str::is_empty);
            if !is_named || is_whole && makes.part == "Job" {
                continue;
            }
            let text = |key: &str| label(key).cloned().unwrap_or_default();
            // Workers' sets of one name follow each other.
            let attempt = match makes.attempt {
                "" if !is_whole => symbols.name(owner.uid).to_owned(),
                key => text(key),
            };
            let begin = pod.begin().unwrap_or(Nanos::MAX);
            let namespace = symbols.name(pod.namespace).to_owned();
            let named = found
                .entry((namespace, set.clone(), text(makes.uid)))
                .or_insert_with(|| NamedSet {
                    namespace: pod.namespace,
                    begin,
                    parts: BTreeMap::new(),
                });
            named.begin = named.begin.min(begin);
            let parts = named.parts.entry((owner.name, attempt)).or_default();
            parts.insert(part);
        }
        for ((_, set, uid), named) in found {
            if named.parts.values().any(|parts| parts.len() > 1) {
                continue;
            }
            let (kind, name) = (symbols.number(makes.kind), symbols.number(&set));
            let uid = match uid.is_empty() {
                true => Symbol::NONE,
                false => symbols.number(&uid),
            };
            let at = Stamp {
                lo: named.begin,
                hi: named.begin,
            };
            let above = workloads.of(kind, uid, named.namespace, name, at);
            for part in named.parts.into_values().flatten() {
                if let Some(part) = workloads.all.get_mut(part) {
                    part.owner = Some(above);
                }
            }
        }
    }
}

/// What operators make of an object of theirs, named after it, of which no object tells the owner.
pub(super) fn parts(symbols: &SymbolTable, workloads: &mut Workloads) {
    for part in ["JobSet", "Job", "StatefulSet", "RayCluster"] {
        own(symbols, workloads, part, |workloads, number, one| {
            let at = workloads.begin(number);
            makers(part, symbols.name(one.name)).find_map(|(kind, name)| {
                let (kind, name) = (symbols.find(kind)?, symbols.find(name)?);
                let above = workloads.named(kind, one.namespace, name, at)?;
                let made = workloads.all.get(above)?.created;
                made.is_none_or(|made| made.lo <= at.hi).then_some(above)
            })
        });
    }
}

/// Kinds and names of what may have made an object of a kind and name.
fn makers<'n>(kind: &str, name: &'n str) -> impl Iterator<Item = (&'static str, &'n str)> {
    let makers = match kind {
        "JobSet" => [Some(("TrainJob", name)), None, None],
        // The submitter of a job of Ray's, and the launcher of one of MPI's.
        "Job" => {
            let launched = name.strip_suffix("-launcher");
            [
                Some(("RayJob", name)),
                launched.map(|name| ("MPIJob", name)),
                None,
            ]
        }
        // One of all leaders, and one of the workers of each.
        "StatefulSet" => [
            Some(("LeaderWorkerSet", name)),
            numbered(name).map(|name| ("LeaderWorkerSet", name)),
            None,
        ],
        "RayCluster" => {
            let stem = drawn(name).or_else(|| loosely_drawn(name));
            let older = stem.and_then(|stem| stem.strip_suffix("-raycluster"));
            [
                stem.map(|name| ("RayJob", name)),
                older.map(|name| ("RayJob", name)),
                older.or(stem).map(|name| ("RayService", name)),
            ]
        }
        _ => [None; 3],
    };
    makers.into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_name_what_they_make_after_their_object() {
        let may_be_of = |kind, name| makers(kind, name).collect::<Vec<_>>();
        assert_eq!(may_be_of("JobSet", "sft"), [("TrainJob", "sft")]);
        assert_eq!(
            may_be_of("Job", "sft-launcher"),
            [("RayJob", "sft-launcher"), ("MPIJob", "sft")]
        );
        assert!(may_be_of("StatefulSet", "llm-2").contains(&("LeaderWorkerSet", "llm")));
        assert!(may_be_of("RayCluster", "tune-x2k8f").contains(&("RayJob", "tune")));
        assert!(may_be_of("RayCluster", "tune-raycluster-x2k8f").contains(&("RayJob", "tune")));
        assert_eq!(may_be_of("RayCluster", "tune"), []);
        assert_eq!(may_be_of("Deployment", "tune"), []);
    }
}
