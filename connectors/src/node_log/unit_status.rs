//! What `systemctl status train` prints: how a service is or ended and when, and the last lines of its journal.

use std::sync::Arc;

use chrono::{DateTime, Datelike as _};

use super::emit::Emitter;
use super::filter;
use super::layout;
use super::line::{self, HostLine, LineTime};
use super::place::PlacedTime;
use super::service::{self, Speaker};
use super::zone;
use crate::contract::{FileHead, FormatOutput, Options, TextReader, numbered};
use crate::event::Event;
use crate::logs::clock::{self, Clock};
use crate::logs::{LogSource, LogStream};
use crate::observation::Observation;
use crate::time::{Nanos, Stamp};

/// Marks before the name of a unit, by its state.
const MARKS: [char; 6] = ['●', '○', '◌', '×', '↻', '*'];

/// Whether a file begins as such text.
pub(super) fn is(head: &FileHead<'_>) -> bool {
    let mut lines = head.lines(40).skip_while(|text| heading(text).is_none());
    lines.next().is_some()
        && lines
            .next()
            .is_some_and(|text| field(text, "Loaded").is_some())
}

/// `● train.service - LLM training`: the service without its ending.
fn heading(text: &str) -> Option<&str> {
    let text = text.trim_start_matches(' ');
    let word = text.strip_prefix(MARKS).unwrap_or(text).trim_start();
    word.split(' ').next()?.strip_suffix(".service")
}

/// The value of a line of the upper part.
fn field<'l>(text: &'l str, name: &str) -> Option<&'l str> {
    text.trim_start().strip_prefix(name)?.strip_prefix(": ")
}

/// What the upper part says of one service.
#[derive(Debug, Default)]
struct Status {
    unit: String,
    line: u64,
    /// `failed (Result: oom-kill)`
    active: String,
    raw: String,
    since: Option<Stamp>,
    /// What the zone is ahead of UTC, where it is named by a name that only it has.
    ahead: Option<Nanos>,
    pid: Option<String>,
    /// `code=killed, signal=KILL`
    ended: Option<String>,
}

/// Reads such text.
pub(super) struct UnitStatus {
    source: Arc<LogSource>,
    options: (crate::contract::LogLines, usize),
    emitter: Emitter,
    status: Option<Status>,
    /// The program's lines of the service at hand.
    program: Option<LogStream>,
    host: Option<String>,
}

impl UnitStatus {
    pub(super) fn new(source: &Arc<LogSource>, options: &Options) -> Self {
        let host = layout::machine(source);
        Self {
            source: Arc::clone(source),
            options: (options.log_lines, options.max_line_bytes),
            emitter: Emitter::new(Arc::clone(&source.file), source.identity(), host.clone()),
            status: None,
            program: None,
            host,
        }
    }

    /// Ends what was said of one service.
    fn end(&mut self, found: &mut FormatOutput) {
        let Some(status) = self.status.take() else {
            return;
        };
        if let Some(mut program) = self.program.take() {
            let from = found.observations.len();
            program.finish(&mut found.observations);
            found.left_out += program.left_out();
            self.sign(&status, from, found);
        }
        self.emit(&status, found);
    }

    /// Tells how the service is. The machine is known from the lines of its journal, so that this comes last.
    fn emit(&mut self, status: &Status, found: &mut FormatOutput) {
        let (Some(stamp), false) = (status.since, status.active.is_empty()) else {
            return;
        };
        let ended = status.ended.as_deref();
        let process = status.pid.as_deref().map(|pid| match ended {
            Some(ended) => format!(", Main PID: {pid} ({ended})"),
            None => format!(", Main PID: {pid}"),
        });
        let message = format!(
            "{}.service: Active: {}{}",
            status.unit,
            status.active,
            process.unwrap_or_default()
        );
        let host_line = HostLine {
            program: Some("systemctl".to_owned()),
            host: self.host.clone(),
            ..HostLine::new(LineTime::Clock(Clock::Full(stamp)), &message)
        };
        let placed = PlacedTime {
            stamp: Some(stamp),
            inferred: status.ahead.is_none().then_some("zone"),
            ahead: status.ahead.filter(|ahead| *ahead != 0),
        };
        let mut event = self
            .emitter
            .emit(host_line, placed, status.raw.trim_end(), status.line);
        event.set_attribute("unit", Some(status.unit.as_str()));
        set_end(&mut event, ended);
        found.observations.push(Observation::Event(Box::new(event)));
    }

    fn sign(&self, status: &Status, from: usize, found: &mut FormatOutput) {
        let unit = Some(status.unit.as_str());
        service::sign(&mut found.observations, from, unit, self.host.as_deref());
    }

    /// Takes a line of the upper part; whether it was one.
    fn upper(&mut self, text: &str, number: u64) -> bool {
        let Some(status) = self.status.as_mut() else {
            return false;
        };
        if let Some(active) = field(text, "Active") {
            let (state, since) = active.split_once(" since ").unwrap_or((active, ""));
            state.clone_into(&mut status.active);
            status.line = number;
            if let Some((stamp, ahead)) = since.get(4..).and_then(dated) {
                status.since = Some(stamp);
                status.ahead = ahead;
            }
        } else if let Some(main) = field(text, "Main PID") {
            let pid = main.split(' ').next().unwrap_or_default();
            status.pid = Some(pid.to_owned());
            let result = main
                .split_once('(')
                .and_then(|(_, rest)| rest.split_once(')'));
            status.ended = result
                .map(|(result, _)| result.to_owned())
                .filter(|result| result.starts_with("code="));
        } else {
            return false;
        }
        status.raw.push_str(text.trim());
        status.raw.push('\n');
        true
    }

