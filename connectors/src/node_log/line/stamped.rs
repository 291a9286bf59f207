//! A time, a host, a program and its text: syslog as RFC 3164 has it, `journalctl`'s `short` forms,
//! and public logs of large machines.

use super::super::zone;
use super::tagged::tagged_parts;
use super::{HostLine, LineTime};
use crate::logs::clock::{self, Clock};

/// A time, then `host program[pid]: text`.
pub(super) fn stamped(text: &str) -> Option<HostLine> {
    let (clock, rest) = unix(text).or_else(|| {
        // `Sat 2026-11-21 15:20:27 UTC`
        let dated = text
            .get(4..)
            .filter(|_| text.as_bytes().get(3) == Some(&b' '))
            // Not `Nov 20 15:20:27`.
            .filter(|rest| rest.starts_with("20") && rest.as_bytes().get(4) == Some(&b'-'));
        if let Some(found) = dated.and_then(of_systemd) {
            return Some(found);
        }
        let from = dated.unwrap_or(text);
        let bytes = from.as_bytes();
        let starts = match bytes.first()? {
            b'0'..=b'9' => bytes.get(4) == Some(&b'-'),
            first => first.is_ascii_uppercase() && bytes.get(3) == Some(&b' '),
        };
        if !starts {
            return None;
        }
        let (clock, end) = clock::leading(from)?;
        Some((clock, from.get(end..)?))
    })?;
    // `dmesg --time-format=iso` has a comma and no host.
    let of_dmesg = text[..text.len() - rest.len()].contains(',');
    let rest = rest.strip_prefix(' ')?;
    let line = HostLine::new(LineTime::Clock(clock), rest);
    let parts = tagged_parts(rest).filter(|parts| {
        let program = parts.program.unwrap_or_default();
        match parts.host {
            Some(_) => !of_dmesg || program == "kernel",
            // Some print no host, of programs that only hosts run.
            None => !of_dmesg && (program == "kernel" || parts.pid.is_some()),
        }
    });
    if let Some(parts) = parts {
        return Some(line.by(parts));
    }
    if of_dmesg && matches!(clock, Clock::Full(_)) {
        return Some(HostLine {
            program: Some("kernel".to_owned()),
            ..line
        });
    }
    if !matches!(clock, Clock::NoYear { .. }) {
        return None;
    }
    // `last message repeated 2 times`
    let (host, message) = rest.split_once(' ')?;
    Some(HostLine {
        host: Some(host.to_owned()),
        message: message.to_owned(),
        ..line
    })
}

/// `2026-11-21 15:20:27 CET host …`, journalctl's `short-full` and `with-unit`.
fn of_systemd(dated: &str) -> Option<(Clock, &str)> {
    let (Clock::NoZone(stamp), end) = clock::leading(dated)? else {
        return None;
    };
    let (ahead, rest) = zone::leading(dated.get(end..)?)?;
    let clock = ahead.map_or(Clock::NoZone(stamp), |ahead| {
        Clock::Full(stamp.shift(-ahead))
    });
    Some((clock, rest))
}

/// `1795274427.123456 host …`, journalctl's `short-unix`.
fn unix(line: &str) -> Option<(Clock, &str)> {
    let (number, _) = line.split_once(' ')?;
    let (whole, fraction) = number.split_once('.')?;
    if whole.len() != 10 || fraction.len() != 6 {
        return None;
    }
    let stamp = clock::epoch(number)?;
    Some((Clock::Full(stamp), &line[number.len()..]))
}

/// Public logs of large machines: a label, seconds since 1970, a date, a node.
pub(super) fn supercomputer(line: &str) -> Option<HostLine> {
    let mut words = line.splitn(5, ' ');
    let (label, epoch, date, node) = (words.next()?, words.next()?, words.next()?, words.next()?);
    let rest = words.next()?;
    let dotted = date.len() == 10 && date.bytes().filter(|b| *b == b'.').count() == 2;
    if epoch.len() != 10 || !dotted || label.is_empty() {
        return None;
    }
    let when = LineTime::Clock(Clock::Full(clock::epoch(epoch)?));
    // `Nov 9 12:01:01 dn228/dn228 crond[2915]: …`
    let inner = rest.splitn(4, ' ').nth(3).and_then(tagged_parts);
    let line = HostLine::new(when, rest);
    let parsed = match inner.filter(|parts| parts.host.is_some()) {
        Some(parts) => line.by(parts),
        None => line,
    };
    Some(HostLine {
        host: Some(node.to_owned()),
        ..parsed
    })
}

/// Whether it is a line of such a log; nothing else looks like it.
pub(in crate::node_log) fn is_supercomputer(line: &str) -> bool {
    supercomputer(line).is_some()
}
