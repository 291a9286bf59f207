//! The lists at the end: what was read, and the timeline.

use std::io;

use crate::answer::Answer;
use whathappened_model::coverage::Status;

use super::super::clock::{Clock, offset};
use super::super::error::RenderError;
use super::super::select::{VisibleRow, select};
use super::super::style::Style;
use super::super::text::{ACTOR, clip};
use super::super::wording;
use super::escape::{code, escape, plain};

/// Characters of a timeline row that are shown.
const CHARACTERS: usize = 600;

/// The sources, below the evidence that none of them had.
pub(super) fn coverage(
    answer: &Answer,
    missing: &[String],
    out: &mut dyn io::Write,
) -> Result<(), RenderError> {
    let fell_short = answer
        .coverage
        .iter()
        .any(|row| row.status != Status::Complete);
    let title = if fell_short || !missing.is_empty() {
        "Missing data"
    } else {
        "Sources read"
    };
    writeln!(out, "### {title}\n")?;
    for line in missing {
        writeln!(out, "- {}", escape(line))?;
    }
    if !missing.is_empty() {
        writeln!(out)?;
    }
    if answer.coverage.is_empty() {
        writeln!(out, "No sources were queried.\n")?;
        return Ok(());
    }
    writeln!(
        out,
        "| source | records | status | would have shown |\n| --- | ---: | --- | --- |"
    )?;
    for row in &answer.coverage {
        let name = escape(&wording::source(&row.source, &row.resource));
        let detail = row
            .detail
            .as_deref()
            .map(|detail| format!(": {}", escape(detail)))
            .unwrap_or_default();
        let shown = row
            .would_have_shown
            .as_deref()
            .filter(|_| row.status != Status::Complete)
            .map(escape);
        let status = escape(&row.status.as_str().replace('_', " "));
        writeln!(
            out,
            "| {name} | {} | {status}{detail} | {} |",
            row.rows,
            shown.unwrap_or_default()
        )?;
    }
    writeln!(out)?;
    Ok(())
}

pub(super) fn timeline(
    answer: &Answer,
    style: &Style,
    clock: Clock,
    out: &mut dyn io::Write,
) -> Result<(), RenderError> {
    if answer.timeline.is_empty() {
        return Ok(());
    }
    let many = plain(&wording::count(answer.timeline.len(), "row"));
    writeln!(out, "<details><summary>Timeline, {many}</summary>\n")?;
    writeln!(
        out,
        "| | time | offset | entity | what happened |\n| --- | --- | ---: | --- | --- |"
    )?;
    for shown in select(&answer.timeline, style.timeline_limit) {
        match shown {
            VisibleRow::LeftOut(n) => writeln!(
                out,
                "| | ⋯ | | | {} left out |",
                plain(&wording::count(n, "row"))
            )?,
            VisibleRow::Row(row) => {
                let mark = if row.in_chain { "▸" } else { "" };
                let repeats = if row.count > 1 {
                    format!(" ×{}", row.count)
                } else {
                    String::new()
                };
                let (time, offset) = (clock.full(&row.time), offset(row.offset_s));
                let entity = code(&format!("{}/{}", row.lane, row.entity));
                let by = row
                    .actor
                    .as_deref()
                    .filter(|actor| !row.text.contains(actor));
                let by = by
                    .map(|actor| format!(" · by {}", code(&clip(actor, ACTOR))))
                    .unwrap_or_default();
                let text = escape(&clip(&row.text, CHARACTERS));
                writeln!(
                    out,
                    "| {mark} | {time} | {offset} | {entity} | {text}{repeats}{by} |"
                )?;
            }
        }
    }
    writeln!(out, "\n</details>\n")?;
    Ok(())
}
