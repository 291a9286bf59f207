//! The page around everything.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::answer::{Answer, Level};

use super::super::clock::Clock;
use super::super::facts;
use super::super::style::Style;
use super::super::table::main_incident;
use super::super::text::escape;
use super::links::Links;
use super::picture::Picture;
use super::policy::{SCRIPT, STYLE, policy};
use super::room::Room;
use super::{beside, cells, chain, coverage, evidence, list, records, verdict};

/// What every part of the page is made from.
#[derive(Clone, Copy)]
pub(super) struct Page<'a> {
    pub(super) answer: &'a Answer,
    pub(super) main: Option<&'a crate::answer::Incident>,
    pub(super) clock: Clock,
    pub(super) room: Room,
    pub(super) links: Links,
}

impl<'a> Page<'a> {
    /// An answer in one file.
    fn in_file(answer: &'a Answer, style: &Style, room: Room) -> Self {
        Self {
            answer,
            main: leading(answer),
            clock: Clock(style.tz),
            room,
            links: Links::Nowhere,
        }
    }
}

/// What stands where a page ends and its script begins. No text from outside has an element in it.
pub(super) const BEFORE_SCRIPT: &str = "<i id=\"end\" hidden></i>";

/// The records behind the rows of such a page, in so many bytes.
pub(super) fn records(answer: &Answer, style: &Style, room: Room, bytes: usize) -> String {
    records::script(Page::in_file(answer, style, room), bytes)
}

/// The whole page in one file.
pub(super) fn whole(answer: &Answer, style: &Style, room: Room) -> String {
    let shown = Page::in_file(answer, style, room);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            (head(&title(shown), true))
            body {
                (body(shown, &[]))
                (PreEscaped(BEFORE_SCRIPT))
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string()
}

/// The incident that leads the answer about one name.
pub(super) fn leading(answer: &Answer) -> Option<&crate::answer::Incident> {
    main_incident(answer).filter(|_| answer.experiment.is_some())
}

/// A part of the page: its name, its heading, and what it holds.
pub(super) type Part = (&'static str, &'static str, Markup);

/// Everything about one answer, with parts of the page's own before the coverage.
pub(super) fn body(page: Page<'_>, own: &[Part]) -> Markup {
    let picture = Picture::of(page);
    let mut parts: Vec<Part> = vec![
        ("why", "Why", chain::why(page)),
        ("advice", "What to do", beside::advice(page)),
        (
            "picture",
            "What happened when",
            super::picture::show(&picture, page),
        ),
        ("evidence", "Evidence", evidence::show(page)),
        ("ruled-out", "Ruled out", beside::ruled_out(page)),
        ("settle", settle_title(page), beside::settle(page)),
    ];
    parts.extend(own.iter().cloned());
    let others: Part = ("others", others_title(page), beside::others(page));
    // Of everything, the incidents are the answer; beside one of them they are not.
    let (leads, follows) = match page.main {
        Some(_) => (None, Some(others)),
        None => (Some(others), None),
    };
    parts.extend(leads);
    parts.extend([
        ("missing", "Missing data", coverage::missing(page)),
        ("coverage", "Sources read", coverage::read(page)),
        ("runs", "Attempts and runs", beside::runs(page)),
    ]);
    parts.extend(follows);
    parts.push(("timeline", "Timeline", list::show(page)));
    parts.retain(|(_, _, body)| !body.0.is_empty());
    let of_state = format!("lead verdict {}", verdict::state(page));
    html! {
        // Within the service's own frame the banner is its bar.
        @if matches!(page.links, Links::Site) {
            section class=(of_state) aria-label="Verdict" { (verdict::show(page)) }
        } @else {
            header class=(of_state) { (verdict::show(page)) }
        }
        nav.contents aria-label="On this page" {
            ul { @for (id, title, _) in &parts { li { a href={ "#" (id) } { (title) } } } }
        }
        main.answer {
            @for (id, title, body) in &parts {
                section id=(id) aria-labelledby={ (id) "-title" } {
                    h2 id={ (id) "-title" } { (title) }
                    (body)
                }
            }
        }
        footer { (foot(page)) }
    }
}

/// An established verdict is settled, but could still be wrong.
fn settle_title(page: Page<'_>) -> &'static str {
    match page.main.map(|incident| incident.level) {
        Some(Level::Established) => "Evidence that could overturn it",
        _ => "Evidence that would settle it",
    }
}

/// The head of a page that loads nothing.
pub(super) fn head(title: &str, with_script: bool) -> Markup {
    html! {
        head {
            meta charset="utf-8";
            meta http-equiv="Content-Security-Policy" content=(policy(with_script));
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="color-scheme" content="light dark";
            meta name="referrer" content="no-referrer";
            title { (title) }
            style { (PreEscaped(STYLE)) }
        }
    }
}

/// The title of the page, for a tab.
pub(super) fn title(page: Page<'_>) -> String {
    let name = page
        .answer
        .experiment
        .as_deref()
        .or(page.answer.machine.as_deref());
    let name = name.unwrap_or("everything");
    let name = cells::cut(name, 120);
    match page.main.filter(|main| !main.title.is_empty()) {
        Some(main) => format!("{name}: {}", cells::cut(&main.title, 120)),
        None => format!("{name}: what happened"),
    }
}

fn others_title(page: Page<'_>) -> &'static str {
    match page.main {
        Some(_) => "Also happened",
        None => "Incidents",
    }
}

fn foot(page: Page<'_>) -> Markup {
    let run = facts::subject_run(page.answer, page.main);
    let zone = page
        .answer
        .now
        .as_deref()
        .or(run.and_then(|run| run.start.as_deref()));
    html! {
        p {
            @if let Some(now) = &page.answer.now {
                "As of " (cells::time(now, page.clock, page.room)) " · "
            }
            "rules " (escape(&page.answer.ruleset))
            @if let Some(zone) = zone.map(|time| page.clock.zone(time)) {
                " · times in " (zone) @if zone != "UTC" { " unless they end in Z" }
            }
        }
    }
}
