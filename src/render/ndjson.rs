//! One JSON object a line.

use std::io;

use datafusion::arrow::array::RecordBatch;
use serde::Serialize;

use crate::answer::Answer;

use super::error::RenderError;
use super::json::objects;
use super::rows::RowSink;
use super::text::escape_json;

/// A line: what it is, then its fields as in the JSON answer.
#[derive(Serialize)]
struct Line<'a, T> {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(flatten)]
    value: &'a T,
}

/// The answer without its lists, which follow.
#[derive(Serialize)]
struct Header<'a> {
    schema: &'static str,
    experiment: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    machine: Option<&'a str>,
    matched_by: Option<&'a str>,
    now: Option<&'a str>,
    ruleset: &'a str,
    notes: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    page: Option<&'a str>,
}

/// Writes the head of the answer, then its runs, incidents, coverage and timeline.
pub(crate) fn answer(answer: &Answer, out: &mut dyn io::Write) -> Result<(), RenderError> {
    let header = Header {
        schema: answer.schema,
        experiment: answer.experiment.as_deref(),
        machine: answer.machine.as_deref(),
        matched_by: answer.matched_by.as_deref(),
        now: answer.now.as_deref(),
        ruleset: &answer.ruleset,
        notes: &answer.notes,
        page: answer.page.as_deref(),
    };
    line("answer", &header, out)?;
    for run in &answer.runs {
        line("run", run, out)?;
    }
    for incident in &answer.incidents {
        line("incident", incident, out)?;
    }
    for row in &answer.coverage {
        line("coverage", row, out)?;
    }
    for row in &answer.timeline {
        line("timeline", row, out)?;
    }
    Ok(())
}

fn line<T: Serialize>(
    kind: &'static str,
    value: &T,
    out: &mut dyn io::Write,
) -> Result<(), RenderError> {
    let json = serde_json::to_string(&Line { kind, value })?;
    writeln!(out, "{}", escape_json(&json))?;
    Ok(())
}

/// Rows as objects.
#[derive(Debug)]
pub(crate) struct Rows;

impl RowSink for Rows {
    fn write(&mut self, batch: &RecordBatch, out: &mut dyn io::Write) -> Result<(), RenderError> {
        out.write_all(escape_json(&objects(batch)?).as_bytes())?;
        Ok(())
    }

    fn finish(&mut self, _out: &mut dyn io::Write) -> Result<(), RenderError> {
        Ok(())
    }
}
