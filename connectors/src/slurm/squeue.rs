//! `squeue`: its plain table, also of `-l`, where a column gives the nodes or the reason.

use std::sync::Arc;

use super::job::{self, Row};
use crate::contract::{FileHead, FormatOutput, TextReader, each_line};
use crate::logs::LogSource;
use crate::redact::redact;

/// Slurm's codes for states (`slurm/src/common/slurm_protocol_defs.c`, `job_state_string_compact`).
const CODES: [(&str, &str); 23] = [
    ("BF", "BOOT_FAIL"),
    ("CA", "CANCELLED"),
    ("CD", "COMPLETED"),
    ("CF", "CONFIGURING"),
    ("CG", "COMPLETING"),
    ("DL", "DEADLINE"),
    ("F", "FAILED"),
    ("NF", "NODE_FAIL"),
    ("OOM", "OUT_OF_MEMORY"),
    ("PD", "PENDING"),
    ("PR", "PREEMPTED"),
    ("R", "RUNNING"),
    ("RD", "PENDING"),
    ("RF", "REQUEUE_FED"),
    ("RH", "REQUEUE_HOLD"),
    ("RQ", "REQUEUED"),
    ("RS", "RESIZING"),
    ("S", "SUSPENDED"),
    ("SE", "SPECIAL_EXIT"),
    ("SI", "SIGNALING"),
    ("SO", "STAGE_OUT"),
    ("ST", "STOPPED"),
    ("TO", "TIMEOUT"),
];

/// The last column: where a job is, or in brackets why it is nowhere.
const PLACE: &str = "nodelist(reason)";

/// Whether it begins with the head of such a table.
pub(super) fn is(head: &FileHead<'_>) -> bool {
    head.lines(4).any(|line| columns(line).is_some())
}

/// The names of the columns, in lower case.
fn columns(line: &str) -> Option<Vec<String>> {
    let names: Vec<String> = line
        .split_whitespace()
        .map(str::to_ascii_lowercase)
        .collect();
    let has = |name: &str| names.iter().any(|have| have == name);
    let is_head = has("jobid") && (has("st") || has("state"));
    (is_head && names.last().is_some_and(|last| last == PLACE)).then_some(names)
}

/// Rows of such a table.
#[derive(Debug)]
pub(super) struct Table {
    file: Arc<str>,
    columns: Option<Vec<String>>,
}

impl Table {
    pub(super) fn new(source: &Arc<LogSource>) -> Self {
        Self {
            file: Arc::clone(&source.file),
            columns: None,
        }
    }

    fn line(&mut self, text: &str, number: u64, found: &mut FormatOutput) {
        if let Some(columns) = columns(text) {
            self.columns = Some(columns);
            return;
        }
        let Some(columns) = &self.columns else { return };
        // `-l` prints the date above its head.
        if text.trim().is_empty() || text.starts_with(['#', '$']) {
            return;
        }
        match read(columns, text, number) {
            Some(row) => {
                found.records += 1;
                job::emit(&[row], &self.file, &mut found.observations);
            }
            None => {
                let why = "a row that has not the cells of its table's head".to_owned();
                found.rejected.push((number, why));
            }
        }
    }
}

fn read(columns: &[String], text: &str, line: u64) -> Option<Row> {
    let mut rest = text.trim();
    let mut cells = Vec::new();
    // Only the last cell holds spaces.
    for _ in 1..columns.len() {
        let (cell, after) = rest.split_once(char::is_whitespace)?;
        cells.push(cell);
        rest = after.trim_start();
    }
    cells.push(rest);
    let get = |name: &str| {
        let at = columns.iter().position(|have| have == name)?;
        cells.get(at).map(|cell| (*cell).to_owned())
    };
    let (job, step) = job::split_id(&get("jobid")?)?;
    let state = get("st").or(get("state"))?;
    let state = CODES.iter().find(|(code, _)| *code == state);
    let state = state.map_or(get("state"), |(_, state)| Some((*state).to_owned()))?;
    let place = get(PLACE)?;
    let why = place
        .strip_prefix('(')
        .and_then(|why| why.strip_suffix(')'));
    Some(Row {
        job,
        step,
        name: get("name").map(|name| redact(&name).into_owned()),
        user: get("user"),
        partition: get("partition"),
        why: why.filter(|why| *why != "None").map(str::to_owned),
        nodes: Some(place.clone()).filter(|place| why.is_none() && !place.is_empty()),
        state,
        time_limit: get("time_limi").or(get("time_limit")),
        zoneless: true,
        line,
        raw: text.to_owned(),
        ..Row::default()
    })
}

impl TextReader for Table {
    fn lines(&mut self, lines: &[u8], first: u64, found: &mut FormatOutput) {
        each_line(lines, first, found, |text, number, found| {
            self.line(text, number, found);
        });
    }

    fn finish(&mut self, _found: &mut FormatOutput) {}
}
