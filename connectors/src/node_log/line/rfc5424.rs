//! syslog as RFC 5424 has it.

use super::{HostLine, LineTime};
use crate::logs::clock;

/// `2026-11-21T15:20:27.003Z host app procid msgid [data] text`
pub(super) fn rfc5424(text: &str) -> Option<HostLine> {
    let mut words = text.splitn(6, ' ');
    let time = words.next()?;
    let named = |word: Option<&str>| word.filter(|word| *word != "-").map(str::to_owned);
    let when = match time {
        "-" => LineTime::Absent,
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
