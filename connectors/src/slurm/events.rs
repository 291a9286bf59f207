//! `sacctmgr show event`: what happened to nodes, from when to when, why, and who said so.

use std::sync::Arc;

use super::columns::{Columns, Row};
use super::node::{self, NodeReport};
use super::times;
use crate::contract::{FileHead, FormatOutput, TextReader, each_line};
use crate::logs::LogSource;
use crate::observation::Observation;

const NEEDED: &[&str] = &["nodename", "timestart", "reason"];

/// Whether it begins with the head of such a table.
pub(super) fn is(head: &FileHead<'_>) -> bool {
    let mut before = "";
    head.lines(4).any(|line| {
        let before = std::mem::replace(&mut before, line);
        columns(before, line).is_some()
    })
}

/// Of a parsable table its first line, of a plain one the rule below it.
fn columns(before: &str, line: &str) -> Option<Columns> {
    if before.contains("NodeName") && line.starts_with('-') {
        // Names stand at the right of their columns; who pastes may lose the spaces before.
        let width = line.trim_end().len();
        let head = format!("{:>width$}", before.trim());
        return Columns::fixed(&head, line, NEEDED);
    }
    line.contains("NodeName")
        .then(|| Columns::delimited(line, NEEDED))?
}

/// Rows of such a table.
#[derive(Debug)]
pub(super) struct Table {
    file: Arc<str>,
    columns: Option<Columns>,
    before: String,
}

impl Table {
    pub(super) fn new(source: &Arc<LogSource>) -> Self {
        Self {
            file: Arc::clone(&source.file),
            columns: None,
            before: String::new(),
        }
    }

    fn line(&mut self, text: &str, number: u64, found: &mut FormatOutput) {
        let begins = columns(&self.before, text);
        text.clone_into(&mut self.before);
        if begins.is_some() {
            self.columns = begins;
            return;
        }
        let Some(columns) = &self.columns else { return };
        if text.trim().is_empty() || text.starts_with("$ ") {
            return;
        }
        let Some(row) = columns.row(text) else {
            let why = "a row that has not the cells of its table's head".to_owned();
            found.rejected.push((number, why));
            return;
        };
        found.records += 1;
        // Rows without a node are of the cluster as a whole.
        let Some(report) = node_report(&row) else {
            found.irrelevant += 1;
            return;
        };
        let until = row.get("timeend").and_then(times::stamp);
        let mut event = report.emit(&self.file, number, text);
        event.set_attribute("cluster", row.get("cluster"));
        event.set_attribute("until", until.map(|until| crate::time::rfc3339(until.lo)));
        event.set_attribute("time_inferred", Some("zone"));
        found.observations.push(Observation::Event(Box::new(event)));
    }
}

fn node_report(row: &Row<'_>) -> Option<NodeReport> {
    let (state, _) = node::state(row.get("state")?);
    let user = row.get("user").and_then(|user| user.split('(').next());
    node::is_away(&state).then_some(NodeReport {
        node: row.get("nodename")?.to_owned(),
        state,
        why: row.get("reason").map(str::to_owned),
        by: user.map(str::to_owned),
        time: row.get("timestart").and_then(times::stamp),
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
