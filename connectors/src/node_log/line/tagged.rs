//! Who said a text: the host and the program before it.

/// Who said what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LineParts<'l> {
    pub(super) host: Option<&'l str>,
    pub(super) program: Option<&'l str>,
    pub(super) pid: Option<&'l str>,
    pub(super) message: &'l str,
}

/// `host program[pid]: text`, `program[pid]: text`.
pub(super) fn tagged_parts(text: &str) -> Option<LineParts<'_>> {
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
    // Some forms of a journal print that there is none.
    let pid = pid.filter(|pid| *pid != "n/a");
    let program = program.split('(').next().unwrap_or(program);
    let plain = program
        .bytes()
        .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'/' | b'@' | b'+'));
    let starts = program.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '('));
    let pid_is_number = pid.is_none_or(|pid| pid.bytes().all(|b| b.is_ascii_digit()));
    (plain && starts && pid_is_number).then_some((program, pid))
}
