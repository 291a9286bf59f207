//! What changed between two scrapes.

use super::super::wire::{Sample, Series};
use super::SCRAPE;
use crate::time::{Nanos, SECOND, Stamp};

/// Rises that are no further apart are one.
const ONE_RISE: Nanos = 300 * SECOND;

/// The samples of several series of one thing, in time order.
pub(super) fn merged(series: &[&Series]) -> Vec<Sample> {
    let mut all: Vec<Sample> = series.iter().flat_map(|one| one.samples.clone()).collect();
    all.sort_by(|a, b| a.at.cmp(&b.at).then(a.value.total_cmp(&b.value)));
    all
}

/// How far apart samples usually are; a minute where nothing tells.
pub(super) fn interval(samples: &[Sample]) -> Nanos {
    let mut gaps: Vec<Nanos> = samples
        .windows(2)
        .map(|two| two[1].at - two[0].at)
        .filter(|gap| *gap > 0)
        .collect();
    gaps.sort_unstable();
    gaps.get(gaps.len() / 2).copied().unwrap_or(60 * SECOND)
}

/// The time of what one scrape shows and the one before did not.
pub(super) fn between(before: Nanos, after: Nanos) -> Stamp {
    Stamp {
        lo: before,
        hi: after.saturating_add(SCRAPE),
    }
}

/// A rise of a counter, over one scrape or several in a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CounterRise {
    /// When it began.
    pub(super) time: Stamp,
    /// The sample before, and the last of it.
    pub(super) samples: [Sample; 2],
    /// By how much.
    pub(super) by: f64,
    /// The last sample's time.
    pub(super) last: Nanos,
}

/// The rises of a counter. A fall is a counter that began anew.
pub(super) fn rises(samples: &[Sample]) -> Vec<CounterRise> {
    let mut all: Vec<CounterRise> = Vec::new();
    for two in samples.windows(2) {
        let (before, after) = (two[0], two[1]);
        let by = after.value - before.value;
        if by <= 0.0 || after.at == before.at {
            continue;
        }
        match all.last_mut() {
            Some(last) if after.at - last.last <= ONE_RISE => {
                last.by += by;
                last.last = after.at;
                last.samples[1] = after;
            }
            _ => all.push(CounterRise {
                time: between(before.at, after.at),
                samples: [before, after],
                by,
                last: after.at,
            }),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(values: &[(i64, f64)]) -> Vec<Sample> {
        let sample = |(at, value): &(i64, f64)| Sample {
            at: at * SECOND,
            value: *value,
        };
        values.iter().map(sample).collect()
    }

    #[test]
    fn rises_in_a_row_are_one_and_a_fall_is_none() {
        let emitted = rises(&samples(&[
            (0, 5.0),
            (30, 5.0),
            (60, 7.0),
            (90, 8.0),
            (120, 0.0),
            (900, 0.0),
            (930, 1.0),
        ]));
        let by: Vec<f64> = emitted.iter().map(|rise| rise.by).collect();
        assert_eq!(by, [3.0, 1.0]);
        assert_eq!(emitted[0].time.lo, 30 * SECOND);
        assert_eq!(emitted[0].time.hi, 61 * SECOND);
        assert_eq!(emitted[0].last, 90 * SECOND);
        assert_eq!(
            interval(&samples(&[(0, 0.0), (15, 0.0), (30, 0.0), (90, 0.0)])),
            15 * SECOND
        );
    }
}
