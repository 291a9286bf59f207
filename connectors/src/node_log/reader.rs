//! A host's log, block by block.

use std::sync::Arc;

use super::bursts::Bursts;
use super::emit::Emitter;
use super::filter;
use super::layout;
use super::line::{self, HostLine, LineTime};
use super::nvidia::{self, Gpus};
use super::place::{LogClock, PlacedTime, SequencedTime};
use super::{boot, memory_group, subject};
use crate::contract::{FormatOutput, TextReader};
use crate::logs::LogSource;
use crate::observation::Observation;
use crate::slurm;
use crate::time::Nanos;

/// Lines that wait for one that says what year it is, or when the machine started.
const MAX_HELD: usize = 20_000;

/// How much of the block before is kept to look back at what ended a boot.
const TAIL: usize = 16 << 10;

/// Takes a line apart; `None` where it is no line of such a log.
pub(super) type Parse = fn(&str) -> Result<Option<HostLine>, String>;

/// The lines of one host's log, or of several in one file.
#[derive(Debug)]
pub(super) struct HostLog {
    parse: Parse,
    /// The time of the last line that has one.
    last: Option<SequencedTime>,
    clockwork: LogClock,
    gpus: Gpus,
    emitter: Emitter,
    bursts: Bursts,
    held: Vec<PendingLine>,
    tail: Vec<u8>,
    /// The number of the last line, where that was not kept.
    unfinished: Option<u64>,
    /// Whose lines were heard last that are not the machine's own.
    machine: Option<String>,
    /// Whether the lines come one by one, so that the last of them is none of a log.
    is_received: bool,
}

/// A line that cannot be placed yet.
#[derive(Debug)]
struct PendingLine {
    line: HostLine,
    turned: SequencedTime,
    raw: String,
    number: u64,
    boot: Option<boot::BootCause>,
}

impl HostLog {
    pub(super) fn new(source: &Arc<LogSource>, parse: Parse) -> Self {
        let host = layout::machine(source);
        Self {
            parse,
            last: None,
            clockwork: LogClock::default(),
            gpus: Gpus::default(),
            emitter: Emitter::new(Arc::clone(&source.file), source.identity(), host),
            bursts: Bursts::default(),
            held: Vec::new(),
            tail: Vec::new(),
            unfinished: None,
            machine: None,
            is_received: false,
        }
    }

    /// The lines were received at `now`, as they were said.
    pub(super) fn received(&mut self, now: Nanos) {
        self.is_received = true;
        self.clockwork.received(now);
    }

    /// The machine that the log said last that it is of.
    pub(super) fn host(&self) -> Option<&str> {
        self.machine.as_deref()
    }

    /// Learns from some lines of which year the log is.
    pub(super) fn look_for_year(&mut self, lines: &[u8]) {
        if self.clockwork.wants_year() && !lines.starts_with(b"{") {
            self.learn_year(lines);
        }
    }

    /// Takes notice of a line that is none of the machine's; says when it was.
    pub(super) fn hear(&mut self, line: &HostLine, found: &mut FormatOutput) -> PlacedTime {
        if self.clockwork.learn(line) {
            self.release(found);
        }
        if line.host.is_some() && self.machine != line.host {
            self.machine.clone_from(&line.host);
        }
        let turned = self.clockwork.turned(line.when);
        if line.when != LineTime::Absent {
            self.last = Some(turned);
        }
        self.clockwork.place(turned)
    }

    /// Reads one line; whether it means something.
    pub(super) fn line(
        &mut self,
        raw: &[u8],
        before: &[u8],
        number: u64,
        found: &mut FormatOutput,
    ) -> bool {
        let text = String::from_utf8_lossy(raw);
        found.lossy += u64::from(matches!(text, std::borrow::Cow::Owned(_)));
        if text.starts_with("-- ") {
            if self.clockwork.heading(&text) {
                self.release(found);
            }
            return false;
        }
        let parsed = match (self.parse)(&text) {
            Ok(parsed) => parsed,
            Err(why) => {
                found.records -= 1;
                found.rejected.push((number, why));
                return true;
            }
        };
        let Some(parsed) = parsed else {
            return false;
        };
        self.parsed(parsed, &text, before, number, found)
    }

    /// Takes a line that is taken apart; whether it means something.
    pub(super) fn parsed(
        &mut self,
        line: HostLine,
        raw: &str,
        before: &[u8],
        number: u64,
        found: &mut FormatOutput,
    ) -> bool {
        let starts = boot::starts(&line);
        if starts {
            // Uptimes before this line are of a machine that ran before.
            if matches!(line.when, LineTime::Uptime { .. }) && !self.held.is_empty() {
                self.give_up(found);
            }
            self.clockwork.restart();
        }
        if self.clockwork.learn(&line) {
            self.release(found);
        }
        if line.when != LineTime::Absent {
            self.last = Some(self.clockwork.turned(line.when));
        }
        if let Some(host) = subject::here(&line.message) {
            self.emitter.on(host);
        }
        if !filter::may_be_evidence(&line.message) && !slurm::says(line.program.as_deref()) {
            return false;
        }
        let boot = starts.then(|| boot::before(&self.tail, before, self.parse));
        let turned = match (line.when, self.last) {
            (LineTime::Absent, Some(last)) => last.after(),
            (when, _) => self.clockwork.turned(when),
        };
        let held = PendingLine {
            line,
            turned,
            raw: raw.to_owned(),
            number,
            boot,
        };
        let waits = self.clockwork.place(turned).stamp.is_none() && !turned.has_no_time();
        if waits && self.held.len() < MAX_HELD {
            self.held.push(held);
            return true;
        }
        self.emit(held, &mut found.observations)
    }

