//! Pods as the answer names them.

use std::collections::{BTreeMap, HashMap};
use whathappened_core::signals::named;

use whathappened_core::death::{Death, DeathState, deaths};
use whathappened_core::graph::{EntityGraph, Fact, InstanceChange, Task, TaskKind, TaskRow};
use whathappened_core::lifecycle::Mode;
use whathappened_model::time::{CLOCKS, Nanos, SECOND, Stamp, rfc3339};

use super::record::reported;
use super::repeats;
use crate::answer::Victim;
use crate::case::Case;

/// A death as the answer shows it.
pub(super) fn victim<'a>(
    graph: &EntityGraph,
    death: &Death,
    facts: impl Iterator<Item = &'a Fact>,
) -> Option<Victim> {
    let pod = graph.pods.get(death.pod)?;
    let symbols = &graph.evidence.symbols;
    let time = reported(death.time);
    Some(Victim {
        pod: graph
            .name(if pod.name.is_some() {
                pod.name
            } else {
                pod.uid
            })
            .to_owned(),
        namespace: symbols.some(pod.namespace).map(str::to_owned),
        // An instance is its own place, and a job on several nodes is on none of them alone.
        node: symbols
            .some(pod.node)
            .filter(|_| pod.kind != TaskKind::Instance && pod.more_nodes.is_empty())
            .map(str::to_owned),
        rank: pod.rank,
        time: time.map(|time| rfc3339(time.lo)),
        time_hi: time.map(|time| rfc3339(time.hi)),
        exit_code: death.exit_code,
        reason: symbols.some(death.reason).map(str::to_owned),
        how: how(graph, death, facts),
        state: state(graph, death),
    })
}

/// How the pods of some runs ended, by pod; of several ends of one the last.
#[must_use]
pub fn last_words(case: &Case, chosen: &[usize]) -> BTreeMap<TaskRow, Victim> {
    let found = deaths(&case.graph, &case.runs, chosen, &case.ends);
    let mut dead: HashMap<TaskRow, Vec<&Fact>> = HashMap::new();
    for pod in found.iter().filter_map(|death| death.pod) {
        dead.entry(pod).or_default();
    }
    for fact in &case.graph.facts {
        if let Some(facts) = fact.pod.and_then(|pod| dead.get_mut(&pod)) {
            facts.push(fact);
        }
    }
    let of = |pod: TaskRow| dead.get(&pod).into_iter().flatten().copied();
    found
        .iter()
        .filter_map(|death| {
            let pod = death.pod?;
            Some((pod, victim(&case.graph, death, of(pod))?))
        })
        .collect()
}

/// What became of it; an instance that a zone refused was never there to die, nor did a
/// batch job that was cancelled while it waited.
fn state(graph: &EntityGraph, death: &Death) -> DeathState {
    let refused = graph.pods.get(death.pod).is_some_and(|one| {
        let mut signs = one.signs.iter();
        one.kind == TaskKind::Instance
            && signs.any(|sign| sign.time == death.time && sign.what == InstanceChange::Refused)
    });
    let never_ran = graph.pods.get(death.pod).is_some_and(|one| {
        let silent = one.last_line.is_none() && one.untimed.last == 0;
        one.kind == TaskKind::Job && one.started.is_none() && !one.node.is_some() && silent
    });
    // One end, after which it has run until now, is no habit.
    let member = graph.pods.get(death.pod);
    let ran_again = death.state == DeathState::CrashLoop && member.is_some_and(Task::runs_again);
    if refused {
        DeathState::NeverCreated
    } else if never_ran {
        DeathState::NeverScheduled
    } else if ran_again {
        DeathState::Restarted
    } else {
        death.state
    }
}