    /// Takes a line of the journal below; whether it was one that means something.
    fn lower(&mut self, text: &str, number: u64, found: &mut FormatOutput) -> bool {
        let Some(mut host_line) = line::parse(text).filter(|host_line| host_line.host.is_some())
        else {
            return false;
        };
        let Some(status) = &self.status else {
            return false;
        };
        self.host.clone_from(&host_line.host);
        let LineTime::Clock(written) = host_line.when else {
            return false;
        };
        let placed = place(written, status);
        if matches!(Speaker::of(&host_line), Speaker::Program(..)) {
            let (lines, limit) = self.options;
            let program = self
                .program
                .get_or_insert_with(|| LogStream::new(Arc::clone(&self.source), lines, limit));
            let clock = match placed {
                PlacedTime {
                    stamp: Some(stamp),
                    inferred: None,
                    ..
                } => Clock::Full(stamp),
                PlacedTime {
                    stamp: Some(stamp), ..
                } => Clock::NoZone(stamp),
                PlacedTime { stamp: None, .. } => written,
            };
            let from = found.observations.len();
            program.journalled(
                &host_line.message,
                (Some(clock), host_line.pid.as_deref().unwrap_or_default()),
                (text, number),
                &mut found.observations,
            );
            if let Some(status) = &self.status {
                self.sign(status, from, found);
            }
            return true;
        }
        if !filter::may_be_evidence(&host_line.message) {
            return false;
        }
        host_line.unit = None;
        let event = self.emitter.emit(host_line, placed, text, number);
        found.observations.push(Observation::Event(Box::new(event)));
        true
    }
}

/// `2026-11-28 10:00:01 CET; 3min ago`: when that was, and what its zone is ahead of UTC where that is known. What it was ago is
/// told from when somebody looked, which nobody wrote down.
fn dated(text: &str) -> Option<(Stamp, Option<Nanos>)> {
    match clock::leading(text)? {
        (Clock::Full(stamp), _) => Some((stamp, Some(0))),
        (Clock::NoZone(stamp), end) => {
            let ahead = zone::leading(text.get(end..)?).and_then(|(ahead, _)| ahead);
            Some((stamp.shift(-ahead.unwrap_or(0)), ahead))
        }
        (Clock::NoYear { .. }, _) => None,
    }
}

/// A line of the journal below is of the year and the zone of the state's own time.
fn place(clock: Clock, status: &Status) -> PlacedTime {
    let inferred = status.ahead.is_none().then_some("zone");
    let ahead = status.ahead.unwrap_or(0);
    let near = |since: Stamp| {
        let year = DateTime::from_timestamp_nanos(since.lo.saturating_add(ahead)).year();
        let Clock::NoYear {
            month,
            day,
            nanos,
            width,
        } = clock
        else {
            return None;
        };
        (year - 1..=year + 1)
            .filter_map(|year| clock::in_year(year, month, day, nanos, width))
            .map(|stamp| stamp.shift(-ahead))
            .min_by_key(|stamp| stamp.lo.abs_diff(since.lo))
    };
    let (stamp, inferred) = match clock {
        Clock::Full(stamp) => (Some(stamp), None),
        Clock::NoZone(stamp) => (Some(stamp.shift(-ahead)), inferred),
        Clock::NoYear { .. } => (status.since.and_then(near), inferred),
    };
    PlacedTime {
        stamp,
        inferred,
        ahead: status.ahead.filter(|ahead| *ahead != 0),
    }
}

/// Notes how the main process ended, as the kernel's number of a signal or the program's own.
fn set_end(event: &mut Event, ended: Option<&str>) {
    const SIGNALS: [(&str, u32); 14] = [
        ("HUP", 1),
        ("INT", 2),
        ("QUIT", 3),
        ("ILL", 4),
        ("TRAP", 5),
        ("ABRT", 6),
        ("BUS", 7),
        ("FPE", 8),
        ("KILL", 9),
        ("USR1", 10),
        ("SEGV", 11),
        ("PIPE", 13),
        ("ALRM", 14),
        ("TERM", 15),
    ];
    let Some((how, rest)) = ended
        .and_then(|ended| ended.strip_prefix("code="))
        .and_then(|ended| ended.split_once(", "))
    else {
        return;
    };
    let status = match rest.split_once('=') {
        Some(("status", status)) => status.split('/').next().and_then(|one| one.parse().ok()),
        Some(("signal", name)) => SIGNALS
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, one)| *one),
        _ => None,
    };
    event.set_attribute("how", Some(how));
    event.set_attribute("status", status.map(|status| status.to_string()));
}

impl TextReader for UnitStatus {
    fn lines(&mut self, lines: &[u8], first: u64, found: &mut FormatOutput) {
        for (number, raw) in numbered(lines, first) {
            if raw.trim_ascii().is_empty() {
                continue;
            }
            found.records += 1;
            let text = String::from_utf8_lossy(raw);
            found.lossy += u64::from(matches!(text, std::borrow::Cow::Owned(_)));
            if let Some(unit) = heading(&text).filter(|_| !text.starts_with("    ")) {
                self.end(found);
                self.status = Some(Status {
                    unit: unit.to_owned(),
                    raw: format!("{}\n", text.trim()),
                    ..Status::default()
                });
                continue;
            }
            let is_known = self.upper(&text, number) || self.lower(&text, number, found);
            found.irrelevant += u64::from(!is_known);
        }
    }

    fn finish(&mut self, found: &mut FormatOutput) {
        self.end(found);
    }
}

#[cfg(test)]
mod tests;
