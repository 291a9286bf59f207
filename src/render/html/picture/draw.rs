//! The picture as SVG: complete as it is written, for print and where scripts do not run.

use maud::{Markup, html};

use super::super::super::clock::duration;
use super::super::cells;
use super::super::page::Page;
use super::bars::Bar;
use super::lanes::Lane;
use super::marks::Mark;
use super::scale::{GUTTER, WIDTH, ticks, x};
use super::steps::Step;
use super::{Group, Picture, curves};

/// Heights of the axis, of a kind's title, and of a lane.
const AXIS: f64 = 26.0;
pub(super) const TITLE: f64 = 28.0;
const LANE: f64 = 34.0;
/// A step's radius.
const RADIUS: f64 = 9.0;
/// Characters of a lane's name that have room.
pub(super) const NAMED: usize = 38;

/// Where each lane begins, the titles between them, and the height of all.
struct Layout {
    tops: Vec<f64>,
    titles: Vec<(f64, Group)>,
    height: f64,
}

impl Layout {
    fn of(lanes: &[Lane]) -> Self {
        let (mut at, mut last) = (AXIS, None);
        let mut layout = Self {
            tops: Vec::new(),
            titles: Vec::new(),
            height: 0.0,
        };
        for lane in lanes {
            if last != Some(lane.group) {
                layout.titles.push((at, lane.group));
                at += TITLE;
                last = Some(lane.group);
            }
            layout.tops.push(at);
            at += LANE;
        }
        layout.height = at + 6.0;
        layout
    }

    /// The middle of a lane's track.
    fn middle(&self, lane: usize) -> f64 {
        self.tops.get(lane).copied().unwrap_or(AXIS) + LANE / 2.0
    }
}

pub(super) fn svg(picture: &Picture, page: Page<'_>) -> Markup {
    let mut layout = Layout::of(&picture.lanes);
    let lanes = layout.height;
    let curves = &page.answer.drawn.curves;
    layout.height += curves::height(curves);
    let bars = picture.bars.iter().filter(|bar| bar.member.is_none());
    html! {
        svg #drawing viewBox={ "0 0 " (WIDTH) " " (layout.height) } width=(WIDTH) height=(layout.height)
            role="group" aria-labelledby="drawing-title drawing-desc" {
            title #drawing-title { "What happened when" }
            desc #drawing-desc { (describe(picture)) }
            defs {
                pattern #hatch width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)" {
                    rect.hatch-ground width="7" height="7" {}
                    line.hatch-line x1="0" y1="0" x2="0" y2="7" {}
                }
                marker #tip viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse" {
                    path.tip d="M0 0L8 4L0 8z" {}
                }
                clipPath #plot { rect x=(GUTTER) y="0" width=(WIDTH - GUTTER) height=(layout.height) {} }
            }
            (axis(picture, page, layout.height))
            (grounds(picture, &layout))
            g clip-path="url(#plot)" {
                @for bar in bars { (shown_bar(bar, picture, &layout)) }
                (root(picture, layout.height))
                @for mark in &picture.marks { (shown_mark(mark, picture, &layout)) }
                (arrows(picture, &layout))
                @for step in &picture.steps { (shown_step(step, picture, &layout)) }
            }
            (curves::shown(curves, picture, lanes))
        }
    }
}

/// What the picture shows, for those who do not see it.
fn describe(picture: &Picture) -> String {
    let mut text = format!(
        "{} lanes over {}, {} marks.",
        picture.lanes.len(),
        duration(picture.window.length() / 1e3).replace('\u{a0}', " "),
        picture.marks.len()
    );
    for step in &picture.steps {
        let lane = picture
            .lanes
            .get(step.lane)
            .map_or("", |lane| lane.label.as_str());
        text.push_str(&format!(
            " Step {} on {lane}: {}.",
            step.number,
            step.text.trim_end_matches('.')
        ));
    }
    text
}

fn axis(picture: &Picture, page: Page<'_>, height: f64) -> Markup {
    let (step, places) = ticks(picture.window, picture.times.origin);
    let days = step >= 43_200e3;
    html! {
        g #axis aria-hidden="true" {
            @for at in places {
                @let left = n(x(at, picture.window));
                line.grid x1=(left) x2=(left) y1=(AXIS - 6.0) y2=(height) {}
                @if let Some(time) = picture.times.text(at) {
                    text x=(left) y="14" text-anchor="middle" {
                        @if days { (page.clock.short_day(&time)) } @else { (page.clock.time(&time)) }
                    }
                }
            }
        }
    }
}

fn grounds(picture: &Picture, layout: &Layout) -> Markup {
    html! {
        @for (top, group) in &layout.titles {
            text.group x="6" y=(top + 20.0) { (group.title()) }
        }
        @for (lane, top) in picture.lanes.iter().zip(&layout.tops) {
            @let middle = top + LANE / 2.0;
            g.lane {
                rect.track x=(GUTTER) y=(middle - 8.0) width=(WIDTH - GUTTER) height="16" {}
                @if lane.note.is_empty() {
                    text.name x="6" y=(middle + 4.0) { (cells::cut(&lane.label, NAMED)) }
                } @else {
                    text.name x="6" y=(middle - 2.0) { (cells::cut(&lane.label, NAMED)) }
                    text.note x="6" y=(middle + 11.0) { (cells::cut(&lane.note, NAMED)) }
                }
            }
        }
    }
}

