//! Times as distances from the root, and as places in the picture.

use super::super::super::clock::instant;
use super::super::page::Page;

/// A stretch of time in milliseconds from the origin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Span {
    pub(super) from: f64,
    pub(super) to: f64,
}

impl Span {
    pub(super) fn length(self) -> f64 {
        self.to - self.from
    }

    pub(super) fn middle(self) -> f64 {
        f64::midpoint(self.from, self.to)
    }

    pub(super) fn with(self, other: Self) -> Self {
        Self {
            from: self.from.min(other.from),
            to: self.to.max(other.to),
        }
    }

    /// The part of it that is in another, if there is one.
    pub(super) fn within(self, other: Self) -> Option<Self> {
        let part = Self {
            from: self.from.max(other.from),
            to: self.to.min(other.to),
        };
        (part.to > part.from).then_some(part)
    }

    /// What is left of it beside another: before and after.
    pub(super) fn without(self, other: Self) -> Vec<Self> {
        let before = Self {
            to: self.to.min(other.from),
            ..self
        };
        let after = Self {
            from: self.from.max(other.to),
            ..self
        };
        let parts = [before, after].into_iter();
        parts.filter(|part| part.to > part.from).collect()
    }
}

/// Reads times as milliseconds from one origin, which keeps their decimals.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    /// Milliseconds since 1970.
    pub(super) origin: i64,
}

impl Times {
    /// From the root, else from the last row.
    pub(super) fn of(page: Page<'_>) -> Self {
        let root = page.main.and_then(|main| main.time.as_deref());
        let chain = page
            .main
            .and_then(|main| main.chain.iter().find_map(|link| link.time.as_deref()));
        let last = page.answer.timeline.last().map(|row| row.time.as_str());
        let found = [root, chain, last].into_iter().flatten().find_map(instant);
        Self {
            origin: found.map_or(0, |at| at.timestamp_millis()),
        }
    }

    pub(super) fn at(self, time: &str) -> Option<f64> {
        let at = instant(time)?;
        let whole = (at.timestamp_millis() - self.origin) as f64;
        Some(whole + f64::from(at.timestamp_subsec_nanos() % 1_000_000) / 1e6)
    }

    /// The place of nanoseconds since 1970.
    pub(super) fn of_nanos(self, at: i64) -> f64 {
        let whole = at.div_euclid(1_000_000).saturating_sub(self.origin) as f64;
        whole + at.rem_euclid(1_000_000) as f64 / 1e6
    }

    pub(super) fn span(self, from: &str, to: &str) -> Option<Span> {
        let from = self.at(from)?;
        let to = self.at(to).unwrap_or(from).max(from);
        Some(Span { from, to })
    }

    /// The time of a place, for labels of the axis.
    pub(super) fn text(self, at: f64) -> Option<String> {
        #[expect(clippy::cast_possible_truncation, reason = "the cast saturates")]
        let millis = self.origin.checked_add(at as i64)?;
        Some(chrono::DateTime::from_timestamp_millis(millis)?.to_rfc3339())
    }
}

/// The width of the picture as it is written; the script fits its own to the window.
pub(super) const WIDTH: f64 = 1_200.0;

/// The part on the left in which lanes are named.
pub(super) const GUTTER: f64 = 250.0;

/// Places on the axis from the left.
pub(super) fn x(at: f64, window: Span) -> f64 {
    let x = (at - window.from) / window.length().max(1.0) * (WIDTH - GUTTER);
    GUTTER + x.clamp(-20_000.0, 20_000.0)
}

/// Steps between two marks of the axis, in milliseconds.
const STEPS: [f64; 28] = [
    1.0,
    5.0,
    10.0,
    50.0,
    100.0,
    500.0,
    1e3,
    2e3,
    5e3,
    10e3,
    15e3,
    30e3,
    60e3,
    120e3,
    300e3,
    600e3,
    900e3,
    1_800e3,
    3_600e3,
    7_200e3,
    10_800e3,
    21_600e3,
    43_200e3,
    86_400e3,
    172_800e3,
    604_800e3,
    2_592_000e3,
    31_536_000e3,
];

/// The marks of the axis: the step, and where each is. `origin` puts them on full units.
pub(super) fn ticks(window: Span, origin: i64) -> (f64, Vec<f64>) {
    const APART: f64 = 110.0;
    let most = (WIDTH - GUTTER) / APART;
    let step = STEPS
        .into_iter()
        .find(|step| window.length() / step <= most);
    let step = step.unwrap_or(window.length() / most);
    let shift = (origin as f64) % step;
    let mut at = ((window.from + shift) / step).ceil() * step - shift;
    let mut places = Vec::new();
    while at <= window.to && places.len() < 40 {
        places.push(at);
        at += step;
    }
    (step, places)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_axis_is_marked_at_full_units() {
        let window = Span {
            from: -62_500.0,
            to: 62_500.0,
        };
        let (step, places) = ticks(window, 1_000_500);
        assert_eq!(step, 15_000.0);
        assert_eq!(places.len(), 8);
        assert!(places.iter().all(|at| (at + 1_000_500.0) % step == 0.0));
        assert_eq!(x(0.0, window), f64::midpoint(GUTTER, WIDTH));
    }
}
