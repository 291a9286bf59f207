//! What every source could and could not show.

use std::collections::BTreeMap;

use maud::{Markup, html};

use crate::answer::CoverageRow;
use whathappened_model::coverage::Status;

use super::super::wording;
use super::cells;
use super::page::Page;

/// Rows that say the same, of several namespaces or clusters.
pub(super) type Group<'a> = Vec<&'a CoverageRow>;

/// Sources that fell short, and what they would have shown.
pub(super) fn missing(page: Page<'_>) -> Markup {
    let groups = groups(&page.answer.coverage);
    let is_short = |group: &&Group<'_>| {
        group
            .first()
            .is_none_or(|row| row.status != Status::Complete)
    };
    let short: Vec<&Group<'_>> = groups.iter().filter(is_short).collect();
    table(&short, true, page)
}

/// Sources that were read in full.
pub(super) fn read(page: Page<'_>) -> Markup {
    let groups = groups(&page.answer.coverage);
    if groups.is_empty() {
        return html! { p { "No source was asked." } };
    }
    let is_whole = |group: &&Group<'_>| {
        let row = group.first();
        row.is_some_and(|row| wording::is_read_in_full(row, &page.answer.coverage))
    };
    let whole: Vec<&Group<'_>> = groups.iter().filter(is_whole).collect();
    if whole.is_empty() {
        return html! { p { "No source was read in full." } };
    }
    table(&whole, false, page)
}

fn table(groups: &[&Group<'_>], is_short: bool, page: Page<'_>) -> Markup {
    if groups.is_empty() {
        return html! {};
    }
    // What brought nothing has no first and last record.
    let shown = groups.iter().take(page.room.entries);
    let has_times = shown.clone().any(|group| times(group) != (None, None));
    html! {
        div.scroll tabindex="0" role="group" aria-label=(if is_short { "Missing data" } else { "Sources read" }) {
            table.sources.stacks {
                thead { tr { th scope="col" { "Source" } th scope="col" { "Read" } th.number scope="col" { "Records" }
                    @if has_times { th scope="col" { "From" } th scope="col" { "To" } }
                    @if is_short { th scope="col" { "Would have shown" } } } }
                tbody { @for group in shown { (line(group, is_short, has_times, page)) } }
            }
        }
        (cells::left_out(groups.len(), page.room.entries, "source"))
    }
}

/// The first and the last record of some rows.
fn times<'a>(group: &Group<'a>) -> (Option<&'a str>, Option<&'a str>) {
    let from = group.iter().filter_map(|row| row.got_from.as_deref()).min();
    let to = group.iter().filter_map(|row| row.got_to.as_deref()).max();
    (from, to)
}

fn line(group: &Group<'_>, is_short: bool, has_times: bool, page: Page<'_>) -> Markup {
    let Some(row) = group.first() else {
        return html! {};
    };
    let records: u64 = group
        .iter()
        .fold(0, |all, row| all.saturating_add(row.rows));
    let (from, to) = times(group);
    html! {
        tr class=[is_short.then_some("short")] {
            th scope="row" { (cells::text(&wording::source(&row.source, &row.resource), page.room)) }
            td data-label="Read" {
                (cells::text(&row.status.as_str().replace('_', " "), page.room))
                @if group.len() > 1 { " in " (wording::count(group.len(), "place")) }
                @if let Some(detail) = &row.detail { ": " (cells::text(detail, page.room)) }
            }
            td.number data-label="Records" { (wording::grouped(records)) }
            @if has_times {
                td data-label="From" { (cells::maybe_time(from, page.clock, page.room)) }
                td data-label="To" { (cells::maybe_time(to, page.clock, page.room)) }
            }
            @if is_short {
                td data-label="Would have shown" { @if let Some(shown) = row.would_have_shown.as_deref() { (cells::text(shown, page.room)) } }
            }
        }
    }
}

/// Sources with what they say, those that fell short first.
pub(super) fn groups(rows: &[CoverageRow]) -> Vec<Group<'_>> {
    let mut groups: BTreeMap<_, Group<'_>> = BTreeMap::new();
    for row in rows {
        let key = (
            wording::urgency(row.status),
            &row.source,
            &row.resource,
            &row.detail,
        );
        groups.entry(key).or_default().push(row);
    }
    groups.into_values().collect()
}
