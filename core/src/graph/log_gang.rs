//! Gangs that are known from the logs of their members alone: several ranks wrote, at one time,
//! under names that differ in a number, and no record says what made them.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use whathappened_model::time::{Nanos, SECOND, Stamp};

use super::identity::{Pods, Workloads};
use super::{Fact, TaskKind};
use crate::graph::TaskRow;
use crate::signals::SignalTraits;
use crate::symbols::{Symbol, SymbolTable};

/// What such a run is called where a Job would stand.
const KIND: &str = "Gang";

/// Who waits for the others gives up this long after the last of them wrote, at most.
const APART: Nanos = 3_600 * SECOND;

/// Words before a number that say that it is the number of a member.
pub(super) const MEMBERS: [&str; 8] = [
    "host", "node", "proc", "process", "rank", "replica", "task", "worker",
];

/// Words before a number in the name of a folder that say that it is a machine's.
const MACHINES: [&str; 14] = [
    "box", "cn", "compute", "dgx", "gpu", "hgx", "host", "instance", "machine", "nid", "node",
    "server", "vm", "worker",
];

/// What torchrun calls the folder of an attempt, in which each rank has a folder named after its number.
pub(super) const ATTEMPT: &str = "attempt_";

/// A log that may be that of a member.
pub(super) struct Member {
    /// Its task.
    pub(super) task: TaskRow,
    /// Which ranks it says that it is.
    pub(super) ranks: BTreeSet<i32>,
    /// The number in its name.
    pub(super) number: Option<i32>,
    /// From when to when it was written, where its lines have times.
    pub(super) seen: Option<(Nanos, Nanos)>,
    /// When it made which steps.
    pub(super) steps: BTreeMap<i64, Nanos>,
    /// Whether it says that another process of its run was gone, or did not answer.
    pub(super) misses: bool,
}

/// The logs that have one namespace and one name but for a number.
#[derive(Default)]
pub(super) struct Namesakes {
    /// What the gang is called.
    pub(super) name: String,
    /// Whether the number itself is said to be a member's.
    pub(super) is_numbered: bool,
    /// Whether each lies in the folder of a machine of its own, under one name.
    pub(super) is_by_machine: bool,
    /// The logs.
    pub(super) members: Vec<Member>,
}

/// A name, or a path, without the number by which its namesakes differ.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct WithoutNumber {
    /// What they share.
    pub(super) shared: String,
    /// Whether what stands before the number says that it is a member's.
    pub(super) is_numbered: bool,
    /// Whether the number is that of a machine's folder.
    pub(super) is_machine: bool,
    /// The number.
    pub(super) number: Option<i32>,
}

/// The part of a name that its namesakes share: the number is left out, and whether a word says
/// what it counts.
pub(super) fn without_number(name: &str) -> Option<WithoutNumber> {
    let end = name.rfind(|one: char| one.is_ascii_digit())? + 1;
    let start = name[..end]
        .rfind(|one: char| !one.is_ascii_digit())
        .map_or(0, |last| {
            last + name[last..].chars().next().map_or(1, char::len_utf8)
        });
    let before = name[..start].trim_end_matches(['-', '_', '.', '=']);
    let word = before
        .rsplit(|one: char| !one.is_ascii_alphabetic())
        .next()
        .unwrap_or_default()
        .to_lowercase();
    let in_folder = name[end..].contains(['/', '\\', '!']);
    let mut above = name[..start].rsplit(['/', '\\', '!']);
    let is_alone = above.next() == Some("") && name[end..].starts_with(['/', '\\', '!']);
    let of_attempt = above.next().is_some_and(|above| {
        let attempt = above.strip_prefix(ATTEMPT);
        attempt.is_some_and(|attempt| attempt.bytes().all(|one| one.is_ascii_digit()))
    });
    Some(WithoutNumber {
        shared: format!("{}#{}", &name[..start], &name[end..]),
        is_numbered: MEMBERS.contains(&word.as_str()) || is_alone && of_attempt,
        is_machine: in_folder && MACHINES.contains(&word.as_str()),
        number: name[start..end].parse().ok(),
    })
}

