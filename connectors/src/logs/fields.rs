//! Lines that programs write as fields: JSON objects and `key=value` pairs.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Map, Value};

use super::clock::{self, Clock};
use crate::event::Entities;

/// What a line's fields say.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Fields {
    /// The text, where the line is an object around it.
    pub(super) message: Option<String>,
    pub(super) clock: Option<Clock>,
    pub(super) severity: Option<String>,
    pub(super) rank: Option<i32>,
    /// Whose line it is, where a shipper or stern says so.
    pub(super) whose: Option<Box<Entities>>,
}

/// Names that loggers and shippers use, dotted where they are nested.
const MESSAGE: &[&str] = &[
    "msg",
    "message",
    "log",
    "line",
    "event",
    "text",
    "textPayload",
    "@message",
    "body",
    "@m",
    "short_message",
];
const TIME: &[&str] = &[
    "time",
    "ts",
    "timestamp",
    "@timestamp",
    "asctime",
    "t",
    "date",
    "datetime",
    "created",
    "@t",
    "eventTime",
    "record.time.timestamp",
];
const LEVEL: &[&str] = &[
    "level",
    "severity",
    "levelname",
    "lvl",
    "log_level",
    "log.level",
    "loglevel",
    "levelName",
    "severity_text",
    "@l",
    "record.level.name",
    "status",
];
const RANK: &[&str] = &["rank", "global_rank", "extra.rank"];
/// What is wrong often stands beside the message.
const CAUSE: &[&str] = &[
    "error",
    "err",
    "exception",
    "exc_info",
    "exc_text",
    "stack_trace",
    "stacktrace",
    "traceback",
    "error.message",
    "error.stack_trace",
    "error.stack",
    "err.message",
    "err.stack",
    "exception.message",
    "exception.stacktrace",
    "stack",
];
/// Names that shippers and stern give to Kubernetes objects.
const NAMESPACE: &[&str] = &[
    "kubernetes.namespace_name",
    "kubernetes.namespace",
    "kubernetes.pod_namespace",
    "k8s.namespace.name",
];
const POD: &[&str] = &[
    "kubernetes.pod_name",
    "kubernetes.pod.name",
    "k8s.pod.name",
    "podName",
];
const POD_UID: &[&str] = &["kubernetes.pod_id", "kubernetes.pod.uid", "k8s.pod.uid"];
const CONTAINER: &[&str] = &[
    "kubernetes.container_name",
    "kubernetes.container.name",
    "k8s.container.name",
    "containerName",
];
const NODE: &[&str] = &[
    "kubernetes.host",
    "kubernetes.node.name",
    "kubernetes.node_name",
    "k8s.node.name",
    "nodeName",
];

/// A member by its dotted path; the whole path may also be one name.
fn member<'o>(object: &'o Map<String, Value>, path: &str) -> Option<&'o Value> {
    if let Some(value) = object.get(path) {
        return Some(value);
    }
    let (first, rest) = path.split_once('.')?;
    member(object.get(first)?.as_object()?, rest)
}

/// Reads `text` if it is one JSON object with a message.
pub(super) fn json(text: &str) -> Option<Fields> {
    if !text.starts_with('{') {
        return None;
    }
    let object: Map<String, Value> = serde_json::from_str(text.trim_end()).ok()?;
    object_fields(&object, 0)
}

fn object_fields(object: &Map<String, Value>, depth: usize) -> Option<Fields> {
    let mut fields = Fields {
        clock: TIME.iter().find_map(|name| match member(object, name)? {
            Value::String(text) => clock::leading(text).map(|(clock, _)| clock),
            Value::Number(number) => clock::epoch(&number.to_string()).map(Clock::Full),
            _ => None,
        }),
        severity: LEVEL
            .iter()
            .find_map(|name| level(name, member(object, name)?)),
        rank: RANK
            .iter()
            .find_map(|name| member(object, name)?.as_i64())
            .and_then(|rank| i32::try_from(rank).ok()),
        message: None,
        whose: whose(object),
    };
    let value = MESSAGE.iter().find_map(|name| match object.get(*name)? {
        Value::String(text) if !text.trim().is_empty() => Some(FieldValue::Text(text)),
        Value::Object(inner) if depth < 3 => Some(FieldValue::Object(inner)),
        _ => None,
    })?;
    let mut message = match value {
        FieldValue::Text(text) => {
            let text = text.trim_end_matches(['\n', '\r']);
            // The program's own object in the shipper's.
            match text.starts_with('{').then(|| serde_json::from_str(text)) {
                Some(Ok(inner)) if depth < 3 => nested(&mut fields, &inner, text, depth),
                _ => text.to_owned(),
            }
        }
        FieldValue::Object(inner) => nested(
            &mut fields,
            inner,
            &Value::Object(inner.clone()).to_string(),
            depth,
        ),
    };
    for name in CAUSE {
        let Some(cause) = member(object, name).and_then(Value::as_str) else {
            continue;
        };
        if cause.is_empty() || message.contains(cause) {
            continue;
        }
        // A traceback keeps its lines; a short cause stays on the message's.
        message.push_str(if cause.contains('\n') { "\n" } else { ": " });
        message.push_str(cause);
    }
    fields.message = Some(message);
    Some(fields)
}

