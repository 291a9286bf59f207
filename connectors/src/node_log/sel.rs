//! A machine's own controller: `ipmitool sel list|elist`, as a table or CSV.

use std::sync::Arc;

use chrono::NaiveDateTime;

use super::emit::Emitter;
use super::layout;
use super::line::{HostLine, LineTime};
use super::place::PlacedTime;
use crate::contract::{FileHead, FormatOutput, TextReader, numbered};
use crate::logs::LogSource;
use crate::logs::clock::Clock;
use crate::observation::Observation;
use crate::time::Stamp;

/// What of a row may mean something; the rest are sensors at work.
const SIGNIFICANT: &[&str] = &[
    "Power off",
    "Power cycle",
    "power cycle",
    "hard reset",
    "Uncorrectable",
    "Correctable ECC",
    "Critical Stop",
    "critical stop",
    "Failure",
    "failure",
    "AC lost",
    "input lost",
    "Critical going",
    "Non-recoverable",
    "Throttled",
    "Transition to Critical",
    "Fault",
    "Fatal",
    "IERR",
    "Thermal Trip",
    "Machine Check",
    "Watchdog",
    "In Failed Array",
    "CATERR",
    "MCA_Error",
    "corruption",
    "Configuration Error",
    "FRB",
    "PCI SERR",
    "PCI PERR",
    "Predictive",
    "mismatch",
    "incompatible",
];

/// Rows of an event log.
pub(super) struct EventLogRows {
    emitter: Emitter,
}

impl EventLogRows {
    pub(super) fn new(source: &Arc<LogSource>) -> Self {
        let host = layout::machine(source);
        Self {
            emitter: Emitter::new(Arc::clone(&source.file), source.identity(), host),
        }
    }
}

/// A row's cells: id, date, time, sensor, event, and whether it began or ended.
fn cells(text: &str) -> Option<Vec<&str>> {
    let separator = if text.contains('|') { '|' } else { ',' };
    let cells: Vec<&str> = text.split(separator).map(str::trim).collect();
    let id = cells.first()?;
    let hex = !id.is_empty() && id.len() <= 8 && id.bytes().all(|b| b.is_ascii_hexdigit());
    let dated = cells.get(1).is_some_and(|date| {
        date.starts_with("Pre-Init") || (date.len() >= 8 && date.matches('/').count() == 2)
    });
    (hex && dated && cells.len() >= 4).then_some(cells)
}

/// Whether most lines are such rows.
pub(super) fn is(head: &FileHead<'_>) -> bool {
    let (mut all, mut rows) = (0_u32, 0_u32);
    for text in head.lines(100) {
        if text.starts_with('#') || text.starts_with("---") || text.starts_with("SEL ") {
            continue;
        }
        all += 1;
        rows += u32::from(cells(text).is_some());
    }
    rows > 0 && rows * 10 >= all * 6
}

/// `03/11/2025`, `16:34:51`, perhaps with a zone's letters.
fn time(date: &str, time: &str) -> Option<Stamp> {
    let time = time.split(' ').next().unwrap_or(time);
    let text = format!("{date} {time}");
    let year = date.rsplit('/').next()?.len();
    let form = if year == 2 {
        "%m/%d/%y %H:%M:%S"
    } else {
        "%m/%d/%Y %H:%M:%S"
    };
    let at = NaiveDateTime::parse_from_str(&text, form).ok()?;
    Some(Stamp::second(at.and_utc().timestamp_nanos_opt()?))
}

fn row(text: &str) -> Option<HostLine> {
    // An admin's script says on its own terminal what the controller does not.
    if text.starts_with("Chassis Power Control: ") {
        return Some(HostLine {
            program: Some("ipmitool".to_owned()),
            ..HostLine::new(LineTime::Absent, text)
        });
    }
    let cells = cells(text)?;
    let before_its_clock = cells[1].starts_with("Pre-Init");
    let (when, rest) = if before_its_clock {
        (LineTime::Absent, &cells[2..])
    } else {
        let stamp = time(cells[1], cells[2])?;
        (LineTime::Clock(Clock::NoZone(stamp)), &cells[3..])
    };
    let rest: Vec<&str> = rest
        .iter()
        .copied()
        .filter(|cell| !cell.is_empty())
        .collect();
    let (sensor, values) = rest.split_first()?;
    let message = if values.is_empty() {
        (*sensor).to_owned()
    } else {
        format!("{sensor}: {}", values.join(", "))
    };
    Some(HostLine {
        program: Some("bmc".to_owned()),
        ..HostLine::new(when, &message)
    })
}

impl TextReader for EventLogRows {
    fn lines(&mut self, lines: &[u8], first: u64, found: &mut FormatOutput) {
        for (number, line) in numbered(lines, first) {
            let text = String::from_utf8_lossy(line);
            let text = text.trim();
            if text.is_empty() {
                continue;
            }
            found.records += 1;
            let is_significant = |line: &HostLine| {
                line.program.as_deref() == Some("ipmitool")
                    || SIGNIFICANT.iter().any(|word| line.message.contains(word))
                    || super::filter::names_owner(&line.message)
            };
            let Some(line) = row(text).filter(is_significant) else {
                found.irrelevant += 1;
                continue;
            };
            let placed = match line.when {
                LineTime::Clock(Clock::NoZone(stamp)) => PlacedTime {
                    stamp: Some(stamp),
                    inferred: Some("zone"),
                    ahead: None,
                },
                _ => PlacedTime {
                    stamp: None,
                    inferred: None,
                    ahead: None,
                },
            };
            let event = self.emitter.emit(line, placed, text, number);
            found.observations.push(Observation::Event(Box::new(event)));
        }
    }

    fn finish(&mut self, _found: &mut FormatOutput) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a signal of a controller speaks of is read.
    #[test]
    fn rows_that_signals_speak_of_tell() {
        for row in [
            "Critical Interrupt #0x84 | PCI SERR | Asserted",
            "Critical Interrupt #0x84 | PCI PERR | Asserted",
            "Critical Interrupt #0x84 | Bus Fatal Error | Asserted",
            "Processor CPU_CATERR | State Asserted | Asserted",
            "Processor #0x30 | IERR | Asserted",
            "Processor #0x30 | Configuration Error | Asserted",
            "Processor #0x30 | FRB2/Hang in POST failure | Asserted",
            "System Firmware Error | BIOS corruption detected | Asserted",
            "Unknown NVIDIA_MCA_Error | State Asserted | Asserted",
            "Drive Slot #0x12 | Predictive Failure | Asserted",
            "Processor #0x30 | Throttled | Asserted",
            "Version Change #0x01 | Hardware incompatibility detected, mismatch | Asserted",
        ] {
            let line = format!("1 | 11/21/2026 | 15:20:27 | {row}");
            let found = super::row(&line).unwrap();
            let tells = SIGNIFICANT.iter().any(|word| found.message.contains(word));
            assert!(tells, "{row}");
        }
    }
}
