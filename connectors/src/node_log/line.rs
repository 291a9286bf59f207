//! One line of a host's log, out of what stands before its text.
//!
//! syslog (RFC 3164 and 5424), what `journalctl` prints in its `short` forms,
//! and what `dmesg` prints with and without `-T`, `-x` and `--time-format`.

mod dmesg;
mod priority;
mod rfc5424;
mod stamped;
mod tagged;

use dmesg::{bare, dmesg, strip_uptime};
use priority::{decoded_levels, priority, with_priority};
use rfc5424::rfc5424;
use stamped::{stamped, supercomputer};
use tagged::LineParts;

pub(super) use priority::{facility, severity};
pub(super) use stamped::is_supercomputer;

use crate::logs::clock::Clock;
use crate::time::Nanos;

/// When a line was said, as far as it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineTime {
    /// As it is written.
    Clock(Clock),
    /// Nanoseconds since the machine started, and how exact they are.
    Uptime { nanos: Nanos, width: Nanos },
    /// Nothing at all.
    Absent,
}

/// What a line says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HostLine {
    pub(super) when: LineTime,
    pub(super) host: Option<String>,
    /// Who said it: `kernel`, `systemd`, `sshd`, …
    pub(super) program: Option<String>,
    pub(super) pid: Option<String>,
    pub(super) unit: Option<String>,
    pub(super) facility: Option<String>,
    pub(super) severity: Option<String>,
    pub(super) boot_id: Option<String>,
    pub(super) message: String,
}

impl HostLine {
    pub(super) fn new(when: LineTime, message: &str) -> Self {
        Self {
            when,
            host: None,
            program: None,
            pid: None,
            unit: None,
            facility: None,
            severity: None,
            boot_id: None,
            message: message.to_owned(),
        }
    }

    fn by(mut self, parts: LineParts<'_>) -> Self {
        self.host = parts.host.map(str::to_owned);
        // `journalctl -o with-unit` prints the unit of who speaks.
        let program = parts.program.map(|program| match program {
            "init.scope" => "systemd",
            _ => program,
        });
        self.program = program.map(str::to_owned);
        self.pid = parts.pid.map(str::to_owned);
        self.message = parts.message.to_owned();
        self
    }

    /// Whether the kernel said it.
    pub(super) fn of_kernel(&self) -> bool {
        self.program.as_deref() == Some("kernel")
    }
}

/// Reads a line; `None` where it is no line of a host's log.
pub(super) fn parse(line: &str) -> Option<HostLine> {
    let line = line.strip_suffix('\r').unwrap_or(line);
    let (priority, line) = priority(line);
    if let (Some(_), Some(rest)) = (priority, line.strip_prefix("1 "))
        && let Some(parsed) = rfc5424(rest)
    {
        return Some(with_priority(parsed, priority));
    }
    let (levels, line) = decoded_levels(line);
    let mut parsed = dmesg(line)
        .or_else(|| stamped(line))
        .or_else(|| supercomputer(line))
        .or_else(|| bare(line, levels.is_some()))?;
    if let Some((facility, severity)) = levels {
        parsed.facility = Some(facility.to_owned());
        parsed.severity = Some(severity.to_owned());
    }
    if parsed.of_kernel() {
        strip_uptime(&mut parsed);
    }
    Some(with_priority(parsed, priority))
}

#[cfg(test)]
mod tests;
