//! How serious a line of a log says that it is.

use std::sync::LazyLock;

use regex::Regex;

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

/// Whether a line tells of nothing that its program ended with: its logger says that it is less, or
/// it quotes.
pub(super) fn is_no_failure(message: &str) -> bool {
    is_mild(message) || is_quote(message)
}

/// Whether a line's own logger gives it a level below error: `2026-11-22 10:16:31,101 WARNING …`,
/// `[2026-11-22 10:16:40,101] [INFO] …`, `WARNING:root:…`, `W1122 10:16:31.101 …`.
///
/// Only the first words of the first line count, and only in the spelling of loggers: what a program
/// writes of a warning is no level. NCCL's warnings are errors, and say `NCCL WARN`.
fn is_mild(message: &str) -> bool {
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

/// Whether a line of no level names an error only in the middle of other words, none of which says
/// that anything failed: `>>> prompt: explain OSError: [Errno 28] No space left on device`. Programs
/// print what they read and generate.
fn is_quote(message: &str) -> bool {
    static NAMED: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"\b(?:(?:[\w.]*(?:Error|Exception)|[\w.]+\.\w*error)\b[:(]|Fatal Python error|Traceback \()").ok()
    });
    const FAILS: [&str; 20] = [
        "abort",
        "caught",
        "cannot",
        "caused",
        "could not",
        "crash",
        "died",
        "error",
        "except",
        "exit",
        "fail",
        "fatal",
        "got ",
        "kill",
        "lost",
        "rais",
        "stop",
        "terminat",
        "unable",
        "what()",
    ];
    if message.contains('\n') {
        return false;
    }
    let named = NAMED.as_ref().and_then(|named| named.find(message));
    let Some(before) = named.and_then(|named| message.get(..named.start())) else {
        return false;
    };
    // Who speaks stands in brackets.
    let mut words = String::with_capacity(before.len());
    let mut depth = 0_usize;
    for one in before.chars() {
        match one {
            '[' | '(' => depth += 1,
            ']' | ')' => depth = depth.saturating_sub(1),
            _ if depth == 0 => words.push(one.to_ascii_lowercase()),
            _ => {}
        }
    }
    let is_word = |word: &str| word.len() > 2 && word.bytes().all(|b| b.is_ascii_lowercase());
    words
        .split(|one: char| !one.is_ascii_alphanumeric())
        .any(is_word)
        && !FAILS.iter().any(|fails| words.contains(fails))
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
    use super::{is_mild, is_quote};

    #[test]
    fn an_error_in_the_middle_of_other_words_is_quoted() {
        for line in [
            ">>> prompt: explain OSError: [Errno 28] No space left on device",
            ">>> generated: Fatal Python error: Segmentation fault",
            "2026-11-22 10:16:34 text: socket.gaierror: [Errno -3] see RuntimeError",
        ] {
            assert!(is_quote(line), "{line}");
        }
        for line in [
            "torch.OutOfMemoryError: CUDA out of memory",
            "[rank1]: RuntimeError: NCCL error",
            "(RayTrainWorker pid=4000) ValueError: bad batch",
            "training failed: RuntimeError: CUDA out of memory",
            "2026-11-22 10:16:34,101 ERROR train: OSError: [Errno 28] No space left on device",
            "Traceback (most recent call last):\n  x\nKeyError: 1",
            "loss is NaN",
        ] {
            assert!(!is_quote(line), "{line}");
        }
    }

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
