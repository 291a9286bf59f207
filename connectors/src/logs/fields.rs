//! Lines that programs write as fields: JSON objects and `key=value` pairs.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Map, Value};

use super::clock::{self, Clock};

/// What a line's fields say.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Fields {
    /// The text, where the line is an object around it.
    pub(super) message: Option<String>,
    pub(super) clock: Option<Clock>,
    pub(super) severity: Option<String>,
    pub(super) rank: Option<i32>,
}

const MESSAGE: &[&str] = &["msg", "message", "log", "line", "event", "text"];
const TIME: &[&str] = &[
    "time",
    "ts",
    "timestamp",
    "@timestamp",
    "asctime",
    "t",
    "date",
];
const LEVEL: &[&str] = &["level", "severity", "levelname", "lvl", "log_level"];
const RANK: &[&str] = &["rank", "global_rank"];
/// What is wrong often stands beside the message.
const CAUSE: &[&str] = &[
    "error",
    "err",
    "exception",
    "exc_info",
    "stack_trace",
    "stacktrace",
    "traceback",
];

/// Reads `text` if it is one JSON object with a message.
pub(super) fn json(text: &str) -> Option<Fields> {
    if !text.starts_with('{') {
        return None;
    }
    let object: Map<String, Value> = serde_json::from_str(text).ok()?;
    let word = |names: &[&str]| {
        names
            .iter()
            .find_map(|name| object.get(*name).and_then(Value::as_str))
            .filter(|text| !text.is_empty())
    };
    let mut message = word(MESSAGE)?.to_owned();
    for name in CAUSE {
        let Some(cause) = object.get(*name).and_then(Value::as_str) else {
            continue;
        };
        if cause.is_empty() || message.contains(cause) {
            continue;
        }
        // A traceback keeps its lines; a short cause stays on the message's.
        message.push_str(if cause.contains('\n') { "\n" } else { ": " });
        message.push_str(cause);
    }
    let clock = TIME.iter().find_map(|name| match object.get(*name)? {
        Value::String(text) => clock::leading(text).map(|(clock, _)| clock),
        Value::Number(number) => clock::epoch(&number.to_string()).map(Clock::Full),
        _ => None,
    });
    let rank = RANK
        .iter()
        .find_map(|name| object.get(*name)?.as_i64())
        .and_then(|rank| i32::try_from(rank).ok());
    Some(Fields {
        message: Some(message),
        clock,
        severity: word(LEVEL).map(str::to_owned),
        rank,
    })
}

static LOGFMT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"(?:^|\s)(?:time|ts|timestamp|t)="?([0-9][^"\s]*(?: [0-9:.,]+)?)"#).ok()
});

/// The time of a `key=value` line.
pub(super) fn logfmt(text: &str) -> Option<Clock> {
    // Such a line starts with a pair; looking for one is cheaper than the pattern.
    memchr::memchr(b'=', text.as_bytes().get(..24).unwrap_or(text.as_bytes()))?;
    let value = LOGFMT.as_ref()?.captures(text)?.get(1)?.as_str();
    clock::leading(value)
        .map(|(clock, _)| clock)
        .or_else(|| clock::epoch(value).map(Clock::Full))
}

static LEVEL_WORD: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"\b(TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|CRITICAL|FATAL|PANIC)\b",
        r#"|\b(?:level|lvl|severity)="?([A-Za-z]+)"#,
        r"|^(?:\[rank\d+\]:)?\[?([IWEF])\d{3,4} \d\d:",
    ))
    .ok()
});

/// The level a line claims near its start, as it writes it.
pub(super) fn severity(text: &str) -> Option<String> {
    let mut end = text.len().min(160);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let found = LEVEL_WORD.as_ref()?.captures(&text[..end])?;
    if let Some(word) = found.get(1).or(found.get(2)) {
        return Some(word.as_str().to_owned());
    }
    let word = match found.get(3)?.as_str() {
        "I" => "INFO",
        "W" => "WARNING",
        "E" => "ERROR",
        _ => "FATAL",
    };
    Some(word.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Stamp;

    #[test]
    fn structured_lines_give_text_time_and_level() {
        let full = Stamp::parse("2026-11-21T15:20:27.5Z").map(Clock::Full);
        let fields = json(r#"{"level":"error","ts":1795274427.5,"msg":"save failed","error":"no space","rank":3}"#).unwrap();
        assert_eq!(fields.message.as_deref(), Some("save failed: no space"));
        assert_eq!(
            (fields.severity.as_deref(), fields.rank),
            (Some("error"), Some(3))
        );
        assert_eq!(fields.clock.map(|_| ()), full.map(|_| ()));
        let fields =
            json(r#"{"severity":"INFO","message":"x","timestamp":"2026-11-21T15:20:27.5Z"}"#)
                .unwrap();
        assert_eq!(fields.clock, full);
        for text in ["{\"a\":1}", "{not json", "text", "{\"msg\":1}"] {
            assert_eq!(json(text), None);
        }
        assert_eq!(
            logfmt("time=\"2026-11-21T15:20:27.5Z\" level=info msg=x"),
            full
        );
        assert_eq!(
            logfmt("level=warn ts=2026-11-21T15:20:27.5Z caller=x"),
            full
        );
        assert_eq!(logfmt("loss=1 and no time"), None);
    }

    #[test]
    fn levels_are_kept_as_written() {
        for (text, level) in [
            ("2026-11-21 15:20:27,000 INFO train", Some("INFO")),
            ("time=x level=warn msg=ERROR", Some("warn")),
            ("E1121 15:21:00.350808 1 x", Some("ERROR")),
            ("[rank0]:[W1121 15:21:00.350808 x", Some("WARNING")),
            ("host:1:2 [0] NCCL WARN x", Some("WARN")),
            ("an error occurred", None),
            ("INFORMATION", None),
        ] {
            assert_eq!(severity(text).as_deref(), level, "{text}");
        }
    }
}
