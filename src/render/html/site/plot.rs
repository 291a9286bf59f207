//! Plots as SVG: values over time, and bars.

use maud::{Markup, html};

use super::super::super::clock::Clock;
use super::super::super::style::Tz;
use super::super::super::text::{clip, escape};

const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 240.0;
/// Room for the numbers on the left and the times below.
const LEFT: f64 = 64.0;
const BELOW: f64 = 26.0;
const ABOVE: f64 = 10.0;
/// So many bars need no more than half of the width.
const FEW: usize = 5;
/// Characters of the longest label that has room below an upright bar.
const UPRIGHT: usize = 10;

/// Values of one name over time, in milliseconds since 1970.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Series {
    pub(super) name: String,
    pub(super) points: Vec<(f64, f64)>,
}

/// Lines over time; nothing where there are fewer than two moments.
pub(super) fn lines(series: &[Series]) -> Markup {
    let all = || series.iter().flat_map(|one| &one.points);
    let (from, to) = bounds(all().map(|(at, _)| *at));
    let (least, most) = bounds(all().map(|(_, value)| *value));
    if to <= from || !least.is_finite() {
        return html! {};
    }
    let (least, most) = (
        least.min(0.0),
        if most > least.min(0.0) {
            most
        } else {
            least + 1.0
        },
    );
    let x = |at: f64| LEFT + (at - from) / (to - from) * (WIDTH - LEFT - 8.0);
    let y = |value: f64| ABOVE + (most - value) / (most - least) * (HEIGHT - ABOVE - BELOW);
    html! {
        figure.plot {
            div.scroll tabindex="0" role="group" aria-label={ "Plot of " (names(series)) } {
                svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img" aria-label={ "Plot of " (names(series)) " over time" } {
                    @for value in ticks(least, most) {
                        line.grid x1=(LEFT) x2=(WIDTH - 8.0) y1=(n(y(value))) y2=(n(y(value))) {}
                        text x=(LEFT - 8.0) y=(n(y(value) + 4.0)) text-anchor="end" { (number(value)) }
                    }
                    @for part in 0..=4_u8 {
                        @let at = from + (to - from) * f64::from(part) / 4.0;
                        text x=(n(x(at))) y=(HEIGHT - 8.0) text-anchor=(anchor(part)) { (moment(at, to - from)) }
                    }
                    @for (at, one) in series.iter().enumerate() {
                        polyline class={ "series s" (at % 5) } points=(points(&one.points, &x, &y)) {}
                        @if one.points.len() <= 60 {
                            @for (moment, value) in &one.points {
                                circle class={ "series s" (at % 5) } cx=(n(x(*moment))) cy=(n(y(*value))) r="3" {}
                            }
                        }
                    }
                }
            }
            @if series.len() > 1 {
                ul.legend { @for (at, one) in series.iter().enumerate() {
                    li { svg width="18" height="10" aria-hidden="true" { line class={ "series s" (at % 5) } x1="0" x2="18" y1="5" y2="5" {} } " " (escape(&one.name)) }
                } }
            }
        }
    }
}

/// Bars, one a label, in the order given: upright, or lying where the labels are long.
pub(super) fn columns(bars: &[(String, f64)], label: &str) -> Markup {
    let most = bars.iter().map(|(_, value)| *value).fold(0.0, f64::max);
    if bars.len() < 2 || most <= 0.0 {
        return html! {};
    }
    let longest = bars.iter().map(|(name, _)| name.chars().count()).max();
    if longest > Some(UPRIGHT) {
        return lying(bars, most, label);
    }
    let is_few = bars.len() <= FEW;
    let width = if is_few { WIDTH / 2.0 } else { WIDTH };
    let wide = (width - LEFT - 8.0) / f64::from(u32::try_from(bars.len()).unwrap_or(u32::MAX));
    let y = |value: f64| ABOVE + (most - value) / most * (HEIGHT - ABOVE - BELOW);
    let every = bars.len().div_ceil(12);
    html! {
        figure.plot {
            div.scroll.few[is_few] tabindex="0" role="group" aria-label=(label) {
                svg viewBox={ "0 0 " (width) " " (HEIGHT) } role="img" aria-label={ (label) ", as a plot" } {
                    @for value in ticks(0.0, most) {
                        line.grid x1=(LEFT) x2=(width - 8.0) y1=(n(y(value))) y2=(n(y(value))) {}
                        text x=(LEFT - 8.0) y=(n(y(value) + 4.0)) text-anchor="end" { (number(value)) }
                    }
                    @for (at, (name, value)) in bars.iter().enumerate() {
                        @let left = LEFT + wide * f64::from(u32::try_from(at).unwrap_or(u32::MAX));
                        rect.column x=(n(left + wide * 0.12)) width=(n(wide * 0.76)) y=(n(y(*value)))
                            height=(n(y(0.0) - y(*value))) rx="2" { title { (escape(name)) ": " (number(*value)) } }
                        @if at % every == 0 {
                            text x=(n(left + wide / 2.0)) y=(HEIGHT - 8.0) text-anchor="middle" { (escape(&clip(name, 12))) }
                        }
                    }
                }
            }
        }
    }
}

/// Bars from left to right, each beside its whole name.
fn lying(bars: &[(String, f64)], most: f64, label: &str) -> Markup {
    html! {
        figure.plot {
            div.lying role="group" aria-label=(escape(label)) { @for (name, value) in bars {
                div {
                    span.name { bdi { (escape(&clip(name, 80))) } }
                    (bar(*value, most))
                    span.number { (number(*value)) }
                }
            } }
        }
    }
}

