//! Curves below the lanes, as the page is written: for print, and where scripts do not run.

use maud::{Markup, html};

use super::super::cells;
use super::super::site::plot::number;
use super::Picture;
use super::draw::{NAMED, TITLE, n};
use super::scale::{GUTTER, Span, WIDTH, x};
use crate::answer::Curve;

/// The height of one curve, and the room above and below its line.
const HEIGHT: f64 = 62.0;
const ROOM: f64 = 9.0;

/// Points of one curve that are drawn: one in three pixels is all that can be told apart.
const POINTS: usize = 320;

/// The height of all of them.
pub(super) fn height(curves: &[Curve]) -> f64 {
    let many = u32::try_from(curves.len()).unwrap_or(0);
    if many == 0 {
        return 0.0;
    }
    TITLE + f64::from(many) * HEIGHT
}

/// All of them, from a height on.
pub(super) fn shown(curves: &[Curve], picture: &Picture, top: f64) -> Markup {
    html! {
        @if !curves.is_empty() { text.group x="6" y=(top + 20.0) { (super::MEASURED) } }
        @for (at, curve) in (0_u32..).zip(curves) {
            (one(curve, picture, top + TITLE + f64::from(at) * HEIGHT))
        }
    }
}

fn one(curve: &Curve, picture: &Picture, top: f64) -> Markup {
    let (above, below) = (top + ROOM, top + HEIGHT - ROOM);
    let points = within(curve, picture);
    // Numbers of bytes have units of their own.
    let unit = Some(curve.unit.as_str()).filter(|unit| !unit.is_empty() && *unit != "bytes");
    let of = Some(curve.of.as_str()).filter(|of| !of.is_empty());
    let words: Vec<&str> = of.into_iter().chain(unit).collect();
    let values = points.iter().filter_map(|(_, value)| *value);
    let range = range(curve, values.clone());
    let constant = constant(curve, values);
    let y = |value: f64| {
        let (least, most) = range.unwrap_or((0.0, 1.0));
        below - (value - least) / (most - least) * (below - above)
    };
    html! {
        g.lane {
            rect.track x=(GUTTER) y=(top + 3.0) width=(WIDTH - GUTTER) height=(HEIGHT - 6.0) {}
            text.name x="6" y=(top + HEIGHT / 2.0 - 2.0) { (curve.title) }
            text.note x="6" y=(top + HEIGHT / 2.0 + 11.0) { (cells::cut(&words.join(" · "), NAMED)) }
        }
        @match range {
            // Nothing was measured in the stretch that is shown.
            None => { text.note x=(GUTTER + 6.0) y=(top + HEIGHT / 2.0 + 4.0) { "nothing in this stretch of time" } }
            Some((least, most)) => {
                g clip-path="url(#plot)" {
                    path.series d=(line(&points, picture.window, &y)) {}
                    @if let Some(limit) = curve.limit {
                        line.limit x1=(GUTTER) x2=(WIDTH) y1=(n(y(limit))) y2=(n(y(limit))) { title { "limit: " (value(limit, &curve.unit)) } }
                    }
                    @for (at, _) in &picture.saves {
                        @let left = n(x(*at, picture.window));
                        path.save d={ "M" (left) " " (n(below - 2.0)) "l5 8h-10z" } {}
                    }
                }
                @match constant {
                    Some(only) => { text.note x=(GUTTER + 5.0) y=(n(y(only) - 5.0)) { (value(only, &curve.unit)) } }
                    None => {
                        @let (low, high) = pair(least, most, &curve.unit);
                        text.note x=(GUTTER + 5.0) y=(n(above + 4.0)) { (high) }
                        text.note x=(GUTTER + 5.0) y=(n(below + 2.0)) { (low) }
                    }
                }
            }
        }
    }
}

/// The points of the stretch that is shown, and one beyond each end, so that the line goes on.
fn within(curve: &Curve, picture: &Picture) -> Vec<(f64, Option<f64>)> {
    let all = curve.points.iter();
    let all: Vec<(f64, Option<f64>)> = all
        .map(|(at, value)| (picture.times.of_nanos(*at), *value))
        .collect();
    let first = all.partition_point(|(at, _)| *at < picture.window.from);
    let last = all.partition_point(|(at, _)| *at <= picture.window.to);
    let some = &all[first.saturating_sub(1)..(last + 1).min(all.len())];
    let every = some.len().div_ceil(POINTS).max(1);
    let end = some.len().saturating_sub(1);
    let kept = some.iter().enumerate();
    let kept = kept.filter(|(at, (_, value))| at % every == 0 || *at == end || value.is_none());
    kept.map(|(_, point)| *point).collect()
}

