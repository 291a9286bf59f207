//! Places in a gang, and when whoever took one was over first. A gang has as many pods as
//! a cluster has machines: each is looked up, none is compared with all the others.

use std::collections::HashMap;
use std::hash::Hash;

use whathappened_model::time::Nanos;

use crate::graph::{EntityGraph, Task, WorkloadRow, indexed};
use crate::symbols::Symbol;

/// Kind, name and owner of an owner: a Job that its set made anew bears the name of the one
/// before.
type Maker = Option<(Symbol, Symbol, Option<WorkloadRow>)>;

/// When the first of those who took a place of one generation was over. Whether a pod stands
/// where an earlier one stood: of one that is known from Events alone only its rank is known,
/// and of others the group as well.
#[derive(Debug, Default)]
pub(super) struct Places<'a> {
    /// By set, Job and index in the name.
    named: HashMap<&'a str, Nanos>,
    /// Of no known rank, by owner,
    unranked_of: HashMap<Option<WorkloadRow>, Nanos>,
    /// and whoever it was.
    unranked: Option<Nanos>,
    /// Of a known rank, by owner.
    ranked_of: HashMap<Option<WorkloadRow>, Nanos>,
    /// By rank and maker,
    ranks: HashMap<(i32, Maker), Nanos>,
    /// those of them whose group is not known,
    ungrouped: HashMap<(i32, Maker), Nanos>,
    /// and by group and rank where it is.
    grouped: HashMap<(String, i32), Nanos>,
}

impl<'a> Places<'a> {
    /// A pod took its place, and was over at a time.
    pub(super) fn take(&mut self, graph: &'a EntityGraph, pod: &Task, over: Nanos) {
        if let Some(name) = indexed(graph.name(pod.name)) {
            first(&mut self.named, name, over);
        }
        let Some((group, rank)) = slot(pod) else {
            first(&mut self.unranked_of, pod.owner, over);
            self.unranked = self.unranked.into_iter().chain([over]).min();
            return;
        };
        let maker = maker(graph, pod);
        first(&mut self.ranked_of, pod.owner, over);
        first(&mut self.ranks, (rank, maker), over);
        match group {
            None => first(&mut self.ungrouped, (rank, maker), over),
            Some(group) => first(&mut self.grouped, (group, rank), over),
        }
    }

    /// When the first pod was over that stood where this one stands.
    pub(super) fn over_before(&self, graph: &EntityGraph, pod: &Task) -> Option<Nanos> {
        let named = indexed(graph.name(pod.name)).and_then(|name| self.named.get(name));
        let placed = match slot(pod) {
            // The rank of one of them is known from its log, if it wrote it there.
            None => [self.unranked.as_ref(), self.ranked_of.get(&pod.owner), None],
            Some((None, rank)) => [
                self.unranked_of.get(&pod.owner),
                self.ranks.get(&(rank, maker(graph, pod))),
                None,
            ],
            Some((Some(group), rank)) => [
                self.unranked_of.get(&pod.owner),
                self.ungrouped.get(&(rank, maker(graph, pod))),
                self.grouped.get(&(group, rank)),
            ],
        };
        placed.into_iter().chain([named]).flatten().min().copied()
    }
}

impl Places<'_> {
    /// When the first pod was over that bore the set, Job and index in the name of this one: two of them are never there at a
    /// time.
    pub(super) fn namesake_over(&self, graph: &EntityGraph, pod: &Task) -> Option<Nanos> {
        self.named.get(indexed(graph.name(pod.name))?).copied()
    }

    /// When the first pod of a known rank was over that the maker of this one had made.
    pub(super) fn ranked_over(&self, pod: &Task) -> Option<Nanos> {
        self.ranked_of.get(&pod.owner).copied()
    }
}

fn first<K: Eq + Hash>(of: &mut HashMap<K, Nanos>, key: K, over: Nanos) {
    let at = of.entry(key).or_insert(over);
    *at = over.min(*at);
}

fn maker(graph: &EntityGraph, pod: &Task) -> Maker {
    let owner = graph.workloads.get(pod.owner)?;
    Some((owner.kind, owner.name, owner.owner))
}

/// The place in the gang that a pod takes: the group it is of, where its labels are
/// known, and its rank there.
fn slot(pod: &Task) -> Option<(Option<String>, i32)> {
    const GROUPS: [&str; 5] = [
        "jobset.sigs.k8s.io/replicatedjob-name",
        "training.kubeflow.org/replica-type",
        "leaderworkerset.sigs.k8s.io/group-index",
        "volcano.sh/task-spec",
        "ray.io/group",
    ];
    let rank = pod.rank?;
    let group = pod.body.as_ref().map(|body| {
        let labels = &body.labels;
        let group = GROUPS.iter().find_map(|key| labels.get(*key));
        let index = labels.get("jobset.sigs.k8s.io/job-index");
        format!(
            "{}/{}",
            group.map_or("", String::as_str),
            index.map_or("", String::as_str)
        )
    });
    Some((group, rank))
}