/// A bar as long as its part of the largest one, for a cell of a table.
pub(super) fn bar(value: f64, most: f64) -> Markup {
    let part = if most > 0.0 {
        (value / most * 100.0).clamp(0.0, 100.0)
    } else {
        0.0
    };
    html! {
        svg.meter viewBox="0 0 100 8" preserveAspectRatio="none" width="100%" height="8" aria-hidden="true" focusable="false" {
            rect width=(n(part)) height="8" {}
        }
    }
}

fn names(series: &[Series]) -> String {
    let names: Vec<String> = series
        .iter()
        .map(|one| clip(&one.name, 40).into_owned())
        .collect();
    escape(&names.join(", ")).into_owned()
}

fn points(points: &[(f64, f64)], x: &dyn Fn(f64) -> f64, y: &dyn Fn(f64) -> f64) -> String {
    let shown = points
        .iter()
        .map(|(at, value)| format!("{},{}", n(x(*at)), n(y(*value))));
    shown.collect::<Vec<_>>().join(" ")
}

fn anchor(part: u8) -> &'static str {
    match part {
        0 => "start",
        4 => "end",
        _ => "middle",
    }
}

fn bounds(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.filter(|value| value.is_finite()).fold(
        (f64::INFINITY, f64::NEG_INFINITY),
        |(least, most), value| (least.min(value), most.max(value)),
    )
}

/// Some round values of a range.
fn ticks(least: f64, most: f64) -> Vec<f64> {
    let rough = (most - least) / 4.0;
    let unit = 10_f64.powf(rough.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0];
    let step = steps
        .iter()
        .map(|step| step * unit)
        .find(|step| *step >= rough);
    let step = step.unwrap_or(rough);
    let first = (least / step).ceil();
    let mut found = Vec::new();
    for at in 0..8_u8 {
        let value = (first + f64::from(at)) * step;
        if value > most + step * 1e-9 {
            break;
        }
        found.push(value);
    }
    found
}

/// A value in few digits.
pub(in crate::render::html) fn number(value: f64) -> String {
    let text = match value.abs() {
        big if big >= 1e9 => format!("{:.1}G", value / 1e9),
        big if big >= 1e6 => format!("{:.1}M", value / 1e6),
        big if big >= 1e4 => format!("{:.1}k", value / 1e3),
        big if big >= 100.0 => format!("{value:.0}"),
        big if big >= 1.0 || big == 0.0 => format!("{value:.1}"),
        // What is small is small, and not nothing.
        small if small >= 1e-3 => return short(&format!("{value:.3}")),
        _ => {
            let text = format!("{value:.1e}");
            return text.replace(".0e", "e");
        }
    };
    text.replace(".0k", "k")
        .replace(".0M", "M")
        .trim_end_matches(".0")
        .to_owned()
}

/// Without the zeros that say nothing.
fn short(text: &str) -> String {
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A moment as short as the stretch of time allows.
fn moment(at: f64, length: f64) -> String {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a time that was a whole number of milliseconds"
    )]
    let time = chrono::DateTime::from_timestamp_millis(at as i64);
    let Some(time) = time.map(|time| time.to_rfc3339()) else {
        return String::new();
    };
    let clock = Clock(Tz::Utc);
    if length > 2.0 * 86_400e3 {
        clock.short_day(&time)
    } else {
        clock.time(&time)
    }
}

fn n(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

#[cfg(test)]
mod plot_tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(ticks(0.0, 10.0), [0.0, 5.0, 10.0]);
        assert_eq!(ticks(0.0, 0.7), [0.0, 0.2, 0.4, 0.6000000000000001]);
        assert!(ticks(0.0, 1e12).len() < 8);
        assert_eq!(
            (number(0.0), number(12_345.0), number(3.25)),
            ("0".to_owned(), "12.3k".to_owned(), "3.2".to_owned())
        );
    }

    #[test]
    fn small_values_are_not_nothing() {
        let labels = [0.5, 0.0421, 0.0004, -0.000_025, 1e-9].map(number);
        assert_eq!(labels, ["0.5", "0.042", "4e-4", "-2.5e-5", "1e-9"]);
        let losses = Series {
            name: "loss".to_owned(),
            points: vec![(0.0, 4e-4), (1e6, 1e-4)],
        };
        let text = lines(&[losses]).into_string();
        assert!(text.contains(">2e-4<") && !text.contains(">0.0<"), "{text}");
    }

    #[test]
    fn a_hostile_name_is_text() {
        let series = [
            Series {
                name: "<script>\u{202e}".to_owned(),
                points: vec![(0.0, 1.0), (1e6, 2.0)],
            },
            Series {
                name: "b".to_owned(),
                points: vec![(0.0, 1.0), (1e6, f64::NAN)],
            },
        ];
        let text = lines(&series).into_string();
        assert!(
            !text.contains("<script") && !text.contains('\u{202e}'),
            "{text}"
        );
        let text = columns(&[("<b>".to_owned(), 1.0), ("c".to_owned(), 2.0)], "x").into_string();
        assert!(!text.contains("<b>"), "{text}");
    }

    #[test]
    fn few_bars_are_no_wider_than_a_telephone() {
        let days = |many: u8| (0..many).map(|day| (format!("2026-11-{day:02}"), 1.0));
        let text = |many| columns(&days(many).collect::<Vec<_>>(), "by day").into_string();
        assert!(text(3).contains("scroll few") && text(3).contains("0 0 450 240"));
        assert!(!text(9).contains("few") && text(9).contains("0 0 900 240"));
    }

    #[test]
    fn long_names_are_whole() {
        let bars = [("node.not_ready".to_owned(), 4.0), ("x".to_owned(), 2.0)];
        let text = columns(&bars, "n by cause").into_string();
        assert!(
            text.contains("node.not_ready") && text.contains("lying"),
            "{text}"
        );
    }
}
