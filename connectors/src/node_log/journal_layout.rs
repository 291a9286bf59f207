//! A journal in the layouts that are for people's eyes, `journalctl -o json-pretty` and `-o verbose`: each record is many
//! lines. They are written again as `-o json` has them, a line a record, and read as that.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::unit_log;
use crate::contract::{FileHead, FormatOutput, Options, TextReader};
use crate::logs::LogSource;
use crate::time::Stamp;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    Pretty,
    Verbose,
}

/// Whether a file begins as a journal in one of these layouts.
pub(super) fn is_journal(head: &FileHead<'_>) -> bool {
    Layout::of(head.bytes).is_some()
}

/// Whether it is the journal of one service.
pub(super) fn is_of_service(head: &FileHead<'_>) -> bool {
    let Some(layout) = Layout::of(head.bytes) else {
        return false;
    };
    let mut records = Records::new(layout);
    let lines = String::from_utf8_lossy(&records.rewrite(head.bytes)).into_owned();
    unit_log::is_json(&FileHead {
        bytes: lines.as_bytes(),
        text: &lines,
    })
}

/// Reads it.
pub(super) fn reader(source: &Arc<LogSource>, options: &Options) -> Box<dyn TextReader> {
    Box::new(Rewritten {
        records: None,
        next: 1,
        limit: options.max_record_bytes,
        inner: unit_log::UnitLog::json(source, options),
    })
}

impl Layout {
    /// The layout of a file that is known to be a journal, by its first lines.
    fn begun_by(lines: &[u8]) -> Self {
        if lines.trim_ascii_start().starts_with(b"{") {
            Self::Pretty
        } else {
            Self::Verbose
        }
    }

    fn of(head: &[u8]) -> Option<Self> {
        let mut lines = head
            .split(|&byte| byte == b'\n')
            .map(<[u8]>::trim_ascii_end)
            .filter(|line| !line.is_empty() && !line.starts_with(b"-- "));
        let first = lines.next()?;
        if first == b"{" {
            let mut fields = lines.take_while(|line| *line != b"}");
            let is_time = |line: &[u8]| line.trim_ascii().starts_with(b"\"__REALTIME_TIMESTAMP\"");
            return fields.any(is_time).then_some(Self::Pretty);
        }
        let second = lines.next()?;
        let is_field = second.starts_with(b"    ") && field(second).is_some();
        (is_field && heading(first).is_some()).then_some(Self::Verbose)
    }
}

/// The microseconds since 1970 above a verbose record: `Wed 2026-11-25 23:09:57.123456 UTC [s=…;t=5c1…;x=…]`. The
/// cursor holds them whatever the zone of the date is.
fn heading(line: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(line).ok()?;
    let (date, cursor) = text.strip_suffix(']')?.split_once(" [s=")?;
    let by_cursor = cursor
        .split(';')
        .find_map(|part| i64::from_str_radix(part.strip_prefix("t=")?, 16).ok());
    /// What is before 2001 is no time of a cursor.
    const EARLIEST: i64 = 1_000_000_000_000_000;
    if let Some(micros) = by_cursor.filter(|micros| *micros >= EARLIEST) {
        return Some(micros);
    }
    let (_weekday, date) = date.split_once(' ')?;
    let date = date.strip_suffix(" UTC")?.replacen(' ', "T", 1);
    Stamp::parse(&format!("{date}Z")).map(|stamp| stamp.lo / 1_000)
}

/// `    NAME=value`
fn field(line: &[u8]) -> Option<(Cow<'_, str>, Cow<'_, str>)> {
    let line = line.strip_prefix(b"    ")?;
    let equals = memchr::memchr(b'=', line)?;
    let (name, value) = (&line[..equals], &line[equals + 1..]);
    let is_name = |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_';
    (!name.is_empty() && name.iter().all(is_name)).then(|| {
        (
            String::from_utf8_lossy(name),
            String::from_utf8_lossy(value),
        )
    })
}