/// Who took a pod away, the plainest word first.
const TAKEN: [(&str, &str); 10] = [
    (named::K8S_POD_PREEMPTED, "was preempted"),
    (
        named::K8S_POD_EVICTED_PRESSURE,
        "was evicted by the kubelet",
    ),
    (
        named::K8S_POD_EVICTED_STORAGE_LIMIT,
        "was evicted by the kubelet",
    ),
    (
        named::K8S_POD_EVICTED_TAINT,
        "was evicted because of a taint on its node",
    ),
    ("k8s.pod.evicted", "was evicted"),
    ("k8s.pod.admission_failed.", "was refused by the kubelet"),
    (
        named::K8S_POD_NODE_SHUTDOWN,
        "was terminated by the shutdown of its node",
    ),
    (named::K8S_POD_DEADLINE, "ran past its deadline"),
    (named::K8S_POD_DELETION_REQUESTED, "was deleted"),
    (named::K8S_CONTAINER_KILLING, "was stopped externally"),
];

/// A reason is a word, or a few: what is longer than any of Kubernetes' own is cut.
fn short(reason: &str) -> std::borrow::Cow<'_, str> {
    const LONGEST: usize = 128;
    match reason.char_indices().nth(LONGEST) {
        None => reason.into(),
        Some((end, _)) => format!("{}…", &reason[..end]).into(),
    }
}

/// How a pod ended, in words.
fn how<'a>(graph: &EntityGraph, death: &Death, facts: impl Iterator<Item = &'a Fact>) -> String {
    let reason = &*short(graph.name(death.reason));
    let exit = match (death.exit_code, reason) {
        (None, "") => "an unknown exit code".to_owned(),
        (None, reason) => format!("reason {reason}"),
        (Some(code), "") => format!("exit code {code}"),
        (Some(code), reason) => format!("exit code {code} ({reason})"),
    };
    let member = graph.pods.get(death.pod);
    if let Some(one) = member.filter(|one| one.kind == TaskKind::Instance) {
        return of_instance(one, death).to_owned();
    }
    if member.is_some_and(|one| one.kind == TaskKind::Job) && !reason.is_empty() {
        let code = death.exit_code.map(|code| format!(", exit code {code}"));
        return format!("ended with state {reason}{}", code.unwrap_or_default());
    }
    match (death.state, death.mode) {
        (DeathState::Died, Mode::Killed) => {
            let place = |fact: &Fact| {
                let signal = graph.name(fact.signal);
                TAKEN.iter().position(|(stem, _)| signal.starts_with(stem))
            };
            // What was asked for by then, else what clocks that differ tell of somewhat later.
            let facts: Vec<&Fact> = facts.collect();
            let by = |then: Nanos| {
                let asked = facts.iter().filter(|fact| fact.onset <= then);
                asked.filter_map(|fact| place(fact)).min()
            };
            let late = || by(death.time.hi.saturating_add(CLOCKS));
            let word = by(death.time.hi.saturating_add(SECOND)).or_else(late);
            let word = word.and_then(|place| TAKEN.get(place));
            // Of a log alone it is known by which signal.
            let has_signal =
                |signal: &str| facts.iter().any(|fact| graph.name(fact.signal) == signal);
            let word = match word {
                Some((_, word)) => *word,
                None if has_signal(named::LOG_SIGTERM) => "was asked to stop (SIGTERM)",
                None if has_signal(named::LOG_HANGUP) => {
                    "was ended by SIGHUP, as when its terminal closes"
                }
                None => "was terminated externally",
            };
            match member.and_then(|one| ended_later(one, death)) {
                Some(later) => format!("{word}, and its container ended {later} later"),
                None => word.to_owned(),
            }
        }
        (DeathState::Died, Mode::Lost) => "was lost with its node".to_owned(),
        (DeathState::Died, Mode::Exited) if let Some(reason) = member.and_then(Task::refused) => {
            format!("was refused by the kubelet ({reason})")
        }
        (DeathState::Died, Mode::Exited) if death.exit_code.is_none() && reason.is_empty() => {
            let near = |fact: &&Fact| {
                let soon = fact.onset <= death.time.hi.saturating_add(CLOCKS);
                soon && fact.onset.saturating_add(CLOCKS) >= death.time.lo
            };
            let near: Vec<&Fact> = facts.filter(near).collect();
            let killed = |fact: &&Fact| graph.name(fact.signal) == named::LOG_KILLED;
            // Of its end nothing but that its log goes no further is known.
            let is_silent = |one: &Task| {
                one.kind == TaskKind::Log
                    && one.last_words.or(one.logged_over).is_none()
                    && one.logged_end.or(one.logged_stop).is_none()
                    && one.untimed.words == 0
            };
            match near.iter().any(killed) {
                true => "had a process killed by SIGKILL".to_owned(),
                false if near.is_empty() && member.is_some_and(is_silent) => {
                    "ended without a word, and others lost contact with it".to_owned()
                }
                false => of_process(graph, &near).unwrap_or_else(|| format!("ended with {exit}")),
            }
        }
        (DeathState::Died | DeathState::Restarted, _) => format!("ended with {exit}"),
        (DeathState::CrashLoop, _) if member.is_some_and(Task::runs_again) => {
            format!("ended with {exit} and was started again")
        }
        (DeathState::CrashLoop, _) => {
            let often = member.and_then(repeats::words);
            let often = often.map_or_else(String::new, |often| format!(" ({often})"));
            format!("keeps ending with {exit}{often}")
        }
        // A table says `Pending`, and not whether it has a node.
        (DeathState::NeverScheduled, _)
            if member.is_some_and(|one| {
                one.kind == TaskKind::Pod && !one.uid.is_some() && one.unplaced.is_none()
            }) =>
        {
            "is pending".to_owned()
        }
        (DeathState::NeverScheduled, _)
            if member.is_some_and(|one| one.kind == TaskKind::Job && was_requeued(one)) =>
        {
            "is waiting in the queue again".to_owned()
        }
        (DeathState::NeverScheduled, _) => "was never scheduled".to_owned(),
        (DeathState::StuckStarting, _)
            if member.is_some_and(|one| one.exits.iter().any(|exit| !exit.init)) =>
        {
            "was not started again after its program had ended".to_owned()
        }
        (DeathState::StuckStarting, _) => {
            let printed = member.filter(|one| !one.uid.is_some());
            let waits = printed.and_then(|one| one.waits.first());
            waits.map_or_else(|| "never started".to_owned(), |waits| waiting(waits))
        }
        (DeathState::NotReady, _) => "is running but not ready".to_owned(),
        (DeathState::Failing, _) => "is running, but its log shows only failures".to_owned(),
        (DeathState::Lingering, _) => "had not ended when the others gave up waiting".to_owned(),
        (DeathState::Stalled, _) => "is running but makes no progress".to_owned(),
        (DeathState::Slow, _) => of_slow(graph, facts).to_owned(),
        (DeathState::Slowed, _) => "was slower for a while".to_owned(),
        (state, _) => state.as_str().replace('_', " "),
    }
}

