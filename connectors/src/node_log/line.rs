//! One line of a host's log, out of what stands before its text.
//!
//! syslog (RFC 3164 and 5424), what `journalctl` prints in its `short` forms,
//! and what `dmesg` prints with and without `-T`, `-x` and `--time-format`.

use crate::logs::clock::{self, Clock};
use crate::time::{Nanos, SECOND};

/// When a line was said, as far as it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineTime {
    /// As it is written.
    Clock(Clock),
    /// Nanoseconds since the machine started, and how exact they are.
    Uptime { nanos: Nanos, width: Nanos },
    /// Nothing at all.
    Unsaid,
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

    fn by(mut self, said: LineParts<'_>) -> Self {
        self.host = said.host.map(str::to_owned);
        self.program = said.program.map(str::to_owned);
        self.pid = said.pid.map(str::to_owned);
        self.message = said.message.to_owned();
        self
    }

    /// Whether the kernel said it.
    pub(super) fn of_kernel(&self) -> bool {
        self.program.as_deref() == Some("kernel")
    }
}

/// syslog's numbers, in order.
const FACILITIES: [&str; 24] = [
    "kern", "user", "mail", "daemon", "auth", "syslog", "lpr", "news", "uucp", "cron", "authpriv",
    "ftp", "ntp", "audit", "alert", "clock", "local0", "local1", "local2", "local3", "local4",
    "local5", "local6", "local7",
];
const SEVERITIES: [&str; 8] = [
    "emerg", "alert", "crit", "err", "warn", "notice", "info", "debug",
];

/// The word for syslog's priority `0`–`7`.
pub(super) fn severity(number: usize) -> Option<String> {
    SEVERITIES.get(number).map(|word| (*word).to_owned())
}

/// The word for syslog's facility number.
pub(super) fn facility(number: usize) -> Option<String> {
    FACILITIES.get(number).map(|word| (*word).to_owned())
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

/// `<30>`: facility and severity in one number.
fn priority(line: &str) -> (Option<usize>, &str) {
    let found = line
        .strip_prefix('<')
        .and_then(|rest| rest.split_once('>'))
        .filter(|(number, _)| (1..=3).contains(&number.len()))
        .and_then(|(number, rest)| Some((number.parse().ok()?, rest)));
    found.map_or((None, line), |(number, rest)| (Some(number), rest))
}

fn with_priority(mut line: HostLine, priority: Option<usize>) -> HostLine {
    if let Some(priority) = priority {
        line.facility = facility(priority / 8);
        line.severity = severity(priority % 8);
    }
    line
}

/// `kern  :warn  : `, what `dmesg -x` puts first.
fn decoded_levels(line: &str) -> (Option<(&str, &str)>, &str) {
    let found = line.split_once(':').and_then(|(facility, rest)| {
        let (severity, rest) = rest.split_once(':')?;
        let (facility, severity) = (facility.trim_end(), severity.trim_end());
        (FACILITIES.contains(&facility) && SEVERITIES.contains(&severity))
            .then_some(((facility, severity), rest.strip_prefix(' ')?))
    });
    found.map_or((None, line), |(levels, rest)| (Some(levels), rest))
}

/// `[ 12345.678901] text`, `[Sat Nov 21 15:20:27 2026] text`, perhaps with a
/// caller (`[ T1946]`), perhaps a journal's `host program: text`.
fn dmesg(line: &str) -> Option<HostLine> {
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
    let said = said(rest).filter(|said| {
        let program = said.program.unwrap_or_default();
        match said.host {
            Some(_) => program == "kernel" || said.pid.is_some(),
            // Lines of others in the kernel's log; a process that the kernel
            // speaks of is written the same way.
            None => program.starts_with("systemd"),
        }
    });
    Some(match said {
        Some(said) => line.by(said),
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

/// A time, then `host program[pid]: text`.
fn stamped(text: &str) -> Option<HostLine> {
    let (clock, rest) = unix(text).or_else(|| {
        // `Sat 2026-11-21 15:20:27 UTC`
        let dated = text
            .get(4..)
            .filter(|_| text.as_bytes().get(3) == Some(&b' '))
            // Not `Nov 20 15:20:27`.
            .filter(|rest| rest.starts_with("20") && rest.as_bytes().get(4) == Some(&b'-'));
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
    let said = said(rest).filter(|said| {
        let program = said.program.unwrap_or_default();
        match said.host {
            Some(_) => !of_dmesg || program == "kernel",
            // Some print no host, of programs that only hosts run.
            None => !of_dmesg && (program == "kernel" || said.pid.is_some()),
        }
    });
    if let Some(said) = said {
        return Some(line.by(said));
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

/// Who said what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LineParts<'l> {
    host: Option<&'l str>,
    program: Option<&'l str>,
    pid: Option<&'l str>,
    message: &'l str,
}

/// `host program[pid]: text`, `program[pid]: text`.
fn said(text: &str) -> Option<LineParts<'_>> {
    let (first, rest) = text.split_once(' ')?;
    if let Some((program, pid)) = tag(first) {
        return Some(LineParts {
            host: None,
            program: Some(program),
            pid,
            message: rest,
        });
    }
    if !is_host(first) {
        return None;
    }
    let (second, message) = rest.split_once(' ').unwrap_or((rest, ""));
    let (program, pid) = tag(second)?;
    // Thunderbird's log names the host twice.
    let host = first.split('/').next().unwrap_or(first);
    Some(LineParts {
        host: Some(host),
        program: Some(program),
        pid,
        message,
    })
}

fn is_host(word: &str) -> bool {
    const LEVELS: [&str; 8] = [
        "INFO", "WARN", "WARNING", "ERROR", "DEBUG", "FATAL", "CRITICAL", "TRACE",
    ];
    !LEVELS.contains(&word)
        && word.starts_with(|c: char| c.is_ascii_alphanumeric())
        && word
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'/'))
}

/// `systemd[1]:`, `kernel:`, `sshd(pam_unix)[19939]:`
fn tag(word: &str) -> Option<(&str, Option<&str>)> {
    let word = word.strip_suffix(':')?;
    let (program, pid) = match word.split_once('[') {
        Some((program, rest)) => (program, Some(rest.strip_suffix(']')?)),
        None => (word, None),
    };
    let program = program.split('(').next().unwrap_or(program);
    let plain = program
        .bytes()
        .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'/' | b'@' | b'+'));
    let starts = program.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '('));
    let pid_is_number = pid.is_none_or(|pid| pid.bytes().all(|b| b.is_ascii_digit()));
    (plain && starts && pid_is_number).then_some((program, pid))
}

