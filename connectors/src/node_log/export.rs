//! A journal export, record by record; its values may hold line ends.

use std::sync::Arc;

use super::filter;
use super::journal;
use super::reader::HostLog;
use crate::contract::{FormatOutput, TextReader};
use crate::logs::LogSource;

/// Puts blocks together until a record is whole.
#[derive(Debug)]
pub(super) struct Export {
    log: HostLog,
    limit: usize,
    /// What is not yet a whole record, and the line it starts at.
    rest: Vec<u8>,
    line: u64,
}

impl Export {
    pub(super) fn new(source: &Arc<LogSource>, limit: usize) -> Self {
        Self {
            log: HostLog::new(source, |text| Ok(super::line::parse(text))),
            limit,
            rest: Vec::new(),
            line: 1,
        }
    }

    fn records(&mut self, found: &mut FormatOutput) {
        let rest = std::mem::take(&mut self.rest);
        let mut at = 0;
        while let Some(end) = journal::export_end(&rest[at..]) {
            let record = &rest[at..at + end - 1];
            if !record.is_empty() {
                self.record(record, found);
            }
            self.line += memchr::memchr_iter(b'\n', &rest[at..at + end]).count() as u64;
            at += end;
        }
        self.rest = rest[at..].to_vec();
        if self.rest.len() > self.limit {
            let why = format!("a journal record of more than {} bytes", self.limit);
            found.rejected.push((self.line, why));
            self.rest.clear();
        }
    }

    fn record(&mut self, record: &[u8], found: &mut FormatOutput) {
        found.records += 1;
        if filter::next(record, 0).is_none() {
            found.irrelevant += 1;
            return;
        }
        match journal::export(record) {
            Ok(line) => {
                let raw = String::from_utf8_lossy(record).into_owned();
                let is_significant = self.log.parsed(line, &raw, b"", self.line, found);
                found.irrelevant += u64::from(!is_significant);
            }
            Err(why) => {
                found.records -= 1;
                found.rejected.push((self.line, why));
            }
        }
    }
}

impl TextReader for Export {
    fn lines(&mut self, lines: &[u8], _first: u64, found: &mut FormatOutput) {
        self.rest.extend_from_slice(lines);
        self.records(found);
    }

    fn finish(&mut self, found: &mut FormatOutput) {
        if !self.rest.is_empty() {
            self.rest.extend_from_slice(b"\n\n");
            self.records(found);
        }
        self.log.end(found);
    }
}
