//! The picture: lanes over time, what happened on each, and the chain across them.

mod bars;
mod curves;
mod draw;
mod group;
mod lanes;
mod legend;
mod marks;
mod model;
mod scale;
mod sources;
mod steps;
mod window;

use maud::{Markup, PreEscaped, html};

use super::super::wording;
use super::links::Links;
use super::page::Page;

pub(super) use self::group::Group;

use self::bars::Bar;
use self::lanes::{Lane, Lanes};
use self::marks::Mark;
use self::scale::{Span, Times};
use self::steps::Step;

/// What stands above the curves, here as in the script.
const MEASURED: &str = "Measurements";

/// Everything that is drawn, with times in milliseconds from the root.
pub(super) struct Picture {
    times: Times,
    lanes: Vec<Lane>,
    bars: Vec<Bar>,
    marks: Vec<Mark>,
    /// Marks within folded lanes, for those that are opened.
    inner: Vec<Mark>,
    steps: Vec<Step>,
    /// The stretch that is shown at first, and all there is.
    window: Span,
    whole: Span,
    /// The root's own place in time.
    root: Option<Span>,
    /// When checkpoints were saved, with the rows that tell of it.
    saves: Vec<(f64, usize)>,
}

impl Picture {
    pub(super) fn of(page: Page<'_>) -> Self {
        let times = Times::of(page);
        let lanes = Lanes::of(page);
        let marks = marks::of(page, times, &lanes);
        let steps = steps::of(page, times, &lanes);
        let whole = window::whole(&marks, &steps, &page.answer.drawn, times);
        let window = window::first(page, times, &steps, whole);
        let inner = marks::inner(&marks);
        let marks = marks::folded(marks, window, &lanes);
        let bars = bars::of(page, times, &lanes, whole);
        let root = main_failure(page).and_then(|main| {
            let from = times.at(main.time.as_deref()?)?;
            let to = main.time_hi.as_deref().and_then(|time| times.at(time));
            Some(Span {
                from,
                to: to.unwrap_or(from),
            })
        });
        let steps = steps::apart(steps, window);
        Self {
            times,
            lanes: lanes.all,
            bars,
            marks,
            inner,
            steps,
            window,
            whole,
            root,
            saves: marks::saves(page, times),
        }
    }
}

/// What the picture opens around: a run that is well has an incident that says so, and no root.
fn main_failure<'a>(page: Page<'a>) -> Option<&'a crate::answer::Incident> {
    page.main.filter(|main| !wording::is_calm(main))
}

/// The picture with its legend and, for the script, its controls.
pub(super) fn show(picture: &Picture, page: Page<'_>) -> Markup {
    let is_empty = picture.marks.is_empty() && picture.steps.is_empty();
    if is_empty && page.answer.drawn.lives.is_empty() {
        return html! {};
    }
    // Where there is a service, it runs statements and tells the record behind a row.
    let is_site = page.links == Links::Site;
    let (sql, records) = (is_site.then_some(""), is_site.then_some("/record/"));
    html! {
        (controls(picture, page))
        figure.timeline {
            div.scroll.picture #canvas tabindex="0" role="group"
                aria-label="Picture of the timeline. Left and right move, plus and minus zoom, 0 resets, a shows all; n and p go from record to record, Enter shows one. Up and down go from line to line and show its state or value, full stop and comma go to where it changes next." {
                (draw::svg(picture, page))
            }
            figcaption {
                (caption(picture, page))
                (legend::show(picture, !picture.saves.is_empty() && !page.answer.drawn.curves.is_empty()))
                (help())
            }
        }
        script #model type="application/json" { (PreEscaped(model::json(picture, page))) }
        div #picked data-sql=[sql] data-records=[records] role="region" aria-label="The record that was chosen" {}
    }
}

