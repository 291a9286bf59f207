//! `sinfo -R`, and any `sinfo` table with a column for the reason.

use std::sync::Arc;

use super::columns::Columns;
use super::node::{self, NodeReport};
use super::times;
use crate::contract::{FileHead, FormatOutput, TextReader, each_line};
use crate::host_list;
use crate::logs::LogSource;
use crate::observation::Observation;

/// Whether it begins with the head of such a table.
pub(super) fn is(head: &FileHead<'_>) -> bool {
    head.lines(3).any(|line| columns(line).is_some())
}

fn columns(line: &str) -> Option<Columns> {
    let upper = |word: &str| line.split([' ', '|']).any(|have| have == word);
    if !upper("REASON") || !upper("NODELIST") {
        return None;
    }
    if let Some(columns) = Columns::delimited(line, &["reason", "nodelist"]) {
        return Some(columns);
    }
    // The plain table has no rule below its head: columns start where names do.
    let mut rule = String::new();
    let mut after_space = true;
    for c in line.chars() {
        let starts = after_space && c != ' ' && !rule.is_empty();
        if starts {
            rule.pop();
            rule.push(' ');
        }
        rule.push('-');
        after_space = c == ' ';
    }
    // The last column is as wide as it has to be.
    rule.push_str(&"-".repeat(1_000));
    Columns::fixed(line, &rule, &["reason", "nodelist"])
}

/// Rows of such a table.
#[derive(Debug)]
pub(super) struct Table {
    file: Arc<str>,
    columns: Option<Columns>,
    /// Rows tell the same node once for each partition.
    emitted: std::collections::BTreeSet<crate::event::EventId>,
}

impl Table {
    pub(super) fn new(source: &Arc<LogSource>) -> Self {
        Self {
            file: Arc::clone(&source.file),
            columns: None,
            emitted: std::collections::BTreeSet::new(),
        }
    }

    fn line(&mut self, text: &str, number: u64, found: &mut FormatOutput) {
        if let Some(columns) = columns(text) {
            self.columns = Some(columns);
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
        let Some(list) = row.get("nodelist") else {
            found.irrelevant += 1;
            return;
        };
        let why = row.get("reason").map(str::to_owned);
        let state = match row.get("state") {
            Some(state) => node::state(state).0,
            // `-R` lists nodes that are down, drained or failing.
            None if why
                .as_deref()
                .is_some_and(|why| why.starts_with("Not responding")) =>
            {
                "DOWN".to_owned()
            }
            None => "DRAIN".to_owned(),
        };
        if !node::is_away(&state) {
            found.irrelevant += 1;
            return;
        }
        for node in host_list::expand(list) {
            let report = NodeReport {
                node,
                state: state.clone(),
                why: why.clone(),
                by: row.get("user").map(str::to_owned),
                time: row.get("timestamp").and_then(times::stamp),
            };
            let mut event = report.emit(&self.file, number, text);
            event.set_attribute("time_inferred", Some("zone"));
            if self.emitted.insert(event.id) {
                found.observations.push(Observation::Event(Box::new(event)));
            }
        }
    }
}

impl TextReader for Table {
    fn lines(&mut self, lines: &[u8], first: u64, found: &mut FormatOutput) {
        each_line(lines, first, found, |text, number, found| {
            self.line(text, number, found);
        });
    }

    fn finish(&mut self, _found: &mut FormatOutput) {}
}
