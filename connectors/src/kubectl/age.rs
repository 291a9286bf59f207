//! Ages as kubectl prints them.

use crate::time::{Nanos, SECOND};

/// How long ago something was at the moment of the capture: `[lo, hi)`
/// nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Age {
    pub(super) lo: Nanos,
    pub(super) hi: Nanos,
}

/// When a repeating thing was seen last, first, and how often.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) last: Option<Age>,
    pub(super) first: Option<Age>,
    pub(super) count: Option<u64>,
    /// The table does not say how often, so the last may not be the first.
    pub(super) hidden: bool,
}

const UNITS: [(char, Nanos); 5] = [
    ('y', 365 * 86_400 * SECOND),
    ('d', 86_400 * SECOND),
    ('h', 3_600 * SECOND),
    ('m', 60 * SECOND),
    ('s', SECOND),
];

impl Age {
    /// Parses `37s`, `4m58s`, `3h12m`, `2d5h`, `28d`.
    ///
    /// Releases differ in which units they leave out (`5m` was any of 60
    /// seconds before 1.11, and is one second since), so an age is taken to be
    /// as exact as the smallest unit that is written, never more.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut rest = text;
        let mut lo: Nanos = 0;
        let mut least = None;
        for (letter, unit) in UNITS {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            if digits == 0 {
                break;
            }
            if !rest[digits..].starts_with(letter) {
                continue;
            }
            let number: Nanos = rest[..digits].parse().ok()?;
            lo = lo.checked_add(number.checked_mul(unit)?)?;
            least = Some(unit);
            rest = &rest[digits + 1..];
        }
        let unit = least.filter(|_| rest.is_empty())?;
        // `0s` stands for clocks that differ by less than two seconds as well.
        let slack = if lo == 0 { 2 * SECOND } else { 0 };
        Some(Self {
            lo: lo.saturating_sub(slack),
            hi: lo.checked_add(unit)?,
        })
    }
}

impl Span {
    /// Parses `37s` and `21s (x26 over 6m35s)`; `<unknown>` is an open one.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if matches!(text, "<unknown>" | "<invalid>" | "unknown") {
            return Some(Self::default());
        }
        let Some((last, rest)) = text.split_once(" (x") else {
            let age = Age::parse(text)?;
            return Some(Self {
                last: Some(age),
                ..Self::default()
            });
        };
        let (count, first) = rest.strip_suffix(')')?.split_once(" over ")?;
        let known = |text: &str| Age::parse(text.trim());
        let last = match last.trim() {
            "<unknown>" | "<invalid>" => None,
            text => Some(known(text)?),
        };
        let first = match first.trim() {
            "<unknown>" | "<invalid>" => None,
            text => Some(known(text)?),
        };
        Some(Self {
            last,
            first,
            count: Some(count.trim().parse().ok()?),
            hidden: false,
        })
    }

    /// The age of the first occurrence.
    pub(super) fn earliest(&self) -> Option<Age> {
        let once = !self.hidden && self.count.is_none_or(|count| count < 2);
        self.first.or(self.last.filter(|_| once))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(text: &str) -> Option<(i64, i64)> {
        Age::parse(text).map(|age| (age.lo / SECOND, age.hi / SECOND))
    }

    #[test]
    fn an_age_is_as_exact_as_its_smallest_unit() {
        assert_eq!(seconds("37s"), Some((37, 38)));
        assert_eq!(seconds("119s"), Some((119, 120)));
        assert_eq!(seconds("4m58s"), Some((298, 299)));
        assert_eq!(seconds("12m"), Some((720, 780)));
        assert_eq!(seconds("3h5m"), Some((11_100, 11_160)));
        assert_eq!(seconds("9h"), Some((32_400, 36_000)));
        assert_eq!(seconds("2d5h"), Some((190_800, 194_400)));
        assert_eq!(seconds("2y12d"), Some((64_108_800, 64_195_200)));
        assert_eq!(seconds("0s"), Some((-2, 1)));
    }

    #[test]
    fn what_is_no_age_is_none() {
        for text in [
            "",
            "5",
            "m",
            "5m5",
            "5x",
            "s5",
            "-5s",
            "1.5s",
            "12:30",
            "5s3m",
            "99999999999999999999s",
            "999999999y",
        ] {
            assert_eq!(Age::parse(text), None, "{text}");
        }
    }

    #[test]
    fn repeats_have_a_first_and_a_last() {
        let span = Span::parse("2m12s (x42 over 12m)").unwrap();
        assert_eq!(span.count, Some(42));
        assert_eq!(span.last, Age::parse("2m12s"));
        assert_eq!(span.earliest(), Age::parse("12m"));
        let once = Span::parse("37s").unwrap();
        assert_eq!(once.earliest(), once.last);
        assert_eq!(Span::parse("<unknown>"), Some(Span::default()));
        for text in ["", "soon", "5m (x over 3m)", "5m (x3 over", "(x2 over 3m)"] {
            assert_eq!(Span::parse(text), None, "{text}");
        }
    }
}