/// `2026-11-21T15:20:27.003Z host app procid msgid [data] text`
fn rfc5424(text: &str) -> Option<HostLine> {
    let mut words = text.splitn(6, ' ');
    let time = words.next()?;
    let named = |word: Option<&str>| word.filter(|word| *word != "-").map(str::to_owned);
    let when = match time {
        "-" => LineTime::Unsaid,
        time => match clock::leading(time)? {
            (clock, end) if end == time.len() => LineTime::Clock(clock),
            _ => return None,
        },
    };
    let (host, program, pid) = (words.next(), words.next(), words.next());
    let _message_id = words.next()?;
    let message = without_data(words.next().unwrap_or_default());
    let message = message.trim_start_matches('\u{feff}');
    Some(HostLine {
        host: named(host),
        program: named(program),
        pid: named(pid),
        ..HostLine::new(when, message)
    })
}

/// Drops RFC 5424's structured data, `-` or `[id key="value"][…]`.
fn without_data(text: &str) -> &str {
    if let Some(rest) = text.strip_prefix('-') {
        return rest.trim_start();
    }
    let (mut quoted, mut escaped, mut inside) = (false, false, false);
    for (at, byte) in text.bytes().enumerate() {
        if std::mem::take(&mut escaped) {
            continue;
        }
        match byte {
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'[' if !quoted && !inside => inside = true,
            b']' if !quoted => inside = false,
            _ if !inside => return text[at..].trim_start(),
            _ => {}
        }
    }
    ""
}

/// Public logs of large machines: a label, seconds since 1970, a date, a node.
fn supercomputer(line: &str) -> Option<HostLine> {
    let mut words = line.splitn(5, ' ');
    let (label, epoch, date, node) = (words.next()?, words.next()?, words.next()?, words.next()?);
    let rest = words.next()?;
    let dotted = date.len() == 10 && date.bytes().filter(|b| *b == b'.').count() == 2;
    if epoch.len() != 10 || !dotted || label.is_empty() {
        return None;
    }
    let when = LineTime::Clock(Clock::Full(clock::epoch(epoch)?));
    // `Nov 9 12:01:01 dn228/dn228 crond[2915]: …`
    let inner = rest.splitn(4, ' ').nth(3).and_then(said);
    let line = HostLine::new(when, rest);
    let parsed = match inner.filter(|said| said.host.is_some()) {
        Some(said) => line.by(said),
        None => line,
    };
    Some(HostLine {
        host: Some(node.to_owned()),
        ..parsed
    })
}

/// Whether it is a line of such a log; nothing else looks like it.
pub(super) fn is_supercomputer(line: &str) -> bool {
    supercomputer(line).is_some()
}

/// A kernel's line without any time, as people paste it.
fn bare(line: &str, decoded: bool) -> Option<HostLine> {
    let rest = line.strip_prefix("kernel: ");
    let known = ["NVRM: ", "nvidia-nvswitch", "[...] NVRM: "];
    if rest.is_none() && !decoded && !known.iter().any(|start| line.starts_with(start)) {
        return None;
    }
    let message = rest.unwrap_or(line);
    Some(HostLine {
        program: Some("kernel".to_owned()),
        ..HostLine::new(LineTime::Unsaid, message)
    })
}

