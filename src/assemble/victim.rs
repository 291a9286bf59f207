//! Pods as the answer names them.

use whathappened_connectors::time::{Stamp, rfc3339};
use whathappened_core::death::Death;
use whathappened_core::life::Mode;
use whathappened_core::world::World;

use super::record::told;
use crate::answer::Victim;

/// A death as the answer shows it.
pub(super) fn victim(world: &World, death: &Death) -> Option<Victim> {
    let pod = world.pods.get(death.pod as usize)?;
    let symbols = &world.evidence.symbols;
    let time = told(death.time);
    Some(Victim {
        pod: world.name(pod.name).to_owned(),
        namespace: symbols.some(pod.namespace).map(str::to_owned),
        node: symbols.some(pod.node).map(str::to_owned),
        rank: pod.rank,
        time: time.map(|time| rfc3339(time.lo)),
        time_hi: time.map(|time| rfc3339(time.hi)),
        exit_code: death.exit_code,
        reason: symbols.some(death.reason).map(str::to_owned),
        how: how(death, symbols.name(death.reason)),
    })
}

/// How a pod ended, in words.
fn how(death: &Death, reason: &str) -> String {
    let code = death.exit_code.map(|code| format!("exit code {code}"));
    let claim = Some(reason)
        .filter(|reason| !reason.is_empty())
        .map(|reason| format!("({reason})"));
    let exit: Vec<String> = [code, claim].into_iter().flatten().collect();
    let exit = if exit.is_empty() {
        "an unseen exit".to_owned()
    } else {
        exit.join(" ")
    };
    match (death.state, death.mode) {
        ("died", Mode::Killed) => "was ended from outside".to_owned(),
        ("died", Mode::Lost) => "was lost with its node".to_owned(),
        ("died" | "restarted", _) => format!("ended with {exit}"),
        ("crash_loop", _) => format!("keeps ending with {exit}"),
        ("never_scheduled", _) => "was never scheduled".to_owned(),
        ("stuck_starting", _) => "never started".to_owned(),
        ("not_ready", _) => "runs but is not ready".to_owned(),
        (state, _) => state.replace('_', " "),
    }
}

/// GPU-hours that the deaths cost: what the pods held times how long they ran.
pub(super) fn gpu_hours<'a>(world: &World, deaths: impl Iterator<Item = &'a Death>) -> Option<f64> {
    let mut sum = 0.0;
    for death in deaths.filter(|death| death.mode != Mode::None) {
        let Some(pod) = world.pods.get(death.pod as usize) else {
            continue;
        };
        let (Some(start), Some(end)) = (pod.started.or(pod.bound), told(death.time)) else {
            continue;
        };
        sum += pod.gpus() * hours(death.since.unwrap_or(start), end);
    }
    // Hundredths, so that the order of summing cannot show.
    (sum > 0.0).then(|| (sum * 100.0).round() / 100.0)
}

fn hours(from: Stamp, to: Stamp) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "hours to two decimals")]
    let hours = to.lo.saturating_sub(from.lo).max(0) as f64 / 3.6e12;
    hours
}
