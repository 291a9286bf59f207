//! What apt did: `/var/log/apt/history.log`, a block of lines each time.

use std::sync::Arc;

use super::emit::Emitter;
use super::layout;
use super::line::{HostLine, LineTime};
use super::place::PlacedTime;
use crate::contract::{FileHead, FormatOutput, TextReader, numbered};
use crate::logs::LogSource;
use crate::logs::clock::{self, Clock};
use crate::observation::Observation;

/// Whether it begins as such a log.
pub(super) fn is(head: &FileHead<'_>) -> bool {
    head.lines(1).any(|line| line.starts_with("Start-Date: 20"))
}

/// Blocks, until there are no more.
pub(super) struct History {
    emitter: Emitter,
    block: Vec<String>,
    line: u64,
}

impl History {
    pub(super) fn new(source: &Arc<LogSource>) -> Self {
        let host = layout::machine(source);
        Self {
            emitter: Emitter::new(Arc::clone(&source.file), source.identity(), host),
            block: Vec::new(),
            line: 1,
        }
    }

    fn end(&mut self, found: &mut FormatOutput) {
        let block = std::mem::take(&mut self.block);
        let get = |key: &str| block.iter().find_map(|line| line.strip_prefix(key));
        let Some(start) = get("Start-Date: ") else {
            return;
        };
        found.records += 1;
        // Two spaces stand between date and time.
        let start = start.replace("  ", " ");
        let Some((clock @ Clock::NoZone(stamp), _)) = clock::leading(&start) else {
            found.records -= 1;
            let why = "a block whose Start-Date is none".to_owned();
            found.rejected.push((self.line, why));
            return;
        };
        let Some(what) = ["Upgrade: ", "Install: ", "Remove: "]
            .iter()
            .find_map(|key| Some(format!("{key}{}", get(key)?)))
        else {
            found.irrelevant += 1;
            return;
        };
        let line = HostLine {
            program: Some("apt".to_owned()),
            ..HostLine::new(LineTime::Clock(clock), &what)
        };
        let placed = PlacedTime {
            stamp: Some(stamp),
            inferred: Some("zone"),
            ahead: None,
        };
        let mut event = self
            .emitter
            .emit(line, placed, &block.join("\n"), self.line);
        // `alice (1000)`
        let by = get("Requested-By: ").and_then(|by| by.split(' ').next());
        event.actor = by.map(str::to_owned);
        event.set_attribute("command", get("Commandline: "));
        found.observations.push(Observation::Event(Box::new(event)));
    }
}

impl TextReader for History {
    fn lines(&mut self, lines: &[u8], first: u64, found: &mut FormatOutput) {
        for (number, line) in numbered(lines, first) {
            let text = String::from_utf8_lossy(line).into_owned();
            if text.starts_with("Start-Date: ") {
                self.end(found);
                self.line = number;
            }
            if self.block.len() < 64 {
                self.block.push(text);
            }
        }
    }

    fn finish(&mut self, found: &mut FormatOutput) {
        self.end(found);
    }
}