/// Gives those logs one owner that are of one gang. Where two of them speak for one rank, or
/// were written at different times, they may as well be runs that came one after the other.
pub(super) fn join(
    found: BTreeMap<(Symbol, String), Namesakes>,
    symbols: &mut SymbolTable,
    pods: &mut Pods,
    workloads: &mut Workloads,
) {
    for ((namespace, _), mut namesakes) in found {
        // Where none says which rank it is, a number that is said to be a member's does.
        if namesakes.is_numbered && namesakes.members.iter().all(|one| one.ranks.is_empty()) {
            for member in &mut namesakes.members {
                member.ranks = member.number.into_iter().collect();
            }
        }
        if !is_gang(&namesakes) {
            continue;
        }
        let (kind, name) = (symbols.number(KIND), symbols.number(&namesakes.name));
        let begins = namesakes.members.iter().filter_map(|one| one.seen);
        let first = begins.map(|(first, _)| first).min().unwrap_or(Nanos::MAX);
        let at = Stamp {
            lo: first,
            hi: first,
        };
        let gang = workloads.of(kind, Symbol::NONE, namespace, name, at);
        let numbers_are_ranks = numbers_are_ranks(&namesakes);
        for member in namesakes.members {
            if let Some(one) = pods.all.get_mut(member.task) {
                one.owner = Some(gang);
                // Who never said which rank it is: it may be the one that the others miss.
                if numbers_are_ranks && member.ranks.is_empty() {
                    one.rank = one.rank.or(member.number);
                }
            }
        }
    }
}

/// Whether each log that says which rank it is bears that number in its name.
fn numbers_are_ranks(namesakes: &Namesakes) -> bool {
    let mut ranked = namesakes.members.iter().filter(|one| !one.ranks.is_empty());
    let agrees = |one: &Member| one.ranks.iter().copied().eq(one.number);
    namesakes.is_numbered && ranked.all(agrees)
}

fn is_gang(namesakes: &Namesakes) -> bool {
    let members = &namesakes.members;
    let ranked = members.iter().filter(|one| !one.ranks.is_empty()).count();
    let mut ranks = BTreeSet::new();
    let distinct = members
        .iter()
        .flat_map(|one| &one.ranks)
        .all(|rank| ranks.insert(*rank));
    let times = || members.iter().filter_map(|one| one.seen);
    let last_begin = times().map(|(first, _)| first).max();
    let first_end = times().map(|(_, last)| last).min();
    let common = last_begin.zip(first_end);
    let together = common.is_none_or(|(begin, end)| begin <= end.saturating_add(APART));
    // What machines wrote under one name at one time is of one run.
    let is_dated = times().count() == members.len();
    let at_once = is_dated && common.is_some_and(|(begin, end)| begin <= end);
    // That several ranks speak at all says that there is a gang.
    let is_known = ranked > 1
        || namesakes.is_numbered && ranked > 0
        || namesakes.is_by_machine && at_once
        || at_once && step_together(members) && members.iter().any(|one| one.misses);
    members.len() > 1 && is_known && distinct && together
}

/// Whether those that are known by more than logs, and say that they miss one, are the ranks of one program: they go step by
/// step together, or at least two say their ranks, which are the numbers that they bear.
pub(super) fn are_ranks(namesakes: &Namesakes) -> bool {
    let members = &namesakes.members;
    let ranked = || members.iter().filter(|one| !one.ranks.is_empty());
    let numbered = ranked().all(|one| one.ranks.iter().copied().eq(one.number));
    let is_known = ranked().count() > 1 && numbered || step_together(members);
    // Each of several programs has a rank 0 of its own.
    let mut ranks = BTreeSet::new();
    let distinct = ranked()
        .flat_map(|one| &one.ranks)
        .all(|rank| ranks.insert(*rank));
    members.len() > 1 && is_known && distinct && !is_sparse(namesakes)
}

