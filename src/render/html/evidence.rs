//! The records that prove it, and those that speak against it.

use maud::{Markup, html};
use serde_json::Value;

use super::super::clock::seconds_between;
use super::super::table::origin;
use super::super::text::{clip, escape_lines};
use super::super::wording;
use super::cells;
use super::page::Page;

pub(super) fn show(page: Page<'_>) -> Markup {
    let Some(incident) = page.main else {
        return html! {};
    };
    if incident.evidence.is_empty() && incident.against.is_empty() {
        return html! {};
    }
    html! {
        @if !incident.evidence.is_empty() {
            p.dim { (wording::count(incident.evidence.len(), "record")) " " (prove(incident.evidence.len())) " this." }
        }
        @for row in incident.evidence.iter().take(page.room.records) { (record(row, page)) }
        (cells::left_out(incident.evidence.len(), page.room.records, "record"))
        @if !incident.against.is_empty() {
            h3 { "Against it" }
            ul {
                @for against in incident.against.iter().take(page.room.entries) {
                    li { (cells::text(&against.text, page.room)) }
                }
            }
        }
    }
}

fn prove(records: usize) -> &'static str {
    if records == 1 { "proves" } else { "prove" }
}

fn record(row: &Value, page: Page<'_>) -> Markup {
    let text = |key: &str| {
        let text = row.get(key).and_then(Value::as_str);
        text.filter(|text| !text.is_empty())
    };
    let fact = text("fact").map(wording::fact);
    let message = text("message")
        .or(fact.as_deref())
        .unwrap_or("no text of its own");
    let wide = seconds_between(text("time"), text("time_hi")).filter(|s| *s >= 1.0);
    html! {
        article.record id=[text("id").map(|id| format!("e-{}", cells::cut(id, 64)))] {
            p.what {
                @if let Some(reason) = text("reason") { b { (cells::text(reason, page.room)) } " " }
                (cells::text(message, page.room))
            }
            dl {
                @if let Some(time) = text("time") {
                    div { dt { "Time" } dd {
                        (cells::time(time, page.clock, page.room))
                        @if let Some(s) = wide { " (or up to " (super::super::clock::duration(s)) " later)" }
                    } }
                }
                @for (label, key) in [("By", "actor"), ("Source", "source"), ("Object", "pod")] {
                    @if let Some(value) = text(key) {
                        div { dt { (label) } dd { (cells::text(value, page.room)) } }
                    }
                }
                @if let Some(node) = text("node") { div { dt { "Node" } dd { (page.links.node(node, page.room)) } } }
                @if let Some(place) = origin(row) {
                    div { dt { "Read from" } dd { code { (cells::text(&place, page.room)) } } }
                }
                @if let Some(seen) = row.get("seen_by").and_then(Value::as_array).filter(|seen| !seen.is_empty()) {
                    div { dt { "Witnesses" } dd {
                        @for (at, one) in seen.iter().filter_map(Value::as_str).take(page.room.entries).enumerate() {
                            @if at > 0 { ", " } (cells::text(one, page.room))
                        }
                    } }
                }
                @if let Some(id) = text("id") { div { dt { "Id" } dd { code { (cells::text(id, page.room)) } } } }
            }
            @if let Some(raw) = text("raw") {
                details {
                    summary { "The record as it was read" }
                    pre tabindex="0" { (escape_lines(&clip(raw, page.room.raw))) }
                }
            }
        }
    }
}
