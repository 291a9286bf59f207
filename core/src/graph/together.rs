//! Pods that nobody owns, that bear the label of one experiment and that were there at one time: they are members of one run.
//! Those that followed each other are runs of their own, since nothing says that one was to go on where the other ended.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use whathappened_model::object::ObjectBody;
use whathappened_model::time::{Nanos, SECOND, Stamp};

use super::identity::{Pods, Workloads};
use super::log_gang::{self, Member, Namesakes};
use super::parent::gang_of;
use super::{EntityGraph, Fact, Task, TaskKind};
use crate::graph::TaskRow;
use crate::signals::named;
use crate::symbols::{Symbol, SymbolTable};

/// What such a run is called where a Job would stand: nothing says that one of them needs the others,
pub(crate) const KIND: &str = "Pods";

/// unless one of them says so itself.
const GANG: &str = "PodGroup";

/// A pod, and from when to when it was there.
#[derive(Clone, Copy)]
struct Life {
    begin: Nanos,
    end: Nanos,
    pod: TaskRow,
}

/// Gives such pods one owner, which bears the name of the experiment.
pub(super) fn own(symbols: &mut SymbolTable, pods: &mut Pods, workloads: &mut Workloads) {
    let mut found: BTreeMap<(String, String), (Symbol, Vec<Life>)> = BTreeMap::new();
    // Of those that only Events know their names say as much.
    let mut unlabelled: HashMap<(Symbol, String), Vec<Life>> = HashMap::new();
    for (number, pod) in pods.all.numbered() {
        let is_bare = pod.kind == TaskKind::Pod && pod.owner.is_none() && pod.name.is_some();
        let Some(life) = life(number, pod).filter(|_| is_bare) else {
            continue;
        };
        let namespace = symbols.name(pod.namespace).to_owned();
        match pod.body.as_ref() {
            Some(body) if body.owners.is_empty() && !is_left_behind(body) => {
                let Some(experiment) = body.experiment() else {
                    continue;
                };
                let key = (namespace, experiment.to_owned());
                found
                    .entry(key)
                    .or_insert((pod.namespace, Vec::new()))
                    .1
                    .push(life);
            }
            Some(_) => {}
            None => {
                if let Some((stem, Some(_))) = gang_of(symbols.name(pod.name)) {
                    let key = (pod.namespace, stem.to_owned());
                    unlabelled.entry(key).or_default().push(life);
                }
            }
        }
    }
    let kind = symbols.number(KIND);
    for ((_, experiment), (namespace, mut lives)) in found {
        let stems: BTreeSet<&str> = lives
            .iter()
            .filter_map(|life| pods.all.get(life.pod))
            .map(|pod| gang_of(symbols.name(pod.name)).map_or("", |(stem, _)| stem))
            .collect();
        let stem = stems
            .first()
            .filter(|stem| stems.len() == 1 && !stem.is_empty());
        let namesakes = stem.and_then(|stem| unlabelled.get(&(namespace, (*stem).to_owned())));
        lives.extend(namesakes.into_iter().flatten());
        let name_of = |life: &Life| pods.all.get(life.pod).map(|pod| symbols.name(pod.name));
        lives.sort_by_key(|life| (life.begin, name_of(life).unwrap_or_default(), life.pod));
        let groups = groups(&lives);
        let several = groups.into_iter().filter(|group| {
            let names: BTreeSet<_> = group.iter().map(name_of).collect();
            names.len() > 1
        });
        let several: Vec<Vec<Life>> = several.collect();
        for group in several {
            let Some(first) = group.first() else {
                continue;
            };
            let at = Stamp {
                lo: first.begin,
                hi: first.begin,
            };
            let name = symbols.number(&experiment);
            let owner = workloads.of(kind, Symbol::NONE, namespace, name, at);
            let mut makers: HashSet<Symbol> = HashSet::new();
            for life in &group {
                if let Some(pod) = pods.all.get_mut(life.pod) {
                    pod.owner = Some(owner);
                    makers.insert(pod.made_by);
                }
            }
            let made_by = makers.iter().next().filter(|_| makers.len() == 1);
            if let (Some(owner), Some(made_by)) = (workloads.all.get_mut(owner), made_by) {
                owner.made_by = *made_by;
            }
        }
    }
}

