//! What was lost, by cause, day, owner and machine: each figure with what it means, what it
//! rests on, and the statement that computed it.

use maud::{DOCTYPE, Markup, html};
use serde_json::Value;

use super::super::super::clock::Clock;
use super::super::super::fleet::{heading, is_number, of_column, statement, value as value_text};
use super::super::super::style::Tz;
use super::super::super::text::{escape, in_address};
use super::super::super::wording;
use super::super::cells;
use super::super::page::head;
use super::super::room::Room;
use super::frame::{Frame, level};
use super::plot;
use crate::answer::{Figure, FleetReport, Level};

/// Windows that are offered.
const WINDOWS: [(&str, &str); 4] = [
    ("1d", "24 hours"),
    ("7d", "7 days"),
    ("30d", "30 days"),
    ("90d", "90 days"),
];

/// The page of the service; `since` is the window as it was asked for.
#[must_use]
pub fn fleet(frame: &Frame, report: &FleetReport, since: &str) -> String {
    let page = html! {
        main.fleet {
            h1 { "Fleet" }
            nav.windows aria-label="Window" {
                @for (value, title) in WINDOWS {
                    a href={ "/fleet?since=" (value) } aria-current=[(value == since).then_some("true")] { (title) }
                }
            }
            (body(report, Some("")))
        }
    };
    frame.around("Fleet", &[], &page)
}

/// The report as one page that loads nothing.
pub(crate) fn alone(report: &FleetReport) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            (head("Report", false))
            body { main.fleet { h1 { "Report" } (body(report, report.site.as_deref())) } }
        }
    };
    page.into_string()
}

/// `site` is where statements open: nowhere, within the page's own service, or at an address.
fn body(report: &FleetReport, site: Option<&str>) -> Markup {
    let clock = Clock(Tz::Utc);
    let room = Room::new(None);
    html! {
        p.identity {
            "From " (cells::time(&report.from, clock, room)) " to " (cells::time(&report.to, clock, room))
            " · " (wording::grouped(report.explained)) " of " (wording::grouped(report.runs)) " runs of this window are explained"
            " · rules " (escape(&report.ruleset))
        }
        @for note in &report.notes { p.note { (with_commands(note, room)) } }
        @for figure in &report.figures {
            section.figure id=(figure.id) {
                h2 { (figure.title) }
                p.dim { (figure.definition) }
                @if figure.id == "sum" { (tiles(figure, site)) } @else { (shown(figure, site)) }
                @if let Some(coverage) = &figure.coverage { p.dim { (escape(coverage)) } }
                details {
                    summary { "SQL" }
                    pre tabindex="0" { (figure.sql) }
                    @if let Some(site) = site { p { a href=(statement(site, &figure.sql)) { "Open in the editor" } } }
                    @if site.is_none() && !figure.incidents.is_empty() {
                        p { "The incidents that " @if let [_] = figure.incidents.as_slice() { "it counts:" } @else { "each row counts:" } }
                        @for list in &figure.incidents { pre tabindex="0" { (list) } }
                    }
                }
            }
        }
    }
}

/// One row as large numbers.
fn tiles(figure: &Figure, site: Option<&str>) -> Markup {
    let row = figure.rows.first();
    html! {
        dl.tiles {
            @for (column, value) in figure.columns.iter().zip(row.into_iter().flatten()) {
                div { dt { (escape(&heading(column))) } dd { (cell(column, value, site, figure.incidents.first())) } }
            }
        }
    }
}

fn shown(figure: &Figure, site: Option<&str>) -> Markup {
    if figure.rows.is_empty() {
        return html! { p { "Nothing in this window." } };
    }
    let chart = figure.chart.as_deref();
    let place = chart.and_then(|name| figure.columns.iter().position(|column| column == name));
    let number = |row: &Vec<Value>| {
        place
            .and_then(|at| row.get(at))
            .and_then(Value::as_f64)
            .unwrap_or(0.0)
    };
    let most = figure.rows.iter().map(number).fold(0.0, f64::max);
    let is_time = figure.rows.len() > 1 && figure.columns.first().is_some_and(|name| name == "day");
    html! {
        @if is_time {
            @let bars: Vec<(String, f64)> = figure.rows.iter().map(|row| (row.first().map(value_text).unwrap_or_default(), number(row))).collect();
            @if let Some(column) = chart { p.of-chart { (escape(&heading(column))) } }
            (plot::columns(&bars, figure.title))
        }
        div.scroll tabindex="0" role="group" aria-label=(figure.title) {
            table.plain.stacks {
                thead { tr {
                    @for (at, column) in figure.columns.iter().enumerate() {
                        th scope="col" class=[is_number(figure, at).then_some("number")] { (escape(&heading(column))) }
                    }
                    @if place.is_some() && !is_time { th.wide scope="col" aria-hidden="true" {} }
                } }
                tbody { @for (nth, row) in figure.rows.iter().enumerate() {
                    tr {
                        @for (at, (column, value)) in figure.columns.iter().zip(row).enumerate() {
                            td class=[is_number(figure, at).then_some("number")] data-label=(escape(&heading(column))) { (cell(column, value, site, figure.incidents.get(nth))) }
                        }
                        @if place.is_some() && !is_time { td.wide { (plot::bar(number(row), most)) } }
                    }
                } }
            }
        }
    }
}

/// A note with the commands in it, which stand in backticks, as code.
fn with_commands(note: &str, room: Room) -> Markup {
    html! {
        @for (at, part) in note.split('`').enumerate() {
            @if at % 2 == 1 { code { (cells::text(part, room)) } } @else { (cells::text(part, room)) }
        }
    }
}

/// A value; of a number of incidents, and of a cause, a link to these incidents.
fn cell(column: &str, value: &Value, site: Option<&str>, list: Option<&String>) -> Markup {
    let room = Room::new(None);
    let listed = || Some(statement(site?, list?));
    match (column, value) {
        ("level", Value::String(text)) => {
            html! { @match Level::parse(text) { Some(known) => (level(known)), None => (cells::text(text, room)) } }
        }
        ("machine" | "experiment", Value::String(name)) if site.is_some() => {
            let page = if column == "machine" { "/node/" } else { "/x/" };
            html! { a href={ (site.unwrap_or_default()) (page) (in_address(name)) } { (cells::text(name, room)) } }
        }
        ("cause", Value::String(name)) => match listed() {
            Some(link) => html! { a href=(link) { code { (cells::text(name, room)) } } },
            None => plain(column, value),
        },
        ("incidents", Value::Number(_)) => match listed() {
            Some(link) => {
                html! { a href=(link) title="These incidents" { (plain(column, value)) } }
            }
            None => plain(column, value),
        },
        _ => plain(column, value),
    }
}

fn plain(column: &str, value: &Value) -> Markup {
    match value {
        Value::Null => html! { span.dim { "unknown" } },
        value => cells::text(&of_column(column, value), Room::new(None)),
    }
}
