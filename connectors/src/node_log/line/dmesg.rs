//! What `dmesg` prints, and what the kernel puts before its own text.

use super::tagged::tagged_parts;
use super::{HostLine, LineTime};
use crate::logs::clock::{self, Clock};
use crate::time::{Nanos, SECOND};

/// `[ 12345.678901] text`, `[Sat Nov 21 15:20:27 2026] text`, perhaps with a
/// caller (`[ T1946]`), perhaps a journal's `host program: text`.
pub(super) fn dmesg(line: &str) -> Option<HostLine> {
    let (inside, rest) = line.strip_prefix('[')?.split_once(']')?;
    let inside = inside.trim();
    let when = match uptime(inside) {
        Some((nanos, width)) => LineTime::Uptime { nanos, width },
        None => match clock::leading(&line[..line.len() - rest.len()])? {
            (clock @ Clock::NoZone(_), end) if line.as_bytes().get(end) == Some(&b']') => {
                // Day and month first, for other programs put brackets around dates too.
                if !inside.starts_with(|c: char| c.is_ascii_alphabetic()) {
                    return None;
                }
                LineTime::Clock(clock)
            }
            _ => return None,
        },
    };
    let rest = rest.strip_prefix(' ').unwrap_or(rest);
    let rest = without_caller(rest);
    let line = HostLine::new(when, rest);
    let parts = tagged_parts(rest).filter(|parts| {
        let program = parts.program.unwrap_or_default();
        match parts.host {
            Some(_) => program == "kernel" || parts.pid.is_some(),
            // Lines of others in the kernel's log; a process that the kernel
            // speaks of is written the same way.
            None => program.starts_with("systemd"),
        }
    });
    Some(match parts {
        Some(parts) => line.by(parts),
        None => HostLine {
            program: Some("kernel".to_owned()),
            ..line
        },
    })
}

fn without_caller(text: &str) -> &str {
    let caller = text.strip_prefix('[').and_then(|rest| {
        let (inside, rest) = rest.split_once(']')?;
        let inside = inside.trim_start();
        let number = inside.strip_prefix(['T', 'C'])?;
        (!number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())).then_some(rest)
    });
    caller.map_or(text, str::trim_start)
}

/// `12345.678901`
fn uptime(text: &str) -> Option<(Nanos, Nanos)> {
    let (whole, fraction) = text.split_once('.')?;
    if fraction.is_empty() || fraction.len() > 9 || !fraction.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let whole: i64 = whole.parse().ok()?;
    let width = 10_i64.pow(9 - u32::try_from(fraction.len()).ok()?);
    let nanos = fraction.parse::<i64>().ok()?.checked_mul(width)?;
    (0..=i64::MAX / SECOND / 2)
        .contains(&whole)
        .then(|| (whole * SECOND + nanos, width))
}

/// A kernel's line without any time, as people paste it.
pub(super) fn bare(line: &str, decoded: bool) -> Option<HostLine> {
    let rest = line.strip_prefix("kernel: ");
    let known = ["NVRM: ", "nvidia-nvswitch", "[...] NVRM: "];
    if rest.is_none() && !decoded && !known.iter().any(|start| line.starts_with(start)) {
        return None;
    }
    let message = rest.unwrap_or(line);
    Some(HostLine {
        program: Some("kernel".to_owned()),
        ..HostLine::new(LineTime::Absent, message)
    })
}

/// The kernel's own time before its text says nothing where the log has one.
pub(super) fn strip_uptime(line: &mut HostLine) {
    let Some((inside, rest)) = line
        .message
        .strip_prefix('[')
        .and_then(|rest| rest.split_once(']'))
    else {
        return;
    };
    let Some((nanos, width)) = uptime(inside.trim()) else {
        return;
    };
    if line.when == LineTime::Absent {
        line.when = LineTime::Uptime { nanos, width };
    }
    line.message = without_caller(rest.trim_start()).to_owned();
}
