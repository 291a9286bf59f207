//! What `--explain` adds: the records themselves, and those against.

use serde_json::Value;

use crate::answer::Incident;

use super::super::clock::Clock;
use super::super::page::{Page, Spans, Tone};
use super::super::text::{ACTOR, clip};
use super::super::wording::{self, count, grouped};

/// Hexadecimal digits of an id that are shown; the whole is in the JSON.
const ID: usize = 12;
/// Ids named beside a step.
const NAMED: usize = 4;
/// Evidence rows shown.
const ROWS: usize = 60;

/// Characters of a record's text that are shown; the whole is in the other formats.
const CHARACTERS: usize = 600;

pub(super) fn show(page: &mut Page<'_>, incident: &Incident) {
    if !incident.evidence.is_empty() {
        let many = count(incident.evidence.len(), "record");
        page.section(
            "Evidence",
            Spans::new().own(
                Tone::Dim,
                format!("{many}; whole ids and records: --format json"),
            ),
        );
        for row in incident.evidence.iter().take(ROWS) {
            record(page, row);
        }
        if let Some(more) = incident
            .evidence
            .len()
            .checked_sub(ROWS)
            .filter(|more| *more > 0)
        {
            let more = format!("⋯ {} more", grouped(more as u64));
            page.hang(Spans::new().say("  "), Spans::new().own(Tone::Dim, more));
        }
    }
    if !incident.against.is_empty() {
        page.section("Against", Spans::new());
        for against in &incident.against {
            let body = Spans::new()
                .data(Tone::Plain, &against.text)
                .say("  ")
                .and(ids(&against.event_ids));
            page.hang(Spans::new().own(Tone::Warn, "  • "), body);
        }
    }
}

/// Ids cut short, and how many more there are.
pub(super) fn ids(event_ids: &[String]) -> Spans {
    if event_ids.is_empty() {
        return Spans::new().own(Tone::Dim, "no record of its own");
    }
    let mut spans = Spans::new();
    for (at, id) in event_ids.iter().take(NAMED).enumerate() {
        let comma = if at > 0 { ", " } else { "" };
        spans = spans.own(Tone::Dim, comma).data(Tone::Dim, short(id));
    }
    match event_ids.len().saturating_sub(NAMED) {
        0 => spans,
        more => spans.own(Tone::Dim, format!(" and {} more", grouped(more as u64))),
    }
}

fn short(id: &str) -> &str {
    id.get(..ID).unwrap_or(id)
}

/// One record: id, time, who said it, what it says, where it was read.
fn record(page: &mut Page<'_>, row: &Value) {
    let text = |key: &str| {
        row.get(key)
            .and_then(Value::as_str)
            .filter(|text| !text.is_empty())
    };
    let prefix = Spans::new()
        .say("  ")
        .data(Tone::Dim, short(text("id").unwrap_or("-")))
        .say("  ");
    page.hang(prefix, witness(row, Clock(page.style.tz)));
}

/// A record in one line: when, what it says, who said it, where it was read.
pub(crate) fn witness(row: &Value, clock: Clock) -> Spans {
    let text = |key: &str| {
        row.get(key)
            .and_then(Value::as_str)
            .filter(|text| !text.is_empty())
    };
    let mut body = Spans::new();
    if let Some(time) = text("time") {
        let time = clock.exact(time).replace(' ', "\u{a0}");
        body = body.own(Tone::Dim, time).say("  ");
    }
    if let Some(reason) = text("reason") {
        body = body.data(Tone::Strong, reason).say("  ");
    }
    let fact = || text("fact").map(wording::fact);
    match text("message").map(str::to_owned).or_else(fact) {
        Some(message) => body = body.data(Tone::Plain, &clip(&message, CHARACTERS)),
        None => body = body.own(Tone::Dim, "no text of its own"),
    }
    if let Some(actor) = text("actor") {
        body = body
            .own(Tone::Dim, " · by ")
            .data(Tone::Plain, &clip(actor, ACTOR));
    }
    if let Some(source) = text("source").or_else(|| text("source_kind")) {
        body = body.own(Tone::Dim, " · ").data(Tone::Dim, source);
    }
    if let Some(origin) = origin(row) {
        body = body.own(Tone::Dim, " · ").data(Tone::Dim, &origin);
    }
    body
}

/// `file:line`, from a text or from `{file, line}`.
pub(crate) fn origin(row: &Value) -> Option<String> {
    match row.get("origin")? {
        Value::String(origin) if !origin.is_empty() => Some(origin.clone()),
        Value::Object(origin) => {
            let file = origin
                .get("file")?
                .as_str()
                .filter(|file| !file.is_empty())?;
            match origin.get("line").and_then(Value::as_u64) {
                Some(line) => Some(format!("{file}:{line}")),
                None => Some(file.to_owned()),
            }
        }
        _ => None,
    }
}
