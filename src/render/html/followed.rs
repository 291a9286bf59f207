//! Who followed, behind the step that says how many: by how they ended, opened on demand.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use maud::{Markup, html};

use crate::answer::{ChainLink, StepRole, Victim};

use super::super::wording;
use super::cells;
use super::page::Page;

/// Those that ended in one way.
struct Way<'a> {
    how: &'a str,
    all: Vec<&'a Victim>,
}

/// The members of the run that a step of the chain counts; nothing where it counts one or none.
pub(super) fn followed(link: &ChainLink, page: Page<'_>) -> Markup {
    let collateral = page.main.map_or(&[][..], |main| &main.collateral);
    if link.role != StepRole::Teardown || collateral.len() < 2 {
        return html! {};
    }
    let mut ways: BTreeMap<&str, Vec<&Victim>> = BTreeMap::new();
    for victim in collateral {
        ways.entry(&victim.how).or_default().push(victim);
    }
    let mut ways: Vec<Way<'_>> = ways
        .into_iter()
        .map(|(how, all)| Way { how, all })
        .collect();
    ways.sort_by_key(|way| (Reverse(way.all.len()), way.how));
    // Each way shows some of its own.
    let each = (page.room.entries / ways.len().max(1)).max(3);
    html! {
        details.followed {
            summary { "Show which, and how they ended" }
            ul {
                @for way in ways.iter().take(page.room.entries) { li { (of_way(way, each, page)) } }
            }
            (cells::left_out(ways.len(), page.room.entries, "way"))
        }
    }
}

fn of_way(way: &Way<'_>, limit: usize, page: Page<'_>) -> Markup {
    let how = match way.how {
        "" => "ended",
        how => how,
    };
    let mut times: Vec<&str> = way
        .all
        .iter()
        .filter_map(|one| one.time.as_deref())
        .collect();
    times.sort_unstable();
    let (first, last) = (times.first().copied(), times.last().copied());
    html! {
        p {
            b { (wording::grouped(way.all.len() as u64)) } " × " (cells::text(how, page.room))
            @if let Some(first) = first {
                span.dim { ", " (cells::time(first, page.clock, page.room)) }
            }
            @if let Some(last) = last.filter(|last| Some(*last) != first) {
                span.dim { " to " (cells::time(last, page.clock, page.room)) }
            }
        }
        p.names {
            @for (at, victim) in way.all.iter().take(limit).enumerate() {
                @if at > 0 { ", " }
                (cells::text(&victim.pod, page.room))
            }
            @if way.all.len() > limit {
                span.dim { " and " (wording::grouped((way.all.len() - limit) as u64)) " more" }
            }
        }
    }
}
