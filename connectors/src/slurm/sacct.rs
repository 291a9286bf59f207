//! `sacct`: parsable (`-p`, `-P`, any delimiter, any columns) and its plain table.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::columns::{Columns, Row as Cells};
use super::job::{self, Row};
use super::times;
use crate::contract::{FileHead, FormatOutput, TextReader, each_line};
use crate::logs::LogSource;
use crate::redact::redact;

/// Columns without which there is nothing to tell.
const NEEDED: &[&str] = &["jobid", "state"];

const SHORT: &str = "a row with fewer cells than its table's head";

/// Jobs whose rows are kept together.
const MAX_OPEN: usize = 4_096;

/// Whether it begins with the head of such a table.
pub(super) fn is(head: &FileHead<'_>) -> bool {
    let lines: Vec<&str> = head.lines(4).collect();
    columns(&lines).is_some()
}

fn columns(lines: &[&str]) -> Option<(usize, Columns)> {
    lines.iter().enumerate().find_map(|(at, line)| {
        // `squeue` and others have these two as well, but never an end.
        let lower = line.to_ascii_lowercase();
        if !lower.contains("jobid") || !(lower.contains("end") || lower.contains("exitcode")) {
            return None;
        }
        let rule = lines.get(at + 1).copied().unwrap_or_default();
        let found = Columns::fixed(line, rule, NEEDED).or_else(|| Columns::delimited(line, NEEDED));
        Some((at, found?))
    })
}

/// Rows of one table after the other.
#[derive(Debug)]
pub(super) struct Table {
    file: Arc<str>,
    limit: usize,
    columns: Option<Columns>,
    /// The line before, where a head may start there.
    before: String,
    /// Rows of each job of late, in the order of their first rows: steps may
    /// stand behind rows of other jobs.
    jobs: BTreeMap<u64, Vec<Row>>,
    order: HashMap<(Option<String>, String), u64>,
    begun: u64,
    /// A row whose text was broken by line ends inside a comment.
    broken: Option<(u64, String)>,
}

impl Table {
    pub(super) fn new(source: &Arc<LogSource>, limit: usize) -> Self {
        Self {
            file: Arc::clone(&source.file),
            limit,
            columns: None,
            before: String::new(),
            jobs: BTreeMap::new(),
            order: HashMap::new(),
            begun: 0,
            broken: None,
        }
    }

    fn line(&mut self, text: &str, number: u64, found: &mut FormatOutput) {
        if let Some((_, columns)) = columns(&[&self.before, text])
            .or_else(|| columns(&[text]))
            .filter(|_| text.to_ascii_lowercase().contains("jobid") || text.starts_with('-'))
        {
            self.end_jobs(0, found);
            self.columns = Some(columns);
            text.clone_into(&mut self.before);
            return;
        }
        text.clone_into(&mut self.before);
        if text.trim().is_empty() || text.starts_with('#') || text.starts_with("$ ") {
            return;
        }
        let Some(columns) = self.columns.clone() else {
            return;
        };
        let alone = self.broken.is_some()
            && columns
                .row(text)
                .is_some_and(|cells| read(&cells, number, text).is_ok());
        if alone && let Some((line, _)) = self.broken.take() {
            self.reject(line, SHORT, found);
        }
        let (first, whole) = match self.broken.take() {
            Some((first, mut begun)) => {
                begun.push('\n');
                begun.push_str(text);
                (first, begun)
            }
            None => (number, text.to_owned()),
        };
        if columns.missing(&whole) {
            // A comment or a command line may hold line ends.
            if whole.len() <= self.limit && number - first < 64 {
                self.broken = Some((first, whole));
            } else {
                self.reject(first, SHORT, found);
            }
            return;
        }
        let row = columns
            .row(&whole)
            .ok_or("a row with more cells than its table's head")
            .and_then(|cells| read(&cells, first, &whole));
        match row {
            Ok(row) => self.row(row, found),
            Err(why) => self.reject(first, why, found),
        }
    }

    fn reject(&mut self, line: u64, why: &str, found: &mut FormatOutput) {
        found.rejected.push((line, why.to_owned()));
    }

    fn row(&mut self, row: Row, found: &mut FormatOutput) {
        found.records += 1;
        let key = (row.cluster.clone(), row.job.clone());
        if let Some(order) = self.order.get(&key) {
            let rows = self.jobs.entry(*order).or_default();
            // A job that was put back into the queue has a row for each attempt.
            let again = row.step.is_none() && rows.iter().any(|other| other.step.is_none());
            if !again {
                rows.push(row);
                return;
            }
            job::emit(rows, &self.file, &mut found.observations);
            *rows = vec![row];
            return;
        }
        self.order.insert(key, self.begun);
        self.jobs.insert(self.begun, vec![row]);
        self.begun += 1;
        self.end_jobs(MAX_OPEN, found);
    }

    /// Tells the oldest jobs until so many are left.
    fn end_jobs(&mut self, left: usize, found: &mut FormatOutput) {
        while self.jobs.len() > left
            && let Some((_, rows)) = self.jobs.pop_first()
        {
            job::emit(&rows, &self.file, &mut found.observations);
            if let Some(first) = rows.first() {
                self.order
                    .remove(&(first.cluster.clone(), first.job.clone()));
            }
        }
    }
}

fn read(cells: &Cells<'_>, line: u64, raw: &str) -> Result<Row, &'static str> {
    let id = cells.get("jobid").ok_or("a row without a job's id")?;
    let (job, step) = job::split_id(id).ok_or("a row whose job id is none")?;
    let state = cells.get("state").ok_or("a row without a state")?;
    if !state.starts_with(|c: char| c.is_ascii_uppercase()) {
        return Err("a row whose state is none");
    }
    let text = |name: &str| cells.get(name).map(str::to_owned);
    let time = |name: &str| cells.get(name).and_then(times::stamp);
    Ok(Row {
        cluster: text("cluster"),
        job,
        own: text("jobidraw").and_then(|own| Some(job::split_id(&own)?.0)),
        step,
        name: text("jobname").map(|name| redact(&name).into_owned()),
        user: text("user"),
        user_id: text("uid"),
        account: text("account"),
        partition: text("partition"),
        state: state.to_owned(),
        why: text("reason"),
        exit: cells.get("exitcode").and_then(job::split_exit),
        nodes: text("nodelist"),
        submit: time("submit"),
        start: time("start"),
        end: time("end"),
        evaluated: None,
        requested_memory: text("reqmem"),
        max_memory: text("maxrss"),
        time_limit: text("timelimit"),
        restarts: None,
        zoneless: true,
        line,
        raw: redacted(raw),
    })
}

/// A row without secrets: no cell says anything of the one behind it.
fn redacted(row: &str) -> String {
    let cells: Vec<_> = row.split('|').map(redact).collect();
    cells.join("|")
}

impl TextReader for Table {
    fn lines(&mut self, lines: &[u8], first: u64, found: &mut FormatOutput) {
        each_line(lines, first, found, |text, number, found| {
            self.line(text, number, found);
        });
    }

    fn finish(&mut self, found: &mut FormatOutput) {
        if let Some((line, _)) = self.broken.take() {
            self.reject(line, SHORT, found);
        }
        self.end_jobs(0, found);
    }
}
