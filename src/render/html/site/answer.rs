//! An experiment, or one incident of it.

use maud::{Markup, html};

use super::super::super::clock::Clock;
use super::super::super::style::Tz;
use super::super::cells;
use super::super::links::Links;
use super::super::page::{self, Page, leading};
use super::super::room::Room;
use super::frame::{Frame, level};
use crate::answer::{Answer, PastVerdict};

/// How an answer is shown.
#[derive(Clone, Copy, Debug, Default)]
pub struct AnswerView<'a> {
    /// The incident that leads, by its place in the answer; else the main one.
    pub incident: Option<usize>,
    /// The verdicts on it that were reached one after another.
    pub verdicts: &'a [PastVerdict],
    /// Where it leads from one incident: the experiment's page.
    pub experiment: Option<&'a str>,
    /// The same page with live sources asked first, where there are any.
    pub fetch: Option<&'a str>,
    /// The page is to follow what is running.
    pub follow: Option<&'a str>,
}

/// Bytes of a page: what would make it larger is left out of its lists.
const CAP: usize = 3_000_000;

/// A page of an answer without what is around it, which differs from reader to reader.
#[derive(Clone, Debug)]
pub struct AnswerPage {
    title: String,
    page: Markup,
}

impl AnswerPage {
    /// The page of an answer.
    #[must_use]
    pub fn of(answer: &Answer, view: &AnswerView<'_>) -> Self {
        let mut room = Room::new(None);
        let mut page = whole(answer, view, room);
        while page.bytes() > CAP
            && let Some(less) = room.less()
        {
            room = less;
            page = whole(answer, view, room);
        }
        page
    }

    /// The page as a reader gets it.
    #[must_use]
    pub fn around(&self, frame: &Frame) -> String {
        frame.around(&self.title, &["page"], &self.page)
    }

    /// How long it is.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.title.len() + self.page.0.len()
    }
}

fn whole(answer: &Answer, view: &AnswerView<'_>, room: Room) -> AnswerPage {
    let asked = view.incident.and_then(|at| answer.incidents.get(at));
    let shown = Page {
        answer,
        main: asked.or_else(|| leading(answer)),
        clock: Clock(Tz::Utc),
        room,
        links: Links::Site,
    };
    let own = [("history", "How this verdict changed", history(view, shown))];
    let page = html! {
        (way(view, shown))
        div data-follow=[view.follow] { (page::body(shown, &own)) }
    };
    AnswerPage {
        title: page::title(shown),
        page,
    }
}

/// Where the reader can go from here.
fn way(view: &AnswerView<'_>, shown: Page<'_>) -> Markup {
    let permalink = shown.main.and_then(|main| main.id.as_deref());
    let permalink = permalink.filter(|_| view.experiment.is_none());
    html! {
        nav.way aria-label="Related pages" {
            @if let Some(name) = view.experiment {
                a href={ "/x/" (super::super::super::text::in_address(name)) } { "All of " (cells::text(name, shown.room)) }
            }
            @if let Some(id) = permalink {
                a href={ "/i/" (super::super::super::text::in_address(id)) } { "Link to this incident" }
            }
            @for node in shown.main.into_iter().flat_map(|main| &main.machines).filter_map(|one| one.node.as_deref()).take(3) {
                span { "Machine " (shown.links.node(node, shown.room)) }
            }
            @if let Some(fetch) = view.fetch {
                a href=(fetch) { "Ask the live sources again" }
            }
            @if view.follow.is_some() { span #following.dim hidden { "Follows the run as it goes on." } }
        }
    }
}

/// What was thought of it before more became known.
fn history(view: &AnswerView<'_>, shown: Page<'_>) -> Markup {
    let verdicts = view.verdicts;
    if verdicts.len() < 2 {
        return html! {};
    }
    html! {
        ol.verdicts {
            @for (at, one) in verdicts.iter().enumerate().rev() {
                li {
                    p.head {
                        (level(one.level)) " "
                        b { @if one.title.is_empty() { "Cause unknown" } @else { (cells::text(&one.title, shown.room)) } }
                        @if at + 1 == verdicts.len() { span.dim { " · now" } }
                    }
                    p { (cells::text(&one.summary, shown.room)) }
                    p.dim { "since " (cells::time(&one.time, shown.clock, shown.room)) " · " code { (cells::text(&one.cause, shown.room)) }
                        " · rules " (cells::text(&one.ruleset, shown.room)) }
                }
            }
        }
    }
}