/// How much later than its end was asked for a pod's container ended, where that is longer than most are given to stop.
fn ended_later(one: &Task, death: &Death) -> Option<String> {
    const SOON: Nanos = 60 * SECOND;
    let ends = one.exits.iter().filter(|exit| !exit.init);
    let end = ends.map(|exit| exit.time).max()?;
    let is_known = end != Stamp::OPEN && death.time != Stamp::OPEN;
    let later = end.lo.saturating_sub(death.time.hi);
    (is_known && later > SOON).then(|| repeats::duration(later))
}

/// Slower than whom or what a pod is.
fn of_slow<'a>(graph: &EntityGraph, mut facts: impl Iterator<Item = &'a Fact>) -> &'static str {
    let apart = facts.any(|fact| {
        let signal = graph.name(fact.signal);
        matches!(signal, named::LOG_RANK_SLOW | named::LOG_RANK_BEHIND)
    });
    if apart {
        "is running, more slowly than the others"
    } else {
        "is running, more slowly than before"
    }
}

/// Whether a batch job ran before and was put back into the queue.
fn was_requeued(one: &Task) -> bool {
    let body = one.body.as_ref();
    let counted = body.is_some_and(|body| body.annotations.contains_key("restarts"));
    counted || !one.exits.is_empty()
}