/// Pods that one command makes, or one script in a loop, are made within this long.
const MADE_AT_ONCE: Nanos = 120 * SECOND;

/// Gives one owner to pods that nobody owns and that bear no label, and whose names differ in their last number alone, where
/// that ties them: they were made at once, went together step by step or bear their ranks in their names, and one of them
/// misses another. Of the runs of a sweep, which are named alike, each has all ranks of its own and a pace of its own.
pub(super) fn own_namesakes(
    symbols: &mut SymbolTable,
    pods: &mut Pods,
    workloads: &mut Workloads,
    facts: &[Fact],
) {
    let missing = log_gang::who_misses_others(symbols, &pods.traits, facts);
    let mut found: BTreeMap<(String, String), (Symbol, Vec<Life>, Namesakes)> = BTreeMap::new();
    for (number, pod) in pods.all.numbered() {
        let is_bare = |body: &&std::sync::Arc<ObjectBody>| {
            body.owners.is_empty() && !is_left_behind(body) && body.experiment().is_none()
        };
        let is_pod = pod.kind == TaskKind::Pod && pod.owner.is_none() && pod.created.is_some();
        if !is_pod || pod.body.as_ref().filter(is_bare).is_none() {
            continue;
        }
        let Some((stem, index)) = numbered_last(symbols.name(pod.name)) else {
            continue;
        };
        let Some(life) = life(number, pod) else {
            continue;
        };
        let key = (symbols.name(pod.namespace).to_owned(), stem.to_owned());
        let (_, lives, namesakes) = found
            .entry(key)
            .or_insert_with(|| (pod.namespace, Vec::new(), Namesakes::default()));
        lives.push(life);
        namesakes.members.push(Member {
            task: number,
            ranks: pod.rank.into_iter().collect(),
            number: Some(index),
            seen: pod.seen,
            steps: pod.pace.times(),
            misses: missing.contains(&number),
        });
    }
    for ((_, stem), (namespace, lives, namesakes)) in found {
        let begins = || lives.iter().map(|life| life.begin);
        let (Some(first), Some(last)) = (begins().min(), begins().max()) else {
            continue;
        };
        let at_once = last.saturating_sub(first) <= MADE_AT_ONCE;
        let overlap = lives.iter().all(|life| life.end > last);
        let is_one = at_once
            && overlap
            && namesakes.members.iter().any(|one| one.misses)
            && log_gang::are_ranks(&namesakes);
        if !is_one {
            continue;
        }
        let (kind, name) = (symbols.number(GANG), symbols.number(without_role(&stem)));
        let at = Stamp {
            lo: first,
            hi: first,
        };
        let owner = workloads.of(kind, Symbol::NONE, namespace, name, at);
        for member in namesakes.members {
            if let Some(pod) = pods.all.get_mut(member.task) {
                pod.owner = Some(owner);
                pod.rank = pod.rank.or(member.number);
            }
        }
    }
}

/// Whether two names differ in the number alone that they end with.
#[must_use]
pub fn are_numbered_alike(one: &str, other: &str) -> bool {
    let stems = numbered_last(one).zip(numbered_last(other));
    one != other && stems.is_some_and(|((one, _), (other, _))| one == other)
}

/// A name without the number that it ends with, and that number.
fn numbered_last(name: &str) -> Option<(&str, i32)> {
    let stem = name.trim_end_matches(|one: char| one.is_ascii_digit());
    let number = name.get(stem.len()..)?.parse().ok()?;
    (!stem.is_empty()).then_some((stem, number))
}

/// What is left of the beginning of a name without the word that says what its number counts: `exp-8` of `exp-8-rank`, or of `exp-8-r`.
fn without_role(stem: &str) -> &str {
    let stem = stem.trim_end_matches('-');
    match stem.rsplit_once('-') {
        Some((name, word)) if word.len() == 1 || log_gang::MEMBERS.contains(&word) => name,
        _ => stem,
    }
}

