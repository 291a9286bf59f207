//! What operators make of an object of theirs bears its name.

use super::identity::Workloads;
use super::parent::{drawn, loosely_drawn, numbered, own};
use crate::symbols::SymbolTable;

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