/// Whether all made the same steps at the same times, all along: ranks wait for each other in each step, while runs that were
/// started at one time drift apart.
fn step_together(members: &[Member]) -> bool {
    /// So many steps of two are no chance.
    const ENOUGH: usize = 8;
    /// Lines of one step are written within this long of each other.
    const APART: Nanos = SECOND;
    let Some((first, others)) = members.split_first() else {
        return false;
    };
    let span = first.steps.values().next().zip(first.steps.values().last());
    let gaps = Nanos::try_from(first.steps.len()).unwrap_or(Nanos::MAX) - 1;
    let usual = span.map_or(0, |(from, to)| to.saturating_sub(*from) / gaps.max(1));
    let apart = APART.min(usual / 4);
    !others.is_empty()
        && others.iter().all(|other| {
            let common = first.steps.iter();
            let common = common.filter_map(|(step, at)| Some((at, other.steps.get(step)?)));
            let (mut all, mut near) = (0, 0);
            for (one, other) in common {
                all += 1;
                near += usize::from(one.saturating_sub(*other).abs() <= apart);
            }
            all >= ENOUGH && near * 10 >= all * 9
        })
}

/// Those whose logs tell of another process of their run that was gone, or kept them waiting.
pub(super) fn who_misses_others(
    symbols: &SymbolTable,
    traits: &SignalTraits,
    facts: &[Fact],
) -> HashSet<TaskRow> {
    let facts = facts
        .iter()
        .filter(|fact| traits.misses_another(symbols.name(fact.signal)));
    facts.filter_map(|fact| fact.pod).collect()
}

/// Pods of which only logs, or only Events, are known and whose owner no name tells.
pub(super) fn of_pods(symbols: &mut SymbolTable, pods: &mut Pods, workloads: &mut Workloads) {
    let mut found: BTreeMap<(Symbol, String), Namesakes> = BTreeMap::new();
    for (task, pod) in pods.all.numbered() {
        let unknown = pod.kind == TaskKind::Pod && pod.owner.is_none() && pod.body.is_none();
        if !unknown || pod.created.is_some() {
            continue;
        }
        let Some((name, place)) = super::parent::gang_of(symbols.name(pod.name)) else {
            continue;
        };
        // Of who wrote nothing, the name alone says which member it is.
        let wrote = pod.last_line.is_some() || pod.untimed.last > 0;
        let by_name = place.filter(|_| !wrote && pod.rank.is_none());
        let rank = pod.rank.or(by_name);
        let namesakes = found
            .entry((pod.namespace, name.to_owned()))
            .or_insert_with(|| Namesakes {
                name: name.to_owned(),
                ..Namesakes::default()
            });
        namesakes.members.push(Member {
            task,
            ranks: rank.into_iter().collect(),
            number: by_name,
            seen: pod.seen,
            steps: BTreeMap::new(),
            misses: false,
        });
    }
    found.retain(|_, namesakes| !is_sparse(namesakes));
    join(found, symbols, pods, workloads);
}