/// Labels by which makers of pods know their own.
const MAKERS: [&str; 9] = [
    "batch.kubernetes.io/controller-uid",
    "controller-uid",
    "jobset.sigs.k8s.io/jobset-uid",
    "leaderworkerset.sigs.k8s.io/name",
    "pod-template-hash",
    "ray.io/cluster",
    "statefulset.kubernetes.io/pod-name",
    "training.kubeflow.org/job-name",
    "volcano.sh/job-name",
];

/// Whether somebody had made a pod that nobody owns any more.
fn is_left_behind(body: &ObjectBody) -> bool {
    MAKERS.iter().any(|key| body.labels.contains_key(*key))
}

/// From when to when a pod was there; of one of which nobody knows when it began, nobody knows beside whom it was.
fn life(number: TaskRow, pod: &Task) -> Option<Life> {
    let end = pod.ended.or(pod.gone).or(pod.deletion_requested);
    // Of one without an object nobody knows that it was there after it was last told of.
    let last = pod.seen.filter(|_| pod.body.is_none());
    let end = end.or(last.map(|(_, last)| Stamp::second(last)));
    Some(Life {
        begin: pod.begin()?,
        end: end.map_or(Nanos::MAX, |end| end.hi),
        pod: number,
    })
}

/// Those that were there at one time, of lives in the order in which they began.
fn groups(lives: &[Life]) -> Vec<Vec<Life>> {
    let mut found: Vec<(Nanos, Vec<Life>)> = Vec::new();
    for life in lives {
        match found.last_mut() {
            Some((end, group)) if life.begin < *end => {
                *end = life.end.max(*end);
                group.push(*life);
            }
            _ => found.push((life.end, vec![*life])),
        }
    }
    found.into_iter().map(|(_, group)| group).collect()
}

/// Pods whose logs say that they could not reach another member of their gang any more.
#[must_use]
pub fn lost_touch(graph: &EntityGraph) -> HashSet<TaskRow> {
    // Of dumps of all ranks it is found who was missed: that one does not say so.
    let found = graph.evidence.symbols.find(named::NCCL_RANK_MISSING);
    let is_found = |fact: &Fact| {
        let row = graph.evidence.rows().get(fact.row);
        row.is_some_and(|row| Some(row.fact) == found)
    };
    let facts = graph.facts.iter();
    facts
        .filter(|fact| graph.traits.misses_another(graph.name(fact.signal)) && !is_found(fact))
        .filter_map(|fact| fact.pod)
        .collect()
}

/// Makes a gang of those of which one misses another.
pub(super) fn settle(graph: &mut EntityGraph) {
    let Some(kind) = graph.evidence.symbols.find(KIND) else {
        return;
    };
    let lost = lost_touch(graph);
    let owners: BTreeSet<_> = lost
        .iter()
        .filter_map(|pod| graph.pods.get(*pod)?.owner)
        .collect();
    let gang = graph.evidence.symbols.number(GANG);
    for owner in owners {
        if let Some(owner) = graph.workloads.get_mut(owner)
            && owner.kind == kind
        {
            owner.kind = gang;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whathappened_model::table::Table;

    #[test]
    fn a_gang_is_named_without_what_its_numbers_count() {
        let of = |name| numbered_last(name).map(|(stem, number)| (without_role(stem), number));
        assert_eq!(of("exp88-r3"), Some(("exp88", 3)));
        assert_eq!(of("exp-8-rank-12"), Some(("exp-8", 12)));
        assert_eq!(of("train0"), Some(("train", 0)));
        assert_eq!(of("bert-x2k8f"), None);
        assert_eq!(of("7"), None);
        assert!(are_numbered_alike("exp88-r3", "exp88-r11"));
        assert!(!are_numbered_alike("exp88-r3", "exp89-r3"));
    }

    #[test]
    fn who_was_there_at_one_time_is_of_one_run_and_who_followed_is_not() {
        let mut rows: Table<Task, u8> = Table::default();
        let mut life = |begin, end| Life {
            begin,
            end,
            pod: rows.push(0),
        };
        let lives = [life(0, 10), life(1, 30), life(20, 40), life(40, 50)];
        let groups = groups(&lives);
        let sizes: Vec<usize> = groups.iter().map(Vec::len).collect();
        assert_eq!(sizes, [3, 1]);
    }
}
