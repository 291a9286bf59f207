//! The journal of one service, as `journalctl -u train` prints it: the lines of the service are a program's log, what systemd
//! says of it is its life, and what the kernel says stays the machine's.

use std::sync::Arc;

use super::filter;
use super::journal;
use super::line::{self, HostLine, LineTime};
use super::place::PlacedTime;
use super::reader::{HostLog, Parse};
use super::service::{self, Speaker};
use super::unit_survey::{self, Programs};
use crate::contract::{FileHead, FormatOutput, Options, TextReader, numbered};
use crate::logs::clock::Clock;
use crate::logs::{LogSource, LogStream};

/// Whether a file begins as such a journal in text.
pub(super) fn is_text(head: &FileHead<'_>) -> bool {
    is(head, |text| Ok(line::parse(text)))
}

/// Whether a file begins as such a journal in JSON.
pub(super) fn is_json(head: &FileHead<'_>) -> bool {
    super::sniff::is_journal_json(head) && is(head, |text| journal::json(text).map(Some))
}

fn is(head: &FileHead<'_>, parse: Parse) -> bool {
    // Most of the lines have the form.
    let (mut all, mut lines) = (0, Vec::new());
    for text in head.lines(unit_survey::LINES) {
        if !text.starts_with("-- ") {
            all += 1;
            lines.extend(parse(text).ok().flatten());
        }
    }
    let is_host = |line: &&HostLine| line.host.is_some();
    // A file's name, which is not known here, may tell more than these lines do.
    lines.iter().filter(is_host).count() * 10 >= all * 8
        && unit_survey::programs(lines.iter(), "").is_some()
}

/// Reads such a journal.
pub(super) struct UnitLog {
    parse: Parse,
    machine: HostLog,
    program: LogStream,
    file: String,
    /// Whose lines are the program's; `None` until some were looked at, or where nobody's are.
    programs: Option<Programs>,
    is_surveyed: bool,
}

impl UnitLog {
    pub(super) fn text(source: &Arc<LogSource>, options: &Options) -> Self {
        Self::new(source, options, |text| Ok(line::parse(text)))
    }

    pub(super) fn json(source: &Arc<LogSource>, options: &Options) -> Self {
        Self::new(source, options, |text| journal::json(text).map(Some))
    }

    pub(super) fn new(source: &Arc<LogSource>, options: &Options, parse: Parse) -> Self {
        let stream = LogStream::new(
            Arc::clone(source),
            options.log_lines,
            options.max_line_bytes,
        );
        Self {
            parse,
            machine: HostLog::new(source, parse),
            program: stream,
            file: source.file_stem.clone().unwrap_or_default(),
            programs: None,
            is_surveyed: false,
        }
    }

    fn survey(&mut self, lines: &[u8]) {
        self.is_surveyed = true;
        let texts = lines.split(|&byte| byte == b'\n');
        let parsed: Vec<HostLine> = texts
            .filter(|text| !text.is_empty())
            .take(unit_survey::LINES)
            .filter_map(|text| (self.parse)(&String::from_utf8_lossy(text)).ok().flatten())
            .collect();
        self.programs = unit_survey::programs(parsed.iter(), &self.file);
    }
}

impl TextReader for UnitLog {
    fn lines(&mut self, lines: &[u8], first: u64, found: &mut FormatOutput) {
        if !self.is_surveyed {
            self.survey(lines);
        }
        let Some(programs) = &self.programs else {
            return self.machine.lines(lines, first, found);
        };
        self.machine.look_for_year(lines);
        let mut before = 0;
        for (number, raw) in numbered(lines, first) {
            let start = before;
            before += raw.len() + 1;
            if raw.trim_ascii().is_empty() {
                continue;
            }
            found.records += 1;
            let text = String::from_utf8_lossy(raw);
            let host_line = (self.parse)(&text).ok().flatten();
            let Some(host_line) =
                host_line.filter(|host_line| programs.hold(Speaker::of(host_line)))
            else {
                let is_read = text.starts_with("-- ") || filter::next(raw, 0).is_some();
                let earlier = lines.get(..start).unwrap_or_default();
                let is_significant = is_read && self.machine.line(raw, earlier, number, found);
                found.irrelevant += u64::from(!is_significant);
                continue;
            };
            found.lossy += u64::from(matches!(text, std::borrow::Cow::Owned(_)));
            let placed = self.machine.hear(&host_line, found);
            let clock = clock(&host_line, placed);
            let from = found.observations.len();
            self.program.journalled(
                &host_line.message,
                (clock, host_line.pid.as_deref().unwrap_or_default()),
                (&text, number),
                &mut found.observations,
            );
            let machine = host_line.host.as_deref();
            service::sign(
                &mut found.observations,
                from,
                programs.unit.as_deref(),
                machine,
            );
        }
    }

    fn finish(&mut self, found: &mut FormatOutput) {
        let Some(programs) = &self.programs else {
            return self.machine.finish(found);
        };
        let from = found.observations.len();
        self.program.finish(&mut found.observations);
        found.left_out += self.program.left_out();
        service::sign(
            &mut found.observations,
            from,
            programs.unit.as_deref(),
            self.machine.host(),
        );
        self.machine.end(found);
    }
}

/// The time of a line as the program's log takes it: one whose zone or year was only inferred is marked there.
fn clock(host_line: &HostLine, placed: PlacedTime) -> Option<Clock> {
    match (placed.stamp, placed.inferred, host_line.when) {
        (Some(stamp), None | Some("anchor"), _) => Some(Clock::Full(stamp)),
        (Some(stamp), Some(_), _) => Some(Clock::NoZone(stamp)),
        (None, _, LineTime::Clock(clock)) => Some(clock),
        (None, ..) => None,
    }
}
