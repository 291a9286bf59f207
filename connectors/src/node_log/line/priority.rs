//! syslog's facility and severity, as numbers and as words.

use super::HostLine;

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
pub(in crate::node_log) fn severity(number: usize) -> Option<String> {
    SEVERITIES.get(number).map(|word| (*word).to_owned())
}

/// The word for syslog's facility number.
pub(in crate::node_log) fn facility(number: usize) -> Option<String> {
    FACILITIES.get(number).map(|word| (*word).to_owned())
}

/// `<30>`: facility and severity in one number.
pub(super) fn priority(line: &str) -> (Option<usize>, &str) {
    let found = line
        .strip_prefix('<')
        .and_then(|rest| rest.split_once('>'))
        .filter(|(number, _)| (1..=3).contains(&number.len()))
        .and_then(|(number, rest)| Some((number.parse().ok()?, rest)));
    found.map_or((None, line), |(number, rest)| (Some(number), rest))
}

pub(super) fn with_priority(mut line: HostLine, priority: Option<usize>) -> HostLine {
    if let Some(priority) = priority {
        line.facility = facility(priority / 8);
        line.severity = severity(priority % 8);
    }
    line
}

/// `kern  :warn  : `, what `dmesg -x` puts first.
pub(super) fn decoded_levels(line: &str) -> (Option<(&str, &str)>, &str) {
    let found = line.split_once(':').and_then(|(facility, rest)| {
        let (severity, rest) = rest.split_once(':')?;
        let (facility, severity) = (facility.trim_end(), severity.trim_end());
        (FACILITIES.contains(&facility) && SEVERITIES.contains(&severity))
            .then_some(((facility, severity), rest.strip_prefix(' ')?))
    });
    found.map_or((None, line), |(levels, rest)| (Some(levels), rest))
}