/// The kernel's own time before its text says nothing where the log has one.
fn strip_uptime(line: &mut HostLine) {
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
    if line.when == LineTime::Unsaid {
        line.when = LineTime::Uptime { nanos, width };
    }
    line.message = without_caller(rest.trim_start()).to_owned();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Stamp;

    fn parts(line: &str) -> (String, String, String, String) {
        let line = parse(line).unwrap();
        let text = |part: Option<String>| part.unwrap_or_default();
        (
            text(line.host),
            text(line.program),
            text(line.pid),
            line.message,
        )
    }

    #[test]
    fn every_form_of_syslog_and_journal_gives_host_program_and_text() {
        for line in [
            "Nov 21 15:20:27 gpu-7 sshd[77]: hello there",
            "Nov 21 15:20:27.123456 gpu-7 sshd[77]: hello there",
            "<38>Nov 21 15:20:27 gpu-7 sshd[77]: hello there",
            "2026-11-21T15:20:27+0000 gpu-7 sshd[77]: hello there",
            "2026-11-21T15:20:27.5+00:00 gpu-7 sshd[77]: hello there",
            "Sat 2026-11-21 15:20:27 UTC gpu-7 sshd[77]: hello there",
            "1795274427.123456 gpu-7 sshd[77]: hello there",
            "[   12.123456] gpu-7 sshd[77]: hello there",
            "<38>1 2026-11-21T15:20:27.003Z gpu-7 sshd 77 - - hello there",
            r#"<38>1 2026-11-21T15:20:27.003Z gpu-7 sshd 77 ID [a@1 b="]\""][c] hello there"#,
            "- 1795274427 2026.11.21 gpu-7 Nov 21 15:20:27 gpu-7/gpu-7 sshd(pam)[77]: hello there",
        ] {
            let want = ("gpu-7", "sshd", "77", "hello there");
            let want = (
                want.0.to_owned(),
                want.1.to_owned(),
                want.2.to_owned(),
                want.3.to_owned(),
            );
            assert_eq!(parts(line), want, "{line}");
        }
    }

    #[test]
    fn every_form_of_dmesg_gives_the_kernels_text() {
        for line in [
            "[   12.123456] NVRM: hello",
            "<6>[   12.123456] NVRM: hello",
            "[   12.123456] [ T1946] NVRM: hello",
            "kern  :warn  : [   12.123456] NVRM: hello",
            "kern  :warn  : 2026-11-21T15:20:27,123456+00:00 NVRM: hello",
            "2026-11-21T15:20:27,123456+00:00 NVRM: hello",
            "[Sat Nov 21 15:20:27 2026] NVRM: hello",
            "kernel: [   12.123456] NVRM: hello",
            "NVRM: hello",
            "Nov 21 15:20:27 gpu-7 kernel: [   12.123456] NVRM: hello",
            "Nov 21 15:20:27 kernel: NVRM: hello",
        ] {
            let (_, program, _, message) = parts(line);
            assert_eq!(
                (program.as_str(), message.as_str()),
                ("kernel", "NVRM: hello"),
                "{line}"
            );
        }
        let named =
            parse("[Sun Dec  1 14:54:40 2024] gpu-7 kernel: mlx5_core 0000:5c:00.0: x").unwrap();
        assert_eq!(named.host.as_deref(), Some("gpu-7"));
        assert_eq!(
            named.when,
            LineTime::Clock(Clock::NoZone(Stamp::parse("2024-12-01T14:54:40Z").unwrap()))
        );
        // The process is the one spoken of, not the one that speaks.
        assert_eq!(parts("[1.5] python3[7]: segfault at 0").1, "kernel");
        assert_eq!(parts("[1.5] systemd[1]: Shutting down.").1, "systemd");
    }

    #[test]
    fn levels_are_read() {
        let line = parse("<11>Nov 21 15:20:27 gpu-7 app: x").unwrap();
        assert_eq!(
            (line.facility.as_deref(), line.severity.as_deref()),
            (Some("user"), Some("err"))
        );
        let line = parse("kern  :crit  : [1.25] x").unwrap();
        assert_eq!(line.severity.as_deref(), Some("crit"));
        assert_eq!(
            line.when,
            LineTime::Uptime {
                nanos: 1_250_000_000,
                width: 10_000_000
            }
        );
    }

    #[test]
    fn lines_of_programs_are_none_of_a_host() {
        for line in [
            "step 5 loss 2.1",
            "[2026-11-21 15:20:27,783] [INFO] x",
            "[rank0]: Traceback (most recent call last):",
            "{\"msg\":\"x\"}",
            "[INFO] x",
            "",
        ] {
            assert_eq!(parse(line), None, "{line}");
        }
    }
}
