//! The timeline as a list: what the picture shows, in words.

use maud::{Markup, html};

use crate::answer::TimelineRow;

use super::super::clock::{offset, seconds_between};
use super::super::select::{VisibleRow, select};
use super::super::wording;
use super::cells;
use super::page::Page;
use super::picture::Group;

pub(super) fn show(page: Page<'_>) -> Markup {
    let rows = &page.answer.timeline;
    if rows.is_empty() {
        return html! {};
    }
    let shown = rows.len().min(page.room.rows);
    html! {
        p.dim {
            (wording::count(rows.len(), "row"))
            @if shown < rows.len() {
                ". " (wording::count(rows.len() - shown, "row"))
                " left out of this page: it keeps those of the chain, then those nearest to them; --format json has all"
            }
            "."
        }
        details.timeline open[shown <= 60] {
            summary { "Show the rows" }
            div.scroll tabindex="0" role="group" aria-label="Rows of the timeline" {
                table.rows {
                    thead { tr { th scope="col" { "Time" } th.number scope="col" { "From start" } th scope="col" { "Of" }
                        th scope="col" { "What happened" } th scope="col" { "Seen by" } } }
                    tbody { @for (at, part) in numbered(page) { (line(at, part, page)) } }
                }
            }
        }
    }
}

/// The rows that are shown with their places among all, which are their names on the page.
pub(super) fn numbered(page: Page<'_>) -> impl Iterator<Item = (usize, VisibleRow<'_>)> {
    let mut next = 0;
    let shown = select(&page.answer.timeline, Some(page.room.rows));
    shown.into_iter().map(move |part| {
        let at = next;
        next += match part {
            VisibleRow::Row(_) => 1,
            VisibleRow::LeftOut(rows) => rows,
        };
        (at, part)
    })
}

fn line(at: usize, part: VisibleRow<'_>, page: Page<'_>) -> Markup {
    match part {
        VisibleRow::LeftOut(rows) => html! {
            tr.gap { td colspan="5" { "⋯ " (wording::count(rows, "row")) " left out" } }
        },
        VisibleRow::Row(row) => full(at, row, page),
    }
}

fn full(at: usize, row: &TimelineRow, page: Page<'_>) -> Markup {
    let wide = seconds_between(Some(&row.time), Some(&row.time_hi)).filter(|s| *s >= 2.0);
    let by = row
        .actor
        .as_deref()
        .filter(|actor| !row.text.contains(actor));
    html! {
        tr id={ "r" (at) } class={ (row.weight.as_str()) @if row.in_chain { " linked" } } data-lane=(Group::of(row).key())
            data-weight=(row.weight.as_str()) data-by=(words(&row.seen_by)) data-ids=(words(&row.event_ids)) {
            td {
                (cells::time(&row.time, page.clock, page.room))
                @if let Some(s) = wide { span.dim { " +" (super::super::clock::duration(s)) } }
            }
            td.number { (offset(row.offset_s)) }
            td { span.dim { (cells::text(row.lane.as_str(), page.room)) } " " (cells::text(&row.entity, page.room)) }
            td {
                (cells::text(&row.text, page.room))
                @if row.count > 1 { span.dim { " ×" (wording::grouped(row.count)) } }
                @if let Some(by) = by { span.dim { " · by " } (cells::text(by, page.room)) }
            }
            td.dim { @for (n, one) in row.seen_by.iter().take(8).enumerate() {
                @if n > 0 { ", " } (cells::text(one, page.room))
            } }
        }
    }
}

/// Some words as one attribute; those that nobody made up for it.
fn words(all: &[String]) -> String {
    const MOST: usize = 4;
    let is_word = |word: &&String| {
        let plain = |letter: u8| letter.is_ascii_alphanumeric() || matches!(letter, b'_' | b'-');
        word.len() <= 80 && word.bytes().all(plain)
    };
    let words: Vec<&str> = all
        .iter()
        .filter(is_word)
        .take(MOST)
        .map(String::as_str)
        .collect();
    words.join(" ")
}