/// Puts the lines of each record together.
struct Records {
    layout: Layout,
    /// The lines of a record that is not whole yet.
    pending: Vec<u8>,
    /// How many they are.
    lines: usize,
}

impl Records {
    const fn new(layout: Layout) -> Self {
        Self {
            layout,
            pending: Vec::new(),
            lines: 0,
        }
    }

    /// As many lines as those of whole records in `block` and what was pending: a record, then a blank line for each further
    /// one that it had, so that line numbers stay those of the file.
    fn rewrite(&mut self, block: &[u8]) -> Vec<u8> {
        let mut lines = Vec::with_capacity(block.len());
        let block = block.strip_suffix(b"\n").unwrap_or(block);
        for line in block.split(|&byte| byte == b'\n') {
            let is_next = self.layout == Layout::Verbose && !line.starts_with(b" ");
            if is_next {
                self.finish(&mut lines);
            }
            self.pending.extend_from_slice(line);
            self.pending.push(b'\n');
            self.lines += 1;
            let is_end = self.layout == Layout::Pretty && line.trim_ascii_end() == b"}";
            if is_end {
                self.finish(&mut lines);
            }
        }
        lines
    }

    fn finish(&mut self, lines: &mut Vec<u8>) {
        let pending = std::mem::take(&mut self.pending);
        let count = std::mem::take(&mut self.lines);
        match self.layout {
            // A line end within a text is written `\n`: those that are there are between fields.
            Layout::Pretty => {
                let parts = pending.split(|&byte| byte == b'\n');
                lines.extend(parts.flat_map(<[u8]>::trim_ascii));
            }
            Layout::Verbose => lines.extend_from_slice(&verbose(&pending)),
        }
        lines.extend(std::iter::repeat_n(b'\n', count));
    }
}

