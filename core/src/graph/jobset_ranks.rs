//! Ranks of the pods of a `JobSet`: each of its Jobs counts its own pods from zero, the gang counts them all.

use std::collections::BTreeMap;

use super::TaskKind;
use super::identity::{Pods, Workloads};
use crate::graph::{TaskRow, WorkloadRow};
use crate::symbols::SymbolTable;

/// A pod whose Job is the one of a number in its `JobSet`.
struct Member {
    /// Its place in the list of pods.
    pod: TaskRow,
    /// The number of its Job.
    job: i32,
    /// The pod's index in its Job.
    index: i32,
}

/// Numbers the pods of each `JobSet` through all of its Jobs, where all of those are replicas of one template:
/// of several, the order of their ranks is the program's own choice.
pub(super) fn number(symbols: &SymbolTable, pods: &mut Pods, workloads: &Workloads) {
    let mut sets: BTreeMap<WorkloadRow, BTreeMap<&str, Vec<Member>>> = BTreeMap::new();
    for (number, pod) in pods.all.numbered() {
        let Some(job) = workloads.all.get(pod.owner) else {
            continue;
        };
        let (Some(set_number), Some(set)) = (job.owner, workloads.all.get(job.owner)) else {
            continue;
        };
        let is_job = symbols.name(job.kind) == "Job";
        if pod.kind != TaskKind::Pod || !is_job || symbols.name(set.kind) != "JobSet" {
            continue;
        }
        let name = symbols.name(job.name).strip_prefix(symbols.name(set.name));
        let replica = name.and_then(|name| name.strip_prefix('-')?.rsplit_once('-'));
        let (template, job_number) = replica.unwrap_or(("", ""));
        let known = (job_number.parse().ok()).zip(pod.rank.filter(|_| !template.is_empty()));
        let templates = sets.entry(set_number).or_default();
        let members = templates.entry(template).or_default();
        members.extend(known.map(|(job, index)| Member {
            pod: number,
            job,
            index,
        }));
    }
    for templates in sets.into_values() {
        let mut templates = templates.into_values();
        let (Some(members), None) = (templates.next(), templates.next()) else {
            continue;
        };
        let size = members.iter().map(|member| member.index).max();
        let size = size.map_or(1, |last| last.saturating_add(1));
        for member in members {
            if let Some(pod) = pods.all.get_mut(member.pod) {
                let before = member.job.saturating_mul(size);
                pod.rank = Some(before.saturating_add(member.index));
            }
        }
    }
}
