//! How often a container was started again, and every how many minutes.

use whathappened_core::graph::{Exit, Task};
use whathappened_model::time::{Nanos, SECOND, Stamp};

/// Ends of which the period is known: two pauses may be alike by chance.
const ENOUGH: usize = 4;

/// Pauses of one period are no further from it, as a part of it.
const ALIKE: f64 = 0.5;

/// `restarted 14 times, about every 5 min`; of one start again nothing needs to be said.
pub(super) fn words(one: &Task) -> Option<String> {
    let body = one.body.as_ref()?;
    let restarts = body.restarts.values().copied().max()?;
    if restarts < 2 {
        return None;
    }
    let ends = ends(&one.exits);
    let every = period(&ends).map(|period| format!(", about every {}", duration(period)));
    let within = || {
        let begin = one.known_begin()?;
        let last = ends.last()?;
        let took = last.checked_sub(begin).filter(|took| *took > 0)?;
        Some(format!(" within {}", duration(took)))
    };
    let rest = every.or_else(within).unwrap_or_default();
    Some(format!("restarted {restarts} times{rest}"))
}

/// When main containers ended, each once.
fn ends(exits: &[Exit]) -> Vec<Nanos> {
    let known = exits
        .iter()
        .filter(|exit| !exit.init && exit.time != Stamp::OPEN);
    let mut ends: Vec<Nanos> = known.map(|exit| exit.time.lo).collect();
    ends.sort_unstable();
    ends.dedup_by(|a, b| *a - *b < SECOND);
    ends
}

/// The usual time from one end to the next, where most of the latest are about alike: a back-off doubles until it is five minutes.
fn period(ends: &[Nanos]) -> Option<Nanos> {
    const LATEST: usize = 12;
    let ends = ends.get(ends.len().saturating_sub(LATEST)..)?;
    if ends.len() < ENOUGH {
        return None;
    }
    let mut pauses: Vec<Nanos> = ends
        .iter()
        .zip(ends.iter().skip(1))
        .map(|(a, b)| b - a)
        .collect();
    pauses.sort_unstable();
    let usual = *pauses.get(pauses.len() / 2)?;
    let near = |pause: &&Nanos| (**pause - usual).abs() as f64 <= ALIKE * usual as f64;
    (pauses.iter().filter(near).count() * 3 >= pauses.len() * 2).then_some(usual)
}

pub(super) fn duration(time: Nanos) -> String {
    let seconds = (time + SECOND / 2) / SECOND;
    match seconds {
        ..=99 => format!("{seconds} s"),
        100..=7_199 => format!("{} min", (seconds + 30) / 60),
        _ => format!("{} h", (seconds + 1_800) / 3_600),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: &[i64]) -> Vec<Nanos> {
        seconds.iter().map(|one| one * SECOND).collect()
    }

    #[test]
    fn ends_that_come_regularly_have_a_period() {
        let every_five = at(&[0, 310, 618, 930, 1_240]);
        assert_eq!(period(&every_five).map(duration).as_deref(), Some("5 min"));
        assert_eq!(period(&at(&[0, 300, 600])), None, "too few");
        assert_eq!(
            period(&at(&[0, 10, 400, 420, 2_000, 2_010])),
            None,
            "irregular"
        );
    }

    #[test]
    fn times_are_told_as_people_do() {
        let words = [45, 310, 7_300].map(|seconds| duration(seconds * SECOND));
        assert_eq!(words, ["45 s", "5 min", "2 h"]);
    }
}
