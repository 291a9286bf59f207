//! What a line about a training step says of the time that the rank itself worked on it.
//!
//! Ranks that train together end each step together: the time of a whole step, and that of a backward pass that reduces
//! gradients, is as long for those that wait as for the one they wait for. What a rank computed by itself, or waited for its
//! own data, is its own.

use std::num::NonZeroU32;
use std::sync::LazyLock;

use regex::{Captures, Regex};

/// Times are kept in these parts of a second.
const PARTS: f64 = 100_000.0;

/// A rank's own times of one step, and how long it waited for others, where its line tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct OwnTimes {
    compute: Option<NonZeroU32>,
    data: Option<NonZeroU32>,
    wait: Option<NonZeroU32>,
}

/// Which of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Own {
    /// Computing, without what ranks do together.
    Compute,
    /// Waiting for its own data.
    Data,
    /// Waiting for other ranks.
    Wait,
}

/// `forward_time_ms=900`, `data_time: 0.31`, `"compute time (s)": 1.2`, `wait_time=3.1s`. Without a word for time or a unit it
/// may be a number of anything.
static TIMES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let pattern = r#"(?ix)
        (?: ^ | [^a-z0-9_-] )
        (?: (?<compute> fwd | forward (?: [-_]compute )? | fprop | (?: gpu[-_] )? compute | computation | kernel )
          | (?<data> data (?: [-_]? load (?: er | ing )? | [-_]wait )? | batch[-_]generator | fetch | input )
          | (?<wait> wait | sync | comm | communication | all [-_]? reduce | nccl | barrier ) )
        (?: [-_\x20]pass )?
        (?<time> [-_\x20] (?: time | t | dur | duration | latency ) )?
        (?: [-_\x20/(]+ (?<unit> ms | msec | us | s | sec | secs | seconds ) \)? )?
        ['"]? \s* [=:] \s* ['"]?
        (?<value> \d+ (?: \.\d+ )? (?: e[-+]?\d+ )? )
        (?: \s? (?<after> ms | msec | us | s | sec | secs | seconds ) )? \b"#;
    Regex::new(pattern).ok()
});

impl OwnTimes {
    /// The times that a line tells of. What is told twice counts once.
    pub(super) fn of(line: &str) -> Self {
        let mut found = Self::default();
        // Nearly no line tells any, and all that do have an equals sign or a colon behind one of few letters.
        let Some(times) = TIMES.as_ref().filter(|_| line.contains(['=', ':'])) else {
            return found;
        };
        for words in times.captures_iter(line) {
            let Some(parts) = parts(&words) else {
                continue;
            };
            let kind = [
                ("compute", &mut found.compute),
                ("data", &mut found.data),
                ("wait", &mut found.wait),
            ];
            for (name, place) in kind {
                if words.name(name).is_some() && place.is_none() {
                    *place = Some(parts);
                }
            }
        }
        found
    }

    /// One of them, in seconds.
    pub(super) fn seconds(&self, which: Own) -> Option<f64> {
        let parts = match which {
            Own::Compute => self.compute,
            Own::Data => self.data,
            Own::Wait => self.wait,
        };
        parts.map(|parts| f64::from(parts.get()) / PARTS)
    }
}

/// A time in parts of a second. A time without a unit is in seconds, as programs measure it.
fn parts(words: &Captures<'_>) -> Option<NonZeroU32> {
    let unit = words.name("after").or_else(|| words.name("unit"));
    if unit.is_none() && words.name("time").is_none() {
        return None;
    }
    let value: f64 = words.name("value")?.as_str().parse().ok()?;
    let unit = unit.map(|unit| unit.as_str().to_ascii_lowercase());
    let seconds = match unit.as_deref() {
        Some("ms" | "msec") => value / 1e3,
        Some("us") => value / 1e6,
        _ => value,
    };
    let parts = (seconds * PARTS).round();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "its bounds are looked at"
    )]
    let parts = (1.0..f64::from(u32::MAX))
        .contains(&parts)
        .then_some(parts as u32);
    parts.and_then(NonZeroU32::new)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> [Option<f64>; 3] {
        let times = OwnTimes::of(line);
        [Own::Compute, Own::Data, Own::Wait].map(|which| times.seconds(which))
    }

    #[test]
    fn a_ranks_own_times_are_told_in_many_ways() {
        for (line, expected) in [
            (
                "step=7 loss=1.8 forward_time_ms=900 step_time_s=6",
                [Some(0.9), None, None],
            ),
            (
                "step 10 | data_time: 0.31 | fwd: 12.5 ms | bwd: 30 ms",
                [Some(0.0125), Some(0.31), None],
            ),
            (
                r#"{"step": 4, "compute time (s)": 1.2, "wait_time": "3.1s"}"#,
                [Some(1.2), None, Some(3.1)],
            ),
            (
                "[rank3] step=4 dataloader_time=2.5e-1 allreduce_time=40ms",
                [None, Some(0.25), Some(0.04)],
            ),
            (
                " iteration 20/ 1000 | forward-compute (ms): 812.3 | batch-generator (ms): 1.5",
                [Some(0.8123), Some(0.0015), None],
            ),
        ] {
            assert_eq!(of(line), expected, "{line}");
        }
    }

    #[test]
    fn what_is_no_time_of_its_own_is_none() {
        for line in [
            "step=7 loss=1.8 step_time=6.0 iter_time_ms=6000",
            "step=7 data=3 input=12 forward=true",
            "step=7 metadata_time=3",
            "step=7 backward_time_ms=5600",
        ] {
            assert_eq!(of(line), [None, None, None], "{line}");
        }
    }
}