/// How a process of several ended, as their launcher says: the first that it noticed.
fn of_process(graph: &EntityGraph, near: &[&Fact]) -> Option<String> {
    let first = |signal: &str| {
        let mut facts = near.iter().filter(|fact| graph.name(fact.signal) == signal);
        facts.find_map(|fact| {
            let event = graph.evidence.event(fact.row).ok()?;
            let code: i32 = event.attribute("code")?.parse().ok()?;
            let number = |key: &str| event.attribute(key).map(str::to_owned);
            let which = match (number("failed_rank"), number("local_rank")) {
                (Some(rank), _) => format!("rank {rank}"),
                (None, Some(local)) => format!("local rank {local}"),
                (None, None) => return None,
            };
            Some((code, which))
        })
    };
    let (code, which) =
        first(named::LAUNCHER_ROOT_CAUSE).or_else(|| first(named::LAUNCHER_WORKER_FAILED))?;
    match code {
        1..=255 => Some(format!(
            "failed when its {which} ended with exit code {code}"
        )),
        -64..=-1 => Some(format!(
            "failed when its {which} was ended by signal {}",
            -code
        )),
        _ => None,
    }
}

/// What a table of pods says of one that has not started, in its own word.
fn waiting(word: &str) -> String {
    match word {
        "ContainerCreating" | "PodInitializing" => format!("has not started yet ({word})"),
        _ => format!("cannot start ({word})"),
    }
}

/// How a cloud instance ended, in words.
fn of_instance(one: &Task, death: &Death) -> &'static str {
    let sign = one.signs.iter().find(|sign| sign.time == death.time);
    match sign.map(|sign| sign.what) {
        Some(InstanceChange::Taken) => "was reclaimed by the cloud",
        Some(InstanceChange::Lost) => "was lost with its host",
        Some(InstanceChange::ShutDown) => "shut itself down",
        Some(InstanceChange::Stopped) => "was stopped",
        Some(InstanceChange::Deleted) => "was deleted",
        Some(InstanceChange::Reset) => "was reset",
        Some(InstanceChange::Refused) => "could not be created",
        Some(InstanceChange::ProgramKilled) => "had a program killed by its kernel",
        Some(InstanceChange::Made | InstanceChange::Runs | InstanceChange::Moved) | None => {
            match death.mode {
                // Of these its own kernel and log tell.
                Mode::Lost => "was lost",
                Mode::Exited if death.exit_code == Some(137) => "had its program killed",
                Mode::Exited => "had its program end",
                Mode::Killed | Mode::None => "ended",
            }
        }
    }
}

/// GPU-hours that the deaths cost: what the pods held times how long they ran,
/// since their work was last `saved`. Of pods of which nobody knows what they held, it is not known.
pub(super) fn gpu_hours<'a>(
    graph: &EntityGraph,
    deaths: impl Iterator<Item = &'a Death>,
    saved: Option<Stamp>,
) -> Option<f64> {
    let mut sum = 0.0;
    for death in deaths.filter(|death| death.mode != Mode::None) {
        let Some(pod) = graph.pods.get(death.pod) else {
            continue;
        };
        let (Some(start), Some(end)) = (pod.started.or(pod.bound), reported(death.time)) else {
            continue;
        };
        let start = death.since.unwrap_or(start);
        let start = saved.filter(|saved| saved.lo > start.lo).unwrap_or(start);
        let known = pod.kind != TaskKind::Pod;
        sum += graph.gpus(pod).or(known.then_some(0.0))? * hours(start, end);
    }
    // Hundredths, so that the order of summing cannot show.
    (sum > 0.0).then(|| (sum * 100.0).round() / 100.0)
}

fn hours(from: Stamp, to: Stamp) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "hours to two decimals")]
    let hours = to.lo.saturating_sub(from.lo).max(0) as f64 / 3.6e12;
    hours
}
