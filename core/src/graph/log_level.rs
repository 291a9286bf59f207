//! How serious a line of a log says that it is.

/// Words for what a program goes on from, in the spelling of loggers.
const MILD: [&str; 7] = [
    "DEBUG", "INFO", "NOTE", "NOTICE", "TRACE", "WARN", "WARNING",
];

/// Words for what it may not go on from.
const GRAVE: [&str; 9] = [
    "ALERT",
    "CRIT",
    "CRITICAL",
    "EMERG",
    "ERR",
    "ERROR",
    "EXCEPTION",
    "FATAL",
    "SEVERE",
];

/// How many words of a line a logger writes before what it is told to write.
const PREFIX: usize = 6;

/// Whether a line's own logger gives it a level below error: `2026-11-22 10:16:31,101 WARNING …`,
/// `[2026-11-22 10:16:40,101] [INFO] …`, `WARNING:root:…`, `W1122 10:16:31.101 …`.
///
/// Only the first words of the first line count, and only in the spelling of loggers: what a program
/// writes of a warning is no level. NCCL's warnings are errors, and say `NCCL WARN`.
pub(super) fn is_mild(message: &str) -> bool {
    let first = message.lines().next().unwrap_or_default();
    let words = first
        .split(|one: char| !one.is_ascii_alphanumeric())
        .filter(|word| word.bytes().any(|one| one.is_ascii_alphabetic()))
        .take(PREFIX);
    let mut before = "";
    for word in words {
        if GRAVE.contains(&word) || is_glog(word, &['E', 'F']) || before == "NCCL" {
            return false;
        }
        if MILD.contains(&word) || is_glog(word, &['D', 'I', 'W']) {
            return true;
        }
        before = word;
    }
    false
}

/// `W1122`: glog's letter, month and day.
fn is_glog(word: &str, letters: &[char]) -> bool {
    let mut rest = word.chars();
    rest.next().is_some_and(|first| letters.contains(&first))
        && word.len() == 5
        && rest.all(|one| one.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::is_mild;

    #[test]
    fn a_level_is_what_the_logger_writes() {
        for line in [
            "2026-11-22 10:16:31,101 WARNING connect to redis:6379 refused, retry 1/5",
            "[2026-11-22 10:16:40,101] [INFO] [launch.py:335:main] Killing subprocess 4900",
            "WARNING:root:received SIGTERM",
            "W1122 10:16:31.101000 4900 socket.cpp:601] connect failed",
            "[rank0]:W1122 10:16:31.101000 4900 socket.cpp:601] connect failed",
            "2026-11-22T10:16:31Z trainer WARN cache: [Errno 28] No space left on device",
        ] {
            assert!(is_mild(line), "{line}");
        }
        for line in [
            "2026-11-22 10:16:31,101 ERROR loss is nan",
            "RuntimeError: CUDA out of memory. Set WARNING",
            "E1122 10:16:31.101000 4900 api.py:984] failed (exitcode: -6)",
            "gpu01:71:90 [0] misc/ibvwrap.cc:94 NCCL WARN Call to ibv_modify_qp failed",
            "Traceback (most recent call last):\n2026 WARNING",
            "I read a warning",
        ] {
            assert!(!is_mild(line), "{line}");
        }
    }
}