/// From the least to the most that is drawn; none where there is nothing.
fn range(curve: &Curve, values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let bounds = |all: (f64, f64), value: f64| (all.0.min(value), all.1.max(value));
    let found = values
        .map(|value| (value, value))
        .reduce(|all, one| bounds(all, one.0));
    let (mut least, mut most) = found?;
    if curve.from_zero {
        least = least.min(0.0);
    }
    most = curve.limit.map_or(most, |limit| most.max(limit));
    if most - least < 1e-12 {
        let room = least.abs() * 0.1 + 0.5;
        (least, most) = (least - room, most + room);
    }
    Some((least, most))
}

/// The one value of a curve that has no other, and that is drawn without a zero or a limit beside it.
fn constant(curve: &Curve, mut values: impl Iterator<Item = f64>) -> Option<f64> {
    let first = values.next()?;
    let is_alone = !curve.from_zero && curve.limit.is_none();
    let same = values.all(|value| (value - first).abs() < 1e-12);
    (is_alone && same).then_some(first)
}

/// Two values in as many digits as tell them apart.
fn pair(least: f64, most: f64, unit: &str) -> (String, String) {
    let few = (value(least, unit), value(most, unit));
    if few.0 != few.1 || unit == "bytes" {
        return few;
    }
    let more = (2..12).map(|digits| (format!("{least:.digits$}"), format!("{most:.digits$}")));
    more.into_iter()
        .find(|(low, high)| low != high)
        .unwrap_or(few)
}

fn line(points: &[(f64, Option<f64>)], window: Span, y: &dyn Fn(f64) -> f64) -> String {
    let mut path = String::new();
    let mut is_down = false;
    for (at, value) in points {
        let Some(value) = value else {
            is_down = false;
            continue;
        };
        let pen = if is_down { 'L' } else { 'M' };
        path.push_str(&format!("{pen}{} {}", n(x(*at, window)), n(y(*value))));
        is_down = true;
    }
    path
}

/// A value in few digits, bytes in their own units.
fn value(value: f64, unit: &str) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    if unit != "bytes" {
        return number(value);
    }
    let (mut left, mut at) = (value, 0);
    while left.abs() >= 1_024.0 && at + 1 < UNITS.len() {
        left /= 1_024.0;
        at += 1;
    }
    format!("{} {}", number(left), UNITS[at])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(points: &[(i64, Option<f64>)]) -> Curve {
        Curve {
            title: "Loss",
            unit: String::new(),
            of: "rank 0".to_owned(),
            points: points.to_vec(),
            limit: None,
            from_zero: false,
        }
    }

    #[test]
    fn a_line_breaks_where_nothing_was_measured() {
        let window = Span {
            from: 0.0,
            to: 950.0,
        };
        let points = [
            (0.0, Some(1.0)),
            (95.0, Some(2.0)),
            (190.0, None),
            (285.0, Some(0.0)),
        ];
        assert_eq!(
            line(&points, window, &|value| 10.0 - value),
            "M250 9L345 8M535 10"
        );
    }

    #[test]
    fn one_value_alone_and_a_limit_have_a_range() {
        let mut one = curve(&[]);
        assert_eq!(range(&one, [].into_iter()), None);
        assert_eq!(range(&one, [4.0].into_iter()), Some((3.1, 4.9)));
        one.from_zero = true;
        one.limit = Some(10.0);
        assert_eq!(range(&one, [4.0, 5.0].into_iter()), Some((0.0, 10.0)));
        assert_eq!(value(3.0 * 1_073_741_824.0, "bytes"), "3 GiB");
    }

    #[test]
    fn a_scale_has_as_many_digits_as_tell_its_ends_apart() {
        let labels = |least, most| pair(least, most, "");
        assert_eq!(labels(2.136, 2.138), ("2.136".into(), "2.138".into()));
        assert_eq!(labels(1.0, 2.0), ("1".into(), "2".into()));
        let mut one = curve(&[]);
        assert_eq!(constant(&one, [2.1, 2.1].into_iter()), Some(2.1));
        assert_eq!(constant(&one, [2.1, 2.2].into_iter()), None);
        one.from_zero = true;
        assert_eq!(constant(&one, [2.1].into_iter()), None);
    }
}