enum FieldValue<'o> {
    Text(&'o str),
    Object(&'o Map<String, Value>),
}

/// Takes what the inner object says of itself; it knows better than the outer.
fn nested(fields: &mut Fields, inner: &Map<String, Value>, text: &str, depth: usize) -> String {
    let Some(found) = object_fields(inner, depth + 1) else {
        return text.to_owned();
    };
    fields.severity = found.severity.or(fields.severity.take());
    fields.rank = found.rank.or(fields.rank);
    fields.clock = fields.clock.or(found.clock);
    fields.whose = fields.whose.take().or(found.whose);
    found.message.unwrap_or_else(|| text.to_owned())
}

/// A level as its logger writes it; bunyan and pino number theirs.
fn level(name: &str, value: &Value) -> Option<String> {
    if let Some(number) = value.as_u64() {
        let words = match number {
            10 => "TRACE",
            20 => "DEBUG",
            30 => "INFO",
            40 => "WARN",
            50 => "ERROR",
            60 => "FATAL",
            _ => return None,
        };
        return (name == "level").then(|| words.to_owned());
    }
    let text = value.as_str().filter(|text| !text.is_empty())?;
    // `status` is a level only in Datadog's lines.
    const LEVELS: &[&str] = &[
        "debug",
        "info",
        "notice",
        "warn",
        "warning",
        "error",
        "critical",
        "alert",
        "emergency",
        "ok",
    ];
    let known = name != "status" || LEVELS.contains(&text.to_ascii_lowercase().as_str());
    known.then(|| text.to_owned())
}

fn whose(object: &Map<String, Value>) -> Option<Box<Entities>> {
    let name = |paths: &[&str]| {
        paths
            .iter()
            .find_map(|path| member(object, path)?.as_str())
            .filter(|value| !value.is_empty())
            .map(str::to_owned)
    };
    let pod = Some(name(POD)?);
    Some(Box::new(Entities {
        namespace: name(NAMESPACE).or_else(|| name(&["namespace"])),
        pod,
        pod_uid: name(POD_UID),
        container: name(CONTAINER),
        node: name(NODE),
        ..Entities::default()
    }))
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
        for (text, message, level) in [
            // Elastic's names, nested and dotted.
            (
                r#"{"@timestamp":"2026-11-21T15:20:27.5Z","log.level":"ERROR","message":"x","error":{"message":"boom"}}"#,
                "x: boom",
                Some("ERROR"),
            ),
            // Bunyan and pino number their levels.
            (
                r#"{"name":"app","level":50,"msg":"x","time":"2026-11-21T15:20:27.5Z","v":0}"#,
                "x",
                Some("ERROR"),
            ),
            // A program's own object in a shipper's.
            (
                r#"{"log":"{\"levelname\": \"INFO\", \"message\": \"x\"}\n","time":"2026-11-21T15:20:27.5Z"}"#,
                "x",
                Some("INFO"),
            ),
            (
                r#"{"message":{"text":"x","level":"warn"},"timestamp":"2026-11-21T15:20:27.5Z"}"#,
                "x",
                Some("warn"),
            ),
            // Datadog's.
            (
                r#"{"message":"x","status":"error","date":"2026-11-21T15:20:27.5Z"}"#,
                "x",
                Some("error"),
            ),
            (
                r#"{"message":"x","status":"running","date":"2026-11-21T15:20:27.5Z"}"#,
                "x",
                None,
            ),
            // loguru's.
            (
                r#"{"text":"x","record":{"level":{"name":"ERROR"},"time":{"timestamp":1795274427.5}}}"#,
                "x",
                Some("ERROR"),
            ),
        ] {
            let fields = json(text).unwrap();
            assert_eq!(fields.message.as_deref(), Some(message), "{text}");
            assert_eq!(fields.severity.as_deref(), level, "{text}");
            assert!(fields.clock.is_some(), "{text}");
        }
        let shipped = json(r#"{"log":"x\n","time":"2026-11-21T15:20:27.5Z","kubernetes":{"pod_name":"p-0","namespace_name":"n","container_name":"c","host":"node-1"}}"#).unwrap();
        let whose = shipped.whose.unwrap();
        assert_eq!(
            (
                whose.namespace.as_deref(),
                whose.pod.as_deref(),
                whose.node.as_deref()
            ),
            (Some("n"), Some("p-0"), Some("node-1"))
        );
        let stern = json(r#"{"message":"x","nodeName":"node-1","namespace":"n","podName":"p-0","containerName":"c"}"#).unwrap();
        assert_eq!(stern.whose.unwrap().namespace.as_deref(), Some("n"));
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
