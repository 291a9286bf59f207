//! Which stretch of time the picture opens on.

use super::super::page::Page;
use super::marks::Mark;
use super::scale::{Span, Times};
use super::steps::Step;
use crate::answer::{Drawn, StepRole};

const MINUTE: f64 = 60_000.0;

/// All that is drawn, with a little room at both sides.
pub(super) fn whole(marks: &[Mark], steps: &[Step], drawn: &Drawn, times: Times) -> Span {
    let lives = drawn.lives.iter().flat_map(|life| &life.states);
    let lives = lives.flat_map(|(_, from, to)| [Some(*from), *to]);
    let curves = drawn.curves.iter().flat_map(|curve| &curve.points);
    let moments = lives.flatten().chain(curves.map(|(at, _)| *at));
    let moments = moments
        .map(|at| times.of_nanos(at))
        .map(|at| Span { from: at, to: at });
    let marks = marks.iter().map(|mark| mark.span);
    let steps = steps.iter().map(|step| Span {
        from: step.at,
        to: step.at,
    });
    let all = marks.chain(steps).chain(moments).reduce(Span::with);
    padded(all.unwrap_or(Span { from: 0.0, to: 0.0 }), 0.02)
}

/// The minutes around the root: from it to the outcome, where that is near.
pub(super) fn first(page: Page<'_>, times: Times, steps: &[Step], whole: Span) -> Span {
    let root = super::main_failure(page).and_then(|main| times.at(main.time.as_deref()?));
    let moment = root.or(steps
        .iter()
        .find(|step| !step.is_context)
        .map(|step| step.at));
    let Some(root) = moment else {
        // Nothing leads: all of it where that is short, else what is nearest to the present.
        const SHORT: f64 = 6.0 * 60.0 * MINUTE;
        if whole.length() <= SHORT {
            return whole;
        }
        return Span {
            from: whole.from.max(whole.to - 30.0 * MINUTE),
            to: whole.to,
        };
    };
    let mut span = Span {
        from: root,
        to: root,
    };
    let decisive = |step: &&Step| {
        matches!(
            step.role,
            StepRole::Cause | StepRole::Mechanism | StepRole::Death | StepRole::Stuck
        ) && !step.is_context
    };
    for step in steps.iter().filter(decisive) {
        span = span.with(Span {
            from: step.at,
            to: step.at,
        });
    }
    // What is told before and after belongs to it unless it makes all else small.
    let near = (span.length() * 3.0).max(10.0 * MINUTE);
    for step in steps {
        if step.at >= span.from - near && step.at <= span.to + near {
            span = span.with(Span {
                from: step.at,
                to: step.at,
            });
        }
    }
    padded(span, 0.25)
}

/// With room at both sides, a part of its length and at least half a minute.
fn padded(span: Span, part: f64) -> Span {
    let room = (span.length() * part).max(0.5 * MINUTE);
    Span {
        from: span.from - room,
        to: span.to + room,
    }
}