    /// Tells lines that can be placed by now.
    fn release(&mut self, found: &mut FormatOutput) {
        for held in std::mem::take(&mut self.held) {
            if self.clockwork.place(held.turned).stamp.is_some() {
                self.emit(held, &mut found.observations);
            } else {
                self.held.push(held);
            }
        }
    }

    /// Tells lines that will never be placed.
    pub(super) fn give_up(&mut self, found: &mut FormatOutput) {
        for held in std::mem::take(&mut self.held) {
            self.emit(held, &mut found.observations);
        }
    }

    fn emit(&mut self, held: PendingLine, out: &mut Vec<Observation>) -> bool {
        let placed = self.clockwork.place(held.turned);
        let moment: Option<Nanos> = match (placed.stamp, held.line.when) {
            (Some(stamp), _) => Some(stamp.lo),
            (None, LineTime::Uptime { nanos, .. }) => Some(nanos),
            _ => None,
        };
        let of_kernel = held.line.of_kernel();
        let only_places = nvidia::only_places(&held.line.message);
        let mut event = self.emitter.emit(held.line, placed, &held.raw, held.number);
        if of_kernel {
            self.gpus.note(&mut event, moment);
        }
        memory_group::note(&mut event, of_kernel);
        if only_places {
            return false;
        }
        subject::note(&mut event);
        if let Some(before) = held.boot {
            event.set_attribute("shutdown_before", before.word());
        }
        if slurm::says(event.attribute("program")) {
            let emitted = slurm::daemon(&event);
            let any = !emitted.is_empty();
            for event in emitted {
                self.bursts.push(event, out);
            }
            return any;
        }
        self.bursts.push(event, out);
        true
    }

    pub(super) fn end(&mut self, found: &mut FormatOutput) {
        self.give_up(found);
        self.bursts.finish(&mut found.observations);
    }
}

impl TextReader for HostLog {
    fn lines(&mut self, lines: &[u8], first: u64, found: &mut FormatOutput) {
        let all = lines
            .split(|&b| b == b'\n')
            .filter(|line| !line.trim_ascii().is_empty())
            .count() as u64;
        found.records += all;
        let mut evidence = 0;
        self.look_for_year(lines);
        let (mut at, mut number, mut counted) = (0, first, 0);
        let mut kept = 0;
        while let Some(hit) = filter::next(lines, at) {
            let start = memchr::memrchr(b'\n', &lines[..hit]).map_or(0, |end| end + 1);
            let end = memchr::memchr(b'\n', &lines[hit..]).map_or(lines.len(), |end| hit + end);
            number += memchr::memchr_iter(b'\n', &lines[counted..start]).count() as u64;
            counted = start;
            let raw = lines[start..end].trim_ascii_end();
            let is_evidence = self.line(raw, &lines[..start], number, found);
            evidence += u64::from(is_evidence);
            if is_evidence {
                kept = end;
            }
            at = end;
        }
        let rest = lines.get(kept..).unwrap_or_default();
        self.unfinished = (!rest.trim_ascii().is_empty()).then(|| {
            let rest = lines.get(counted..).unwrap_or_default().trim_ascii_end();
            number + memchr::memchr_iter(b'\n', rest).count() as u64
        });
        found.irrelevant += all.saturating_sub(evidence);
        self.tail.clear();
        let from = lines.len().saturating_sub(TAIL);
        self.tail.extend_from_slice(&lines[from..]);
    }

    fn finish(&mut self, found: &mut FormatOutput) {
        self.last_line(found);
        self.end(found);
    }
}

impl HostLog {
    /// Keeps the last line of a log whatever it says: until then its machine was there and wrote.
    fn last_line(&mut self, found: &mut FormatOutput) {
        let Some(number) = self.unfinished.take().filter(|_| !self.is_received) else {
            return;
        };
        let tail = self.tail.trim_ascii_end();
        let start = memchr::memrchr(b'\n', tail).map_or(0, |end| end + 1);
        let text = String::from_utf8_lossy(tail.get(start..).unwrap_or_default()).into_owned();
        let Ok(Some(line)) = (self.parse)(&text) else {
            return;
        };
        let is_dated = !matches!(line.when, LineTime::Absent);
        if !is_dated
            || filter::may_be_evidence(&line.message)
            || slurm::says(line.program.as_deref())
        {
            return;
        }
        let turned = self.clockwork.turned(line.when);
        if self.clockwork.place(turned).stamp.is_none() {
            return;
        }
        let held = PendingLine {
            line,
            turned,
            raw: text,
            number,
            boot: None,
        };
        if self.emit(held, &mut found.observations) {
            found.irrelevant = found.irrelevant.saturating_sub(1);
        }
    }

    /// Some line of a log without years mostly holds a whole date.
    fn learn_year(&mut self, lines: &[u8]) {
        // Each line once, however many dates it holds.
        let mut from = 0;
        while let Some(found) = memchr::memmem::find(&lines[from..], b"20") {
            let at = from + found;
            from = at + 2;
            let shaped = lines.get(at + 4) == Some(&b'-') && lines.get(at + 7) == Some(&b'-');
            if !shaped {
                continue;
            }
            let start = memchr::memrchr(b'\n', &lines[..at]).map_or(0, |end| end + 1);
            let end = memchr::memchr(b'\n', &lines[at..]).map_or(lines.len(), |end| at + end);
            from = end;
            let text = String::from_utf8_lossy(&lines[start..end]);
            if let Some(line) = line::parse(&text)
                && matches!(
                    line.when,
                    LineTime::Clock(crate::logs::clock::Clock::NoYear { .. })
                )
            {
                self.clockwork.learn_year_only(&line);
                if !self.clockwork.wants_year() {
                    return;
                }
            }
        }
    }
}
