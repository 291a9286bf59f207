//! The records behind the rows, which the script shows on a click: those nearest to the chain, as many as there
//! is room for. Where there is a service, it tells them instead.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::{Value, json};

use super::super::select::{VisibleRow, nearest, select};
use super::super::text::{clip, escape_lines};
use super::cells;
use super::list::numbered;
use super::page::Page;
use super::room::Room;
use crate::answer::{Answer, TimelineRow};

/// Where they stand in a page that has some: behind all that was written for readers.
const BEGIN: &str = "<script id=\"records\" type=\"application/json\">";
const END: &str = "</script>";

/// The rows of which a page in one file shows the records, if there is room.
pub(crate) fn rows_with_records(answer: &Answer, limit: Option<usize>) -> Vec<&TimelineRow> {
    let shown = select(&answer.timeline, Some(Room::new(limit).rows));
    let row = |part| match part {
        VisibleRow::Row(row) => Some(row),
        VisibleRow::LeftOut(_) => None,
    };
    shown.into_iter().filter_map(row).collect()
}

/// The element with as many records as fit into some bytes; nothing where nobody brought any.
pub(super) fn script(page: Page<'_>, bytes: usize) -> String {
    if page.answer.drawn.records.is_empty() {
        return String::new();
    }
    let bytes = bytes.saturating_sub(BEGIN.len() + END.len());
    format!("{BEGIN}{}{END}", json(page, bytes))
}

/// Records by the numbers of their rows, each with its place and the number of its text: many rows tell of one text.
fn json(page: Page<'_>, bytes: usize) -> String {
    /// What stands around all of them.
    const FRAME: usize = 80;
    let evidence = shown_as_evidence(page);
    let rows: Vec<(usize, &TimelineRow)> = numbered(page)
        .filter_map(|(at, part)| match part {
            VisibleRow::Row(row) => Some((at, row)),
            VisibleRow::LeftOut(_) => None,
        })
        .collect();
    let places: Vec<usize> = rows.iter().map(|(at, _)| *at).collect();
    let rows: HashMap<usize, &TimelineRow> = rows.into_iter().collect();
    let mut kept: BTreeMap<usize, Value> = BTreeMap::new();
    let mut texts: Vec<String> = Vec::new();
    let mut known: HashMap<&str, usize> = HashMap::new();
    let (mut used, mut left_out) = (FRAME, 0);
    for at in nearest(&page.answer.timeline, places) {
        let id = rows.get(&at).and_then(|row| row.event_ids.first());
        let Some(id) = id.filter(|id| !evidence.contains(id.as_str())) else {
            continue;
        };
        let Some(record) = page.answer.drawn.records.get(id) else {
            left_out += 1;
            continue;
        };
        let raw = record.raw.as_deref();
        let fresh = raw.filter(|raw| !known.contains_key(raw));
        let text = fresh.map(|raw| inert(&json!(escape_lines(&clip(raw, page.room.raw)))));
        let place = cells::cut(&record.place, page.room.text);
        // Its numbers, quotes and commas stand beside them.
        let costs = inert(&json!(place)).len() + text.as_ref().map_or(0, String::len) + 24;
        if used + costs > bytes {
            left_out += 1;
            continue;
        }
        used += costs;
        if let (Some(raw), Some(text)) = (fresh, text) {
            known.insert(raw, texts.len());
            texts.push(text);
        }
        let number = raw.and_then(|raw| known.get(raw));
        kept.insert(at, json!([place, number]));
    }
    let rows = inert(&json!(kept));
    let texts = texts.join(",");
    format!("{{\"left_out\":{left_out},\"rows\":{rows},\"texts\":[{texts}]}}")
}

/// Ids of records that stand among the evidence, whole.
fn shown_as_evidence(page: Page<'_>) -> HashSet<&str> {
    let evidence = page.main.map_or(&[][..], |main| &main.evidence);
    let ids = evidence.iter().take(page.room.records);
    ids.filter_map(|row| row.get("id")?.as_str()).collect()
}

/// As JSON that can stand within an element: nothing in it ends one.
fn inert(value: &Value) -> String {
    value.to_string().replace('<', "\\u003c")
}