fn shown_bar(bar: &Bar, picture: &Picture, layout: &Layout) -> Markup {
    let is_hatched = bar.class == "unseen";
    let (from, to) = (
        x(bar.span.from, picture.window),
        x(bar.span.to, picture.window),
    );
    html! {
        rect class={ "bar " (bar.class) } x=(n(from)) width=(n((to - from).max(1.0)))
            y=(layout.middle(bar.lane) - 8.0) height="16" fill=[is_hatched.then_some("url(#hatch)")] {
            title { (bar.text) }
        }
    }
}

fn root(picture: &Picture, height: f64) -> Markup {
    let Some(root) = picture.root else {
        return html! {};
    };
    let left = n(x(root.from, picture.window));
    html! {
        g #root transform={ "translate(" (left) " 0)" } {
            line x1="0" x2="0" y1=(AXIS - 8.0) y2=(height) {}
        }
    }
}

fn shown_mark(mark: &Mark, picture: &Picture, layout: &Layout) -> Markup {
    let left = n(x(mark.span.middle(), picture.window));
    let place = format!("translate({left} {})", layout.middle(mark.lane));
    let size = if mark.in_chain || mark.count > 1 {
        11.0
    } else {
        8.0
    };
    let wide = mark.span.length() / picture.window.length().max(1.0) * (WIDTH - GUTTER);
    let width = wide.clamp(size, 2.0 * WIDTH);
    let is_wide = wide > 14.0;
    let shape = html! {
        title { (mark.text) }
        rect x=(n(-width / 2.0)) width=(n(width)) y=(-size / 2.0) height=(size) rx=(size / 2.0) {}
        @if mark.class == "death" { path d="M-5 -5L5 5M5 -5L-5 5" {} }
    };
    let class = format!(
        "mark {}{}{}",
        mark.class,
        if is_wide { " wide" } else { "" },
        if mark.in_chain { " linked" } else { "" }
    );
    html! {
        @match mark.row {
            Some(row) => {
                a class=(class) href={ "#r" (row) } tabindex=[(!mark.in_chain).then_some("-1")] transform=(place) { (shape) }
            }
            None => { g class=(class) transform=(place) { (shape) } }
        }
    }
}

/// From each step to the next; what decides nothing is drawn fainter.
fn arrows(picture: &Picture, layout: &Layout) -> Markup {
    let drawn = |pair: &[Step]| {
        let [before, after] = pair else {
            return None;
        };
        let place = |step: &Step| {
            (
                x(step.at, picture.window) + step.aside,
                layout.middle(step.lane),
            )
        };
        let ((x1, y1), (x2, y2)) = (place(before), place(after));
        let faint = before.is_context || after.is_context;
        Some(html! {
            path class=(if faint { "arrow faint" } else { "arrow" }) marker-end="url(#tip)" d=(path(x1, y1, x2, y2)) {}
        })
    };
    html! {
        g #arrows aria-hidden="true" { @for arrow in picture.steps.windows(2).filter_map(drawn) { (arrow) } }
    }
}

/// A line between two steps.
fn path(x1: f64, y1: f64, x2: f64, y2: f64) -> String {
    if (y1 - y2).abs() < 1.0 {
        if (x2 - x1).abs() < 2.0 * RADIUS + 8.0 {
            return String::new();
        }
        let way = (x2 - x1).signum();
        return format!(
            "M{} {}L{} {}",
            n(x1 + way * RADIUS),
            n(y1),
            n(x2 - way * (RADIUS + 2.0)),
            n(y2)
        );
    }
    let way = (y2 - y1).signum();
    let (from, to) = (y1 + way * RADIUS, y2 - way * (RADIUS + 2.0));
    let bend = (to - from) * 0.5;
    format!(
        "M{} {}C{} {} {} {} {} {}",
        n(x1),
        n(from),
        n(x1),
        n(from + bend),
        n(x2),
        n(to - bend),
        n(x2),
        n(to)
    )
}

fn shown_step(step: &Step, picture: &Picture, layout: &Layout) -> Markup {
    let left = n(x(step.at, picture.window) + step.aside);
    html! {
        a class={ "step " (step.role) } href={ "#step-" (step.number) }
            transform={ "translate(" (left) " " (layout.middle(step.lane)) ")" }
            aria-label={ "Step " (step.number) ": " (step.text) } {
            title { (step.number) ". " (step.text) }
            circle r=(RADIUS) {}
            text y="4" text-anchor="middle" { (step.number) }
        }
    }
}

/// A number in few digits: thousandths are nanoseconds of nobody's interest.
pub(super) fn n(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}
