//! Pods as the answer names them.

use std::collections::{BTreeMap, HashMap};

use whathappened_connectors::time::{Stamp, rfc3339};
use whathappened_core::death::{Death, deaths};
use whathappened_core::life::Mode;
use whathappened_core::world::{Fact, Kind, Pod, What, World};

use super::record::told;
use crate::answer::Victim;
use crate::case::Case;
use crate::explain::CLOCKS;

/// A death as the answer shows it.
pub(super) fn victim<'a>(
    world: &World,
    death: &Death,
    facts: impl Iterator<Item = &'a Fact>,
) -> Option<Victim> {
    let pod = world.pods.get(death.pod as usize)?;
    let symbols = &world.evidence.symbols;
    let time = told(death.time);
    Some(Victim {
        pod: world
            .name(if pod.name.is_some() {
                pod.name
            } else {
                pod.uid
            })
            .to_owned(),
        namespace: symbols.some(pod.namespace).map(str::to_owned),
        // An instance is its own place.
        node: symbols
            .some(pod.node)
            .filter(|_| pod.kind != Kind::Instance)
            .map(str::to_owned),
        rank: pod.rank,
        time: time.map(|time| rfc3339(time.lo)),
        time_hi: time.map(|time| rfc3339(time.hi)),
        exit_code: death.exit_code,
        reason: symbols.some(death.reason).map(str::to_owned),
        how: how(world, death, facts),
        state: state(world, death).to_owned(),
    })
}

/// How the pods of some runs ended, by pod; of several ends of one the last.
#[must_use]
pub fn last_words(case: &Case, chosen: &[usize]) -> BTreeMap<u32, Victim> {
    let found = deaths(&case.world, &case.runs, chosen, &case.ends);
    let mut dead: HashMap<u32, Vec<&Fact>> = HashMap::new();
    for death in &found {
        dead.entry(death.pod).or_default();
    }
    for fact in &case.world.facts {
        if let Some(facts) = dead.get_mut(&fact.pod) {
            facts.push(fact);
        }
    }
    let of = |pod: u32| dead.get(&pod).into_iter().flatten().copied();
    found
        .iter()
        .filter_map(|death| Some((death.pod, victim(&case.world, death, of(death.pod))?)))
        .collect()
}

/// What became of it; an instance that a zone refused was never there to die, nor did a
/// batch job that was cancelled while it waited.
fn state(world: &World, death: &Death) -> &'static str {
    let refused = world.pods.get(death.pod as usize).is_some_and(|one| {
        let mut signs = one.signs.iter();
        one.kind == Kind::Instance
            && signs.any(|sign| sign.time == death.time && sign.what == What::Refused)
    });
    let never_ran = world
        .pods
        .get(death.pod as usize)
        .is_some_and(|one| one.kind == Kind::Job && one.started.is_none() && !one.node.is_some());
    if refused {
        "never_created"
    } else if never_ran {
        "never_scheduled"
    } else {
        death.state
    }
}

/// Who took a pod away, the plainest word first.
const TAKEN: [(&str, &str); 9] = [
    ("k8s.pod.preempted", "was preempted"),
    ("k8s.pod.evicted.pressure", "was evicted by the kubelet"),
    (
        "k8s.pod.evicted.storage_limit",
        "was evicted by the kubelet",
    ),
    (
        "k8s.pod.evicted.taint",
        "was evicted for a taint of its node",
    ),
    ("k8s.pod.evicted", "was evicted"),
    (
        "k8s.pod.node_shutdown",
        "was ended by the shutdown of its node",
    ),
    ("k8s.pod.deadline", "ran past its deadline"),
    ("k8s.pod.deletion_requested", "was deleted"),
    ("k8s.container.killing", "was stopped from outside"),
];

/// How a pod ended, in words.
fn how<'a>(world: &World, death: &Death, facts: impl Iterator<Item = &'a Fact>) -> String {
    let reason = world.name(death.reason);
    let exit = match (death.exit_code, reason) {
        (None, "") => "an unknown exit code".to_owned(),
        (None, reason) => format!("reason {reason}"),
        (Some(code), "") => format!("exit code {code}"),
        (Some(code), reason) => format!("exit code {code} ({reason})"),
    };
    let member = world.pods.get(death.pod as usize);
    if let Some(one) = member.filter(|one| one.kind == Kind::Instance) {
        return of_instance(one, death).to_owned();
    }
    if member.is_some_and(|one| one.kind == Kind::Job) && !reason.is_empty() {
        let code = death.exit_code.map(|code| format!(", exit code {code}"));
        return format!("ended as {reason}{}", code.unwrap_or_default());
    }
    match (death.state, death.mode) {
        ("died", Mode::Killed) => {
            let place = |fact: &Fact| {
                let signal = world.name(fact.signal);
                TAKEN.iter().position(|(stem, _)| signal.starts_with(stem))
            };
            let by_then = death.time.hi.saturating_add(CLOCKS);
            let word = facts
                .filter(|fact| fact.onset <= by_then)
                .filter_map(place)
                .min()
                .and_then(|place| TAKEN.get(place));
            word.map_or("was ended from outside", |(_, word)| word)
                .to_owned()
        }
        ("died", Mode::Lost) => "was lost with its node".to_owned(),
        ("died" | "restarted", _) => format!("ended with {exit}"),
        ("crash_loop", _) => format!("keeps ending with {exit}"),
        ("never_scheduled", _) => "was never scheduled".to_owned(),
        ("stuck_starting", _) => "never started".to_owned(),
        ("not_ready", _) => "runs but is not ready".to_owned(),
        ("failing", _) => "runs, but its log shows nothing but failures".to_owned(),
        ("lingering", _) => "did not end when the others had given up waiting".to_owned(),
        ("stalled", _) => "is there but makes no progress".to_owned(),
        (state, _) => state.replace('_', " "),
    }
}

/// How a cloud instance ended, in words.
fn of_instance(one: &Pod, death: &Death) -> &'static str {
    let sign = one.signs.iter().find(|sign| sign.time == death.time);
    match sign.map(|sign| sign.what) {
        Some(What::Taken) => "was taken away by the cloud",
        Some(What::Lost) => "was lost with its host",
        Some(What::ShutDown) => "shut itself down",
        Some(What::Stopped) => "was stopped",
        Some(What::Deleted) => "was deleted",
        Some(What::Reset) => "was reset",
        Some(What::Refused) => "could not be made",
        Some(What::Made | What::Runs) | None => "ended",
    }
}

/// GPU-hours that the deaths cost: what the pods held times how long they ran,
/// since their work was last `saved`.
pub(super) fn gpu_hours<'a>(
    world: &World,
    deaths: impl Iterator<Item = &'a Death>,
    saved: Option<Stamp>,
) -> Option<f64> {
    let mut sum = 0.0;
    for death in deaths.filter(|death| death.mode != Mode::None) {
        let Some(pod) = world.pods.get(death.pod as usize) else {
            continue;
        };
        let (Some(start), Some(end)) = (pod.started.or(pod.bound), told(death.time)) else {
            continue;
        };
        let start = death.since.unwrap_or(start);
        let start = saved.filter(|saved| saved.lo > start.lo).unwrap_or(start);
        sum += pod.gpus() * hours(start, end);
    }
    // Hundredths, so that the order of summing cannot show.
    (sum > 0.0).then(|| (sum * 100.0).round() / 100.0)
}

fn hours(from: Stamp, to: Stamp) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "hours to two decimals")]
    let hours = to.lo.saturating_sub(from.lo).max(0) as f64 / 3.6e12;
    hours
}