/// Whether nothing but numbers far apart ties some pods, as `run-1` and `run-10`: of a gang more would be known than that.
fn is_sparse(namesakes: &Namesakes) -> bool {
    let members = &namesakes.members;
    let numbers: Option<BTreeSet<i32>> = members.iter().map(|one| one.number).collect();
    let ends = numbers.and_then(|all| all.first().copied().zip(all.last().copied()));
    let known = i64::try_from(members.len()).unwrap_or(i64::MAX);
    ends.is_some_and(|(first, last)| {
        i64::from(last) - i64::from(first) + 1 > known.saturating_mul(2)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The ranks that a log names, and from when to when it was written.
    type Log<'a> = (&'a [i32], Option<(Nanos, Nanos)>);

    fn logs(members: &[Log<'_>], is_numbered: bool) -> Namesakes {
        let tasks = (0..).filter_map(TaskRow::at);
        let members = tasks.zip(members).map(|(task, (ranks, seen))| Member {
            task,
            ranks: ranks.iter().copied().collect(),
            number: None,
            seen: *seen,
            steps: BTreeMap::new(),
            misses: false,
        });
        Namesakes {
            name: "train".to_owned(),
            is_numbered,
            members: members.collect(),
            ..Namesakes::default()
        }
    }

    #[test]
    fn the_number_of_a_name_is_its_last() {
        let of = |name| {
            let one = without_number(name)?;
            Some((one.shared, one.is_numbered, one.is_machine, one.number?))
        };
        for (name, shared, is_numbered, is_machine, number) in [
            ("run-7/rank_12.log", "run-7/rank_#.log", true, false, 12),
            ("out/3.txt", "out/#.txt", false, false, 3),
            ("é7", "é#", false, false, 7),
            (
                "logs/gpu-07/train.log",
                "logs/gpu-#/train.log",
                false,
                true,
                7,
            ),
            (
                "logs/run-07/train.log",
                "logs/run-#/train.log",
                false,
                false,
                7,
            ),
            ("gpu-07.log", "gpu-#.log", false, false, 7),
            (
                "r/attempt_0/3/stdout.log",
                "r/attempt_0/#/stdout.log",
                true,
                false,
                3,
            ),
            (
                "r/shards/3/stdout.log",
                "r/shards/#/stdout.log",
                false,
                false,
                3,
            ),
        ] {
            let expected = Some((shared.to_owned(), is_numbered, is_machine, number));
            assert_eq!(of(name), expected, "{name}");
        }
        assert_eq!(of("train.log"), None);
    }

    #[test]
    fn numbers_far_apart_tie_nobody() {
        let of = |numbers: &[i32]| {
            let members: Vec<Log<'_>> = numbers.iter().map(|_| (&[][..], None)).collect();
            let mut namesakes = logs(&members, false);
            for (member, number) in namesakes.members.iter_mut().zip(numbers) {
                member.number = Some(*number);
            }
            is_sparse(&namesakes)
        };
        assert!(of(&[1, 10]) && of(&[0, 3, 9]));
        assert!(!of(&[0, 1]) && !of(&[0, 1, 3, 4]) && !of(&[2, 3]));
    }

    #[test]
    fn who_makes_the_same_steps_at_the_same_times_is_of_one_gang() {
        let gang = |begins: [Nanos; 2], pace: [Nanos; 2], misses: bool| {
            let seen = |at: usize| Some((begins[at], begins[at] + 20 * pace[at]));
            let members: [Log<'_>; 2] = [(&[], seen(0)), (&[], seen(1))];
            let mut namesakes = logs(&members, false);
            for (at, member) in namesakes.members.iter_mut().enumerate() {
                let steps = (0..20).map(|step| (step, begins[at] + step * pace[at]));
                member.steps = steps.collect();
                member.misses = misses && at == 0;
            }
            is_gang(&namesakes)
        };
        let ten = 10 * SECOND;
        assert!(gang([0, 2_000_000], [ten, ten], true));
        // Nobody misses another: they may be runs of one sweep, which nothing ties.
        assert!(!gang([0, 2_000_000], [ten, ten], false));
        // Started at one time, and each with a pace of its own.
        assert!(!gang([0, 0], [ten, ten + SECOND / 5], true));
        assert!(!gang([0, 4 * SECOND], [ten, ten], true));
        // One after the other.
        assert!(!gang([0, 400 * SECOND], [ten, ten], true));
    }

    #[test]
    fn ranks_that_speak_at_one_time_are_one_gang() {
        let at = |from: Nanos, to: Nanos| Some((from * SECOND, to * SECOND));
        for (members, is_numbered, expected) in [
            (
                vec![(&[0][..], at(0, 90)), (&[1][..], at(5, 95))],
                false,
                true,
            ),
            // A whole node each.
            (
                vec![(&[0, 1][..], at(0, 90)), (&[2, 3][..], None)],
                false,
                true,
            ),
            // The same rank twice: one run after the other.
            (
                vec![(&[0][..], at(0, 90)), (&[0][..], at(100, 200))],
                false,
                false,
            ),
            (
                vec![(&[0][..], at(0, 90)), (&[1][..], at(9_000, 9_900))],
                false,
                false,
            ),
            // Nobody says that they are ranks.
            (
                vec![(&[][..], at(0, 90)), (&[][..], at(0, 90))],
                true,
                false,
            ),
            (
                vec![(&[3][..], at(0, 90)), (&[][..], at(0, 90))],
                true,
                true,
            ),
            (
                vec![(&[3][..], at(0, 90)), (&[][..], at(0, 90))],
                false,
                false,
            ),
            (vec![(&[3][..], at(0, 90))], true, false),
        ] {
            let namesakes = logs(&members, is_numbered);
            assert_eq!(is_gang(&namesakes), expected, "{members:?} {is_numbered}");
        }
    }
}