/// A record of `-o verbose` as `-o json` writes it; what has no heading stays as it is.
fn verbose(record: &[u8]) -> Vec<u8> {
    let mut lines = record.split(|&byte| byte == b'\n');
    let first = lines.next().unwrap_or_default();
    let Some(micros) = heading(first.trim_ascii_end()) else {
        return first.to_vec();
    };
    let mut fields: Vec<(Cow<'_, str>, String)> =
        vec![(Cow::Borrowed("__REALTIME_TIMESTAMP"), micros.to_string())];
    for line in lines.filter(|line| !line.is_empty()) {
        match field(line) {
            Some((name, value)) => fields.push((name, value.into_owned())),
            // Further lines of a text stand below its first.
            None => {
                if let Some((_, value)) = fields.last_mut() {
                    value.push('\n');
                    value.push_str(&String::from_utf8_lossy(line.trim_ascii()));
                }
            }
        }
    }
    let object: Map<String, Value> = fields
        .into_iter()
        .rev()
        .map(|(name, value)| (name.into_owned(), Value::String(value)))
        .collect();
    Value::Object(object).to_string().into_bytes()
}

struct Rewritten {
    /// `None` until the first lines say in which layout they are.
    records: Option<Records>,
    /// The number of the line after the last one.
    next: u64,
    limit: usize,
    inner: unit_log::UnitLog,
}

impl TextReader for Rewritten {
    fn lines(&mut self, lines: &[u8], first: u64, found: &mut FormatOutput) {
        let records = self
            .records
            .get_or_insert_with(|| Records::new(Layout::begun_by(lines)));
        let first = first.saturating_sub(records.lines as u64);
        let rewritten = records.rewrite(lines);
        self.next = first + memchr::memchr_iter(b'\n', &rewritten).count() as u64;
        if records.pending.len() > self.limit {
            let why = format!("a journal record of more than {} bytes", self.limit);
            found.rejected.push((first, why));
            records.pending.clear();
            records.lines = 0;
        }
        self.inner.lines(&rewritten, first, found);
    }

    fn finish(&mut self, found: &mut FormatOutput) {
        if let Some(records) = self.records.as_mut().filter(|records| records.lines > 0) {
            let mut last = Vec::new();
            records.finish(&mut last);
            self.inner.lines(&last, self.next, found);
        }
        self.inner.finish(found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Event;
    use crate::observation::Observation;

    const XID: &str = "NVRM: Xid (PCI:0000:9b:00): 79, pid=4711, GPU has fallen off the bus.";

    fn pretty(micros: i64, message: &str) -> String {
        format!(
            "{{\n\t\"__REALTIME_TIMESTAMP\" : \"{micros}\",\n\t\"_HOSTNAME\" : \"gpu-7\",\n\t\"_TRANSPORT\" : \"kernel\",\n\t\"MESSAGE\" : \"{message}\"\n}}\n"
        )
    }

    fn verbose(micros: i64, zone: &str, message: &str) -> String {
        format!(
            "Sat 2026-11-21 15:20:27.123456 {zone} [s=1f;i=2;b=3;m=4;t={micros:x};x=5]\n    _HOSTNAME=gpu-7\n    _TRANSPORT=kernel\n    MESSAGE={message}\n"
        )
    }

    /// The facts of a file that comes in blocks of `lines` lines.
    fn facts(text: &str, lines: usize) -> Vec<Event> {
        let source = Arc::new(LogSource::default());
        let mut reader = reader(&source, &Options::default());
        let mut found = FormatOutput::default();
        let all: Vec<&str> = text.split_inclusive('\n').collect();
        let mut first = 1;
        for block in all.chunks(lines) {
            reader.lines(block.concat().as_bytes(), first, &mut found);
            first += block.len() as u64;
        }
        reader.finish(&mut found);
        assert_eq!(found.rejected, []);
        let events = found.observations.into_iter().filter_map(|one| match one {
            Observation::Event(event) => Some(*event),
            _ => None,
        });
        events.filter(|event| event.raw.contains("Xid")).collect()
    }

    fn is(text: &str) -> bool {
        is_journal(&FileHead {
            bytes: text.as_bytes(),
            text,
        })
    }

    #[test]
    fn records_of_many_lines_are_the_facts_of_their_times_and_lines() {
        const MICROS: i64 = 1_795_274_427_123_456;
        let files = [
            (pretty(MICROS, "ordinary") + &pretty(MICROS, XID), 7),
            (
                verbose(MICROS, "UTC", "ordinary") + &verbose(MICROS, "UTC", XID),
                5,
            ),
            (
                verbose(MICROS, "CET", "ordinary") + &verbose(MICROS, "CET", XID),
                5,
            ),
            // A cursor of another age: the date counts.
            (
                verbose(1, "UTC", "two\n        lines") + &verbose(1, "UTC", XID),
                6,
            ),
        ];
        for (text, line) in files {
            assert!(is(&text), "{text}");
            for lines in [1, 3, 100] {
                let facts = facts(&text, lines);
                assert_eq!(facts.len(), 1, "{lines} of {text}");
                assert_eq!(facts[0].attribute("xid"), Some("79"));
                assert_eq!(facts[0].entities.node.as_deref(), Some("gpu-7"));
                assert_eq!(
                    facts[0].time,
                    Stamp::parse("2026-11-21T15:20:27.123456Z").unwrap()
                );
                assert_eq!(facts[0].origin.line, line, "{lines} of {text}");
            }
        }
    }

    #[test]
    fn other_texts_are_none() {
        for text in [
            "",
            "{\n  \"kind\": \"Pod\"\n}\n",
            "{\"__REALTIME_TIMESTAMP\":\"1\"}\n",
            "Sat 2026-11-21 15:20:27 UTC gpu-7 kernel: x\n    A=b\n",
            "Name: x\n    A=b\n",
        ] {
            assert!(!is(text), "{text}");
        }
    }
}
