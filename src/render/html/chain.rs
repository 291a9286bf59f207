//! Why: the chain from cause to effect, numbered as in the picture.

use std::collections::BTreeSet;

use maud::{Markup, html};

use crate::answer::{ChainLink, Edge};

use super::super::clock::{offset, seconds_between, zero};
use super::page::Page;
use super::{cells, followed};

pub(super) fn why(page: Page<'_>) -> Markup {
    let Some(incident) = page.main.filter(|main| !main.chain.is_empty()) else {
        return html! {};
    };
    let zero = zero(page.answer, Some(incident));
    let shown: BTreeSet<&str> = incident
        .evidence
        .iter()
        .take(page.room.records)
        .filter_map(|row| row.get("id")?.as_str())
        .collect();
    html! {
        ol.chain {
            @for (at, link) in incident.chain.iter().take(page.room.entries).enumerate() {
                li id={ "step-" (at + 1) } class={ "step " (link.role) } {
                    span.badge aria-hidden="true" { (at + 1) }
                    div {
                        p.what {
                            span.role { (link.role) } " "
                            (cells::text(&link.text, page.room))
                        }
                        p.dim {
                            (cells::maybe_time(link.time.as_deref(), page.clock, page.room))
                            @if let Some(s) = seconds_between(zero.as_deref(), link.time.as_deref()) {
                                " · " (offset(s)) " from the start"
                            }
                            @if let Some(tied) = tied(link).filter(|_| at > 0) { " · " (tied) }
                            (records(link, &shown))
                        }
                        (followed::followed(link, page))
                    }
                }
            }
        }
        (cells::left_out(incident.chain.len(), page.room.entries, "step"))
        (traceback(page))
    }
}

/// How a step is tied to the one before, in words.
fn tied(link: &ChainLink) -> Option<&'static str> {
    Some(match link.edge? {
        Edge::Asserted => "one record names both this step and the one before",
        Edge::Inferred => "tied to the step before by time and place",
        Edge::Guess => "tied to the step before by elimination",
        Edge::Context => "context: decides nothing",
        Edge::Against => return None,
    })
}

fn records(link: &ChainLink, shown: &BTreeSet<&str>) -> Markup {
    html! {
        @for (at, id) in link.event_ids.iter().filter(|id| shown.contains(id.as_str())).take(4).enumerate() {
            @if at == 0 { " · record" }
            " " a href={ "#e-" (id) } { (id.get(..8).unwrap_or(id)) }
        }
    }
}

/// The traceback as the process wrote it.
fn traceback(page: Page<'_>) -> Markup {
    let traceback = page.main.and_then(|main| main.said.traceback.as_ref());
    let Some(traceback) = traceback.filter(|one| one.text.lines().count() > 1) else {
        return html! {};
    };
    html! {
        h3 { "Traceback of " (cells::text(&traceback.pod, page.room)) }
        pre tabindex="0" { (super::super::text::escape_lines(
            &super::super::text::clip(&traceback.text, page.room.raw))) }
    }
}
