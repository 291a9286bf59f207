//! Chance, all of it from one seed.

/// A small generator of numbers that are the same for the same seed on every machine.
#[derive(Clone, Debug)]
pub struct Rng(u64);

/// Letters of the suffixes that Kubernetes makes names with.
const SUFFIX: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";

impl Rng {
    /// A stream of its own for each use of a seed, so that one more draw in one
    /// place does not move all others.
    #[must_use]
    pub fn stream(seed: u64, name: &str) -> Self {
        let mut state = seed ^ 0x9e37_79b9_7f4a_7c15;
        for byte in name.bytes() {
            state = (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            state ^= state >> 29;
        }
        let mut rng = Self(state);
        rng.bits();
        rng
    }

    /// The next 64 bits (`SplitMix64`).
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from `low` up to and including `high`.
    pub fn range(&mut self, low: i64, high: i64) -> i64 {
        if high <= low {
            return low;
        }
        let span = high.abs_diff(low) + 1;
        low + i64::try_from(self.bits() % span).unwrap_or(0)
    }

    /// An index below `len`.
    pub fn below(&mut self, len: usize) -> usize {
        usize::try_from(self.bits() % (len.max(1) as u64)).unwrap_or(0)
    }

    /// True that often in a hundred.
    pub fn chance(&mut self, percent: u64) -> bool {
        self.bits() % 100 < percent
    }

    /// One of these; `None` of none.
    pub fn pick<'a, T>(&mut self, of: &'a [T]) -> Option<&'a T> {
        of.get(self.below(of.len()))
    }

    /// One of these texts.
    pub fn word(&mut self, of: &[&'static str]) -> &'static str {
        self.pick(of).copied().unwrap_or("")
    }

    /// One of these, each as often as its weight says.
    pub fn weighted<T: Copy>(&mut self, of: &[(T, u64)]) -> Option<T> {
        let total: u64 = of.iter().map(|(_, weight)| weight).sum();
        let mut left = self.bits() % total.max(1);
        for (one, weight) in of {
            if left < *weight {
                return Some(*one);
            }
            left -= weight;
        }
        of.last().map(|(one, _)| *one)
    }

    /// Nanoseconds between two numbers of milliseconds.
    pub fn millis(&mut self, low: i64, high: i64) -> i64 {
        self.range(low * 1_000_000, high * 1_000_000)
    }

    /// Nanoseconds between two numbers of seconds.
    pub fn secs(&mut self, low: i64, high: i64) -> i64 {
        self.range(low * 1_000_000_000, high * 1_000_000_000)
    }

    /// The five letters at the end of a generated name.
    pub fn suffix(&mut self) -> String {
        self.letters(5)
    }

    /// Some letters as Kubernetes draws them.
    pub fn letters(&mut self, count: usize) -> String {
        (0..count)
            .map(|_| {
                char::from(
                    SUFFIX
                        .get(self.below(SUFFIX.len()))
                        .copied()
                        .unwrap_or(b'x'),
                )
            })
            .collect()
    }

    /// Hexadecimal digits.
    pub fn hex(&mut self, count: usize) -> String {
        let mut text = String::with_capacity(count + 16);
        while text.len() < count {
            text.push_str(&format!("{:016x}", self.bits()));
        }
        text.truncate(count);
        text
    }

    /// A random UUID of version 4.
    pub fn uuid(&mut self) -> String {
        let high = self.bits();
        let low = self.bits();
        format!(
            "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
            high >> 32,
            (high >> 16) & 0xffff,
            high & 0xfff,
            0x8000 | ((low >> 48) & 0x3fff),
            low & 0xffff_ffff_ffff
        )
    }

    /// Shuffles in place.
    pub fn shuffle<T>(&mut self, of: &mut [T]) {
        for at in (1..of.len()).rev() {
            of.swap(at, self.below(at + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_differ_and_repeat() {
        let draw = |name| Rng::stream(7, name).bits();
        assert_eq!(draw("a"), draw("a"));
        assert_ne!(draw("a"), draw("b"));
        let uuid = Rng::stream(7, "a").uuid();
        assert_eq!((uuid.len(), uuid.as_bytes().get(14)), (36, Some(&b'4')));
    }

    #[test]
    fn ranges_hold_their_ends() {
        let mut rng = Rng::stream(1, "r");
        let drawn: Vec<i64> = (0..200).map(|_| rng.range(-1, 1)).collect();
        assert!(drawn.contains(&-1) && drawn.contains(&1));
        assert!(drawn.iter().all(|one| (-1..=1).contains(one)));
    }
}