fn caption(picture: &Picture, page: Page<'_>) -> Markup {
    let before = picture
        .marks
        .iter()
        .filter(|mark| mark.span.to < picture.window.from);
    let after = picture
        .marks
        .iter()
        .filter(|mark| mark.span.from > picture.window.to);
    let (before, after) = (before.count(), after.count());
    let rows = page.answer.timeline.len();
    let left_out = rows.saturating_sub(page.room.rows);
    html! {
        p.dim {
            (opens_on(picture, page))
            @if before + after > 0 {
                " Outside it: "
                @if before > 0 { (wording::count(before, "mark")) " earlier" }
                @if before > 0 && after > 0 { ", " }
                @if after > 0 { (wording::count(after, "mark")) " later" }
                "."
            }
            // Where nothing is drawn, something may have happened.
            @if left_out > 0 {
                " Of " (wording::count(rows, "row")) " of the timeline those farthest from the chain are not drawn: "
                (wording::grouped(left_out as u64)) "."
            }
            span #without-records hidden {}
        }
    }
}

/// Which stretch of time the picture opens on, and why.
fn opens_on(picture: &Picture, page: Page<'_>) -> &'static str {
    let is_whole = picture.window == picture.whole;
    match (picture.root, main_failure(page)) {
        (Some(_), Some(main)) if main.cause == "unknown" => {
            "The picture opens around what went wrong first, the dashed line."
        }
        (Some(_), _) => "The picture opens around the root cause, the dashed line.",
        (None, _) if is_whole => "The picture shows all that is known.",
        (None, _) => "The picture opens on the last minutes.",
    }
}

/// How to move in the picture, for whoever has a mouse, a finger or a keyboard.
fn help() -> Markup {
    html! {
        details.help.needs-script hidden {
            summary { "How to move in the picture" }
            dl {
                div { dt { "Mouse" } dd { "drag to move, Shift and drag to choose a stretch, Ctrl and the wheel to zoom; a click shows the record" } }
                div { dt { "Touch" } dd { "drag to move, two fingers to zoom; a tap shows the record" } }
                div { dt { "Keyboard" } dd { "← → move, + − zoom, 0 and a go back and show all; n and p go to the next and previous record, Enter shows it; ↑ ↓ show what each line stands for, . and , go to where it changes; / searches" } }
            }
        }
    }
}

fn controls(picture: &Picture, page: Page<'_>) -> Markup {
    let mut groups: Vec<Group> = picture.lanes.iter().map(|lane| lane.group).collect();
    groups.retain(|group| *group != Group::Coverage);
    groups.dedup();
    let zone = match &page.answer.now {
        Some(now) => page.clock.zone(now),
        None => "UTC".to_owned(),
    };
    let sources = sources(page);
    html! {
        form.controls #controls hidden {
            span.buttons {
                button type="button" data-do="in" aria-label="Zoom in" { "+" }
                button type="button" data-do="out" aria-label="Zoom out" { "−" }
                button type="button" data-do="left" aria-label="Earlier" { "←" }
                button type="button" data-do="right" aria-label="Later" { "→" }
                button type="button" data-do="reset" { @if picture.root.is_some() { "Root" } @else { "Reset" } }
                button type="button" data-do="all" { "All" }
                button type="button" data-do="previous" aria-label="Previous record" { "‹" }
                button type="button" data-do="next" aria-label="Next record" { "›" }
            }
            label { "Find " input #find type="search" autocomplete="off" placeholder="text, pod, node"; }
            label { "Lanes "
                select #lane {
                    option value="" { "all" }
                    @for group in &groups { option value=(group.key()) { (group.title()) } }
                }
            }
            @if sources.len() > 1 {
                label { "Source "
                    select #source {
                        option value="" { "all" }
                        @for source in &sources { option value=(source) { (source.replace('_', " ")) } }
                    }
                }
            }
            label { "Show "
                select #weight {
                    option value="" { "everything" }
                    option value="warning" { "warnings and errors" }
                    option value="error" { "errors" }
                }
            }
            label { "Times "
                select #zone {
                    option value="" { (zone) }
                    @if zone != "UTC" { option value="utc" { "UTC" } }
                    option value="local" { "my local time" }
                    @if picture.root.is_some() { option value="root" { "from the root cause" } }
                }
            }
            output #found {}
        }
    }
}

/// Who saw what is shown, for the filter; only names that are words.
fn sources(page: Page<'_>) -> Vec<String> {
    let is_word = |name: &&String| name.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_');
    let seen = page.answer.timeline.iter().flat_map(|row| &row.seen_by);
    let seen: std::collections::BTreeSet<&String> = seen.filter(is_word).collect();
    seen.into_iter().take(24).cloned().collect()
}
