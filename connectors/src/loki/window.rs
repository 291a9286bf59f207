//! Stretches of time that Loki can be asked about.

use super::client::MINUTE;
use crate::log_store::Span;
use crate::time::Nanos;

/// Windows are widened to this when it is asked what is there.
pub(super) const GRID: Nanos = 60 * MINUTE;

/// Within the times that Loki knows.
pub(super) fn sound(span: Span) -> Option<Span> {
    span.cut(Span {
        from: 0,
        to: Nanos::MAX - 2 * GRID,
    })
}

pub(super) fn down(at: Nanos, step: Nanos) -> Nanos {
    at.div_euclid(step) * step
}

pub(super) fn up(at: Nanos, step: Nanos) -> Nanos {
    down(at.saturating_add(step - 1), step)
}
