//! Randomness that is passed in: pauses differ between collectors and runs, and
//! a test knows them.

use std::time::Duration;

/// Numbers that look random, from a seed.
#[derive(Clone, Debug)]
pub(super) struct Jitter(u64);

impl Jitter {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A pause of `about`, up to a quarter more or less.
    pub(super) fn about(&mut self, about: Duration) -> Duration {
        self.0 = mix(self.0, 1);
        let unit = f64::from(u32::try_from(self.0 >> 32).unwrap_or(0)) / f64::from(u32::MAX);
        about.mul_f64(0.75 + unit / 2.0)
    }

    /// The pause after the given failure in a row, from one on: doubles from
    /// `first` up to `most`.
    pub(super) fn backoff(&mut self, failures: u32, first: Duration, most: Duration) -> Duration {
        let doubled = 2_u32.saturating_pow(failures.saturating_sub(1).min(16));
        self.about(first.saturating_mul(doubled).min(most))
    }
}

/// Another seed from a seed and a number (splitmix64's step).
pub(super) fn mix(seed: u64, number: u64) -> u64 {
    let mut z = seed.wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_differ_and_stay_within_bounds() {
        let (first, most) = (Duration::from_secs(1), Duration::from_secs(60));
        let pauses = |seed| -> Vec<Duration> {
            let mut jitter = Jitter::new(seed);
            (1..20).map(|n| jitter.backoff(n, first, most)).collect()
        };
        let one = pauses(1);
        assert_eq!(one, pauses(1));
        assert_ne!(one, pauses(2));
        assert!(one[3] > one[0]);
        assert!(one.iter().all(|pause| *pause <= most.mul_f64(1.25)));
        assert!(one.iter().all(|pause| *pause >= first.mul_f64(0.75)));
    }
}
