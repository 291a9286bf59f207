//! What `journalctl -u train -o cat` prints: the texts of a service's journal and nothing before them. What systemd says of the
//! service is told by its form from what the program says, and has the time of the lines around it.

use std::sync::Arc;

use super::service;
use crate::contract::{FileHead, FormatOutput, Options, TextReader, numbered};
use crate::event::{Event, EventId, SourceKind};
use crate::logs::{LogSource, LogStream};
use crate::observation::Observation;

/// Whether a file begins as such a journal: systemd says something of one service in it.
pub(super) fn is(head: &FileHead<'_>) -> bool {
    let mut units: Vec<&str> = Vec::new();
    let mut others = 0;
    for text in head.lines(20_000) {
        match service::unit_of_bare(text) {
            Some(unit) if !units.contains(&unit) => units.push(unit),
            Some(_) => {}
            None => others += 1,
        }
    }
    units.len() == 1 && others > 0
}

/// Reads such a journal.
pub(super) struct UnitCat {
    program: LogStream,
    identity: String,
    /// The service, once systemd named it.
    unit: Option<String>,
}

impl UnitCat {
    pub(super) fn new(source: &Arc<LogSource>, options: &Options) -> Self {
        Self {
            program: LogStream::new(
                Arc::clone(source),
                options.log_lines,
                options.max_line_bytes,
            ),
            identity: source.identity(),
            unit: None,
        }
    }

    /// Says of lines whose they are, and makes systemd's own words those of the machine.
    fn sign(&self, from: usize, found: &mut FormatOutput) {
        for one in found.observations.iter_mut().skip(from) {
            let Observation::Event(event) = one else {
                continue;
            };
            if event.fact != "log.line" {
                continue;
            }
            let text = event.message.as_deref().unwrap_or_default();
            if service::unit_of_bare(text).is_some() {
                **event = of_systemd(event, &self.identity);
            } else {
                event.set_attribute("unit", self.unit.as_deref());
                event.set_attribute("journal", Some("systemd"));
            }
        }
    }
}

/// What systemd says, out of the line that it stood in.
fn of_systemd(line: &Event, identity: &str) -> Event {
    let text = line.message.clone().unwrap_or_default();
    let number = line.origin.line.to_string();
    let id = EventId::of(&["node.log", identity, "systemd", &text, &number]);
    let mut event = Event::new(id, "node.log", line.time, SourceKind::NodeLog);
    event.message = Some(text);
    event.raw.clone_from(&line.raw);
    event.origin = line.origin.clone();
    event.set_attribute("program", Some("systemd"));
    event.set_attribute("time_inferred", line.attribute("time_inferred"));
    event
}

impl TextReader for UnitCat {
    fn lines(&mut self, lines: &[u8], first: u64, found: &mut FormatOutput) {
        if self.unit.is_none() {
            let text = String::from_utf8_lossy(lines);
            let unit = text.lines().find_map(service::unit_of_bare);
            self.unit = unit.map(str::to_owned);
        }
        let from = found.observations.len();
        for (number, raw) in numbered(lines, first) {
            if raw.trim_ascii().is_empty() {
                continue;
            }
            let text = String::from_utf8_lossy(raw);
            found.lossy += u64::from(matches!(text, std::borrow::Cow::Owned(_)));
            match self.program.line(&text, number, &mut found.observations) {
                Ok(()) => found.records += 1,
                Err(why) => found.rejected.push((number, why)),
            }
        }
        self.sign(from, found);
    }

    fn finish(&mut self, found: &mut FormatOutput) {
        let from = found.observations.len();
        self.program.finish(&mut found.observations);
        found.left_out += self.program.left_out();
        self.sign(from, found);
    }
}
