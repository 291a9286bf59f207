//! Recognises what a file is by its first bytes; names lie.

use serde_json::{Map, Value};

use super::colours::without_colours;
use super::format;
use super::{foreign, table};
use crate::contract::{RecordFormat, TextFormat};
use crate::flight_recorder;
use crate::kubectl;
use crate::tracker;

/// How much of a file is looked at.
pub(super) const HEAD: usize = 64 << 10;

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Gzip,
    Zstd,
    Tar,
    Zip,
    Utf16Le,
    Utf16Be,
    Json,
    /// One JSON object a line that a program logged.
    JsonLog,
    /// One JSON object a line that is no Kubernetes object; a log where the
    /// file's place says so.
    JsonLines,
    Yaml,
    /// What kubectl prints for people.
    Kubectl,
    /// The same in a terminal's colours, as some wrappers of kubectl print it.
    Coloured,
    /// A dump of PyTorch's flight recorder.
    FlightRecorder,
    /// Binary records with a decoder of their own.
    Records(&'static RecordFormat),
    /// Text with a decoder of its own.
    Format(&'static TextFormat),
    /// A table that a system exports, with a row of names first.
    Table,
    Text,
    Empty,
    /// Something that holds nothing for this tool, in words.
    Foreign(&'static str),
}

impl Form {
    /// For people.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
            Self::Tar => "tar archive",
            Self::Zip => "zip archive",
            Self::Utf16Le | Self::Utf16Be => "UTF-16",
            Self::Json | Self::JsonLines => "JSON",
            Self::JsonLog => "log lines in JSON",
            Self::Yaml => "YAML",
            Self::Kubectl => "kubectl's text",
            Self::Coloured => "coloured",
            Self::FlightRecorder => "flight recorder's dump",
            Self::Format(format) => format.words,
            Self::Records(format) => format.words,
            Self::Table => "CSV",
            Self::Text => "log lines",
            Self::Empty => "empty",
            Self::Foreign(words) => words,
        }
    }
}

const MAGIC: &[(&[u8], Form)] = &[
    (b"\x1f\x8b\x08", Form::Gzip),
    (b"\x28\xb5\x2f\xfd", Form::Zstd),
    (b"PK\x03\x04", Form::Zip),
    (b"PK\x05\x06", Form::Zip),
    (b"\xff\xfe", Form::Utf16Le),
    (b"\xfe\xff", Form::Utf16Be),
    (b"\xfd7zXZ\x00", Form::Foreign("xz, which is not unpacked")),
    (b"BZh", Form::Foreign("bzip2, which is not unpacked")),
    (
        b"7z\xbc\xaf\x27\x1c",
        Form::Foreign("7-zip, which is not unpacked"),
    ),
    (b"PAR1", Form::Foreign("Parquet, which is not read here")),
    (
        b"SQLite format 3\x00",
        Form::Foreign("SQLite, which is not read here"),
    ),
    (
        b"version https://git-lfs.github.com/spec/",
        Form::Foreign("a pointer of Git LFS: the file itself was not fetched"),
    ),
];

/// What kubectl writes to standard error when it was given nothing, as each line of a file that holds no more.
const REFUSALS: [&[u8]; 4] = [
    b"Error from server",
    b"The connection to the server ",
    b"Unable to connect to the server",
    b"error: You must be logged in to the server",
];

fn is_refusal(text: &[u8]) -> bool {
    let lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let mut filled = lines.filter(|line| !line.is_empty());
    filled.all(|line| REFUSALS.iter().any(|start| line.starts_with(start)))
}

/// What `head`, the first bytes of a file, is the beginning of.
pub(super) fn recognise(head: &[u8]) -> Form {
    for (magic, form) in MAGIC {
        if head.starts_with(magic) {
            return *form;
        }
    }
    if is_tar(head) {
        return Form::Tar;
    }
    if flight_recorder::looks_like(without_bom(head)) {
        return Form::FlightRecorder;
    }
    if let Some(format) = tracker::RECORDS.iter().find(|format| (format.is)(head)) {
        return Form::Records(format);
    }
    let text = without_bom(head);
    let is_blank = |byte: &u8| byte.is_ascii_whitespace() || *byte == 0;
    let Some(first) = text.iter().position(|byte| !is_blank(byte)) else {
        return Form::Empty;
    };
    let text = &text[first..];
    // Records that a journal exports look like JSON lines or like nothing.
    let early = format::recognise_early(text);
    if let Some(format) = early.filter(|format| format.first) {
        return Form::Format(format);
    }
    match text[0] {
        b'{' => {
            if let Some(form) = braces(text) {
                return form;
            }
        }
        b'[' if brackets(text) => return Form::Json,
        b'<' if is_html(text) => return Form::Foreign("HTML"),
        b'<' if is_xml(text) => return Form::Foreign("XML, which is not read here"),
        _ => {}
    }
    if is_binary(text) {
        return Form::Foreign("binary");
    }
    if is_refusal(text) {
        return Form::Foreign("an error message of kubectl, and no data");
    }
    if starts_with_chatter(text) {
        return Form::Json;
    }
    if table::is_known(text) {
        Form::Table
    } else if is_yaml(text) {
        Form::Yaml
    } else if kubectl::looks_like(&String::from_utf8_lossy(text)) {
        Form::Kubectl
    } else if text.contains(&0x1b) && kubectl::looks_like(&without_colours(text)) {
        Form::Coloured
    } else {
        let format = early.or_else(|| format::recognise_late(text));
        format.map_or(Form::Text, Form::Format)
    }
}

/// Whether bytes are no text. Text may have holes: a machine that loses power leaves blocks of
/// zeros in its logs.
fn is_binary(text: &[u8]) -> bool {
    /// Holes in the first bytes of a file.
    const HOLES: usize = 16;
    let mut holes = text
        .split(|byte| *byte != 0)
        .filter(|hole| !hole.is_empty());
    if holes.nth(HOLES).is_some() {
        return true;
    }
    let control = |byte: &&u8| matches!(byte, 1..=8 | 14..=26 | 28..=31);
    text.contains(&0) && text.iter().filter(control).count() > text.len() / 100
}

/// Drops the UTF-8 byte order mark.
pub(super) fn without_bom(head: &[u8]) -> &[u8] {
    head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head)
}

/// The checksum tells, for old archives have no magic.
fn is_tar(head: &[u8]) -> bool {
    let Some(header) = head.get(..512) else {
        return false;
    };
    let Ok(field) = std::str::from_utf8(&header[148..156]) else {
        return false;
    };
    let Ok(checksum) = u64::from_str_radix(field.trim_matches([' ', '\0']), 8) else {
        return false;
    };
    let sum: u64 = header[..148]
        .iter()
        .chain(&header[156..])
        .map(|&b| u64::from(b))
        .sum();
    checksum == sum + 8 * u64::from(b' ') && header[0] != 0
}

/// JSON, or a log of JSON lines, or text that merely starts with a brace.
fn braces(text: &[u8]) -> Option<Form> {
    let inside = text[1..].iter().find(|b| !b.is_ascii_whitespace());
    if !matches!(inside, None | Some(b'"' | b'}')) {
        return None;
    }
    let first = text.split(|&b| b == b'\n').next().unwrap_or(text);
    let Ok(object) = serde_json::from_slice::<Map<String, Value>>(first) else {
        return Some(Form::Json);
    };
    // A whole object in the first line: if most lines that follow are none, it
    // is a text log whose first line happened to be one.
    let mut lines = text
        .split(|&b| b == b'\n')
        .filter(|line| !line.trim_ascii().is_empty());
    let (mut objects, mut others) = (0, 0);
    for line in lines.by_ref() {
        if line.starts_with(b"{") {
            objects += 1;
        } else {
            others += 1;
        }
    }
    if others > objects {
        return Some(Form::Text);
    }
    Some(logged(&object))
}

fn logged(object: &Map<String, Value>) -> Form {
    const KUBERNETES: &[&str] = &[
        "kind",
        "apiVersion",
        "items",
        "object",
        "auditID",
        "metadata",
        "data",
        "involvedObject",
    ];
    const MESSAGE_KEYS: &[&str] = &["log", "msg", "message", "line"];
    const WHEN: &[&str] = &[
        "time",
        "ts",
        "timestamp",
        "@timestamp",
        "asctime",
        "level",
        "severity",
    ];
    let has = |names: &[&str]| names.iter().any(|name| object.contains_key(*name));
    let routed = object
        .get("event")
        .is_some_and(|event| event.get("involvedObject").is_some());
    if has(KUBERNETES) || routed || foreign::is_known(object) {
        return Form::Json;
    }
    let says = MESSAGE_KEYS
        .iter()
        .any(|name| object.get(*name).is_some_and(Value::is_string));
    // stern's lines have no time; steps of a training may have no text.
    let stern = says && has(&["podName"]) && has(&["containerName"]);
    let trained = has(&["loss", "train_loss", "lm_loss"])
        && has(&["step", "iteration", "iter", "global_step", "epoch"]);
    // structlog calls the message so; other records have events, and no level.
    let event = object.get("event").is_some_and(Value::is_string)
        && has(&["level", "log_level"])
        && has(&["timestamp", "time", "ts"]);
    if stern || trained || event || says && has(WHEN) {
        Form::JsonLog
    } else {
        Form::JsonLines
    }
}

/// Objects below what a shell or kubectl said first: `$ kubectl get …`,
/// `Warning: …`. Those lines are rejected one by one.
///
/// Where a program's log was asked for, too, objects may be lines of it, and the whole is taken apart by command.
fn starts_with_chatter(text: &[u8]) -> bool {
    let prints_a_log = |line: &[u8]| std::str::from_utf8(line).is_ok_and(kubectl::prints_a_log);
    if text.split(|&b| b == b'\n').any(prints_a_log) {
        return false;
    }
    let mut lines = text.split(|&b| b == b'\n').take(20);
    let Some(brace) = lines.position(|line| line.starts_with(b"{")) else {
        return false;
    };
    let start: usize = text
        .split(|&b| b == b'\n')
        .take(brace)
        .map(|line| line.len() + 1)
        .sum();
    let object = &text[start..text.len().min(start + 80)];
    let keys: [&[u8]; 4] = [
        b"\"apiVersion\"",
        b"\"kind\"",
        b"\"items\"",
        b"\"type\":\"ADDED\"",
    ];
    let inside = object[1..].trim_ascii_start();
    keys.iter().any(|key| inside.starts_with(key))
}

/// Lines of a shell above what was asked for.
pub(super) fn is_chatter(line: &[u8]) -> bool {
    line.starts_with(b"$ ") || line.starts_with(b"Warning: ")
}

/// An array of objects, and not `[INFO]`, `[rank0]:` or `[2026-11-21 …]`.
fn brackets(text: &[u8]) -> bool {
    let mut rest = text[1..].iter().filter(|b| !b.is_ascii_whitespace());
    match rest.next() {
        None | Some(b'{') => true,
        Some(b'[') => rest.next() == Some(&b'{'),
        Some(b']') => rest.next().is_none(),
        // An array of words or numbers, such as a bundle's list of its errors.
        _ => serde_json::from_slice::<Vec<Value>>(text).is_ok(),
    }
}

fn is_html(text: &[u8]) -> bool {
    let start = text[..text.len().min(64)].to_ascii_lowercase();
    start.starts_with(b"<!doctype html") || start.starts_with(b"<html")
}

/// A document or an API's answer, and not a kernel's line (`<6>[    0.0] …`).
fn is_xml(text: &[u8]) -> bool {
    let Some(end) = memchr::memchr(b'>', text) else {
        return false;
    };
    let tag = &text[1..end];
    tag.starts_with(b"?xml ") || memchr::memmem::find(tag, b" xmlns=").is_some()
}

fn is_yaml(text: &[u8]) -> bool {
    let mut lines = text
        .split(|&b| b == b'\n')
        .map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let first = lines
        .clone()
        .find(|line| !line.starts_with(b"#") && !line.is_empty() && !is_chatter(line));
    let marked = first.is_some_and(|line| line == b"---" || line.starts_with(b"%YAML"));
    let field = |line: &[u8], name: &[u8]| {
        line.strip_prefix(b"- ")
            .unwrap_or(line)
            .strip_prefix(name)
            .is_some_and(|rest| rest.starts_with(b":"))
    };
    let api = |line: &[u8]| field(line, b"apiVersion");
    let kind = |line: &[u8]| field(line, b"kind");
    let foreign = |line: &[u8]| {
        let line = line.strip_prefix(b"- ").unwrap_or(line);
        let line = line.strip_prefix(b"  ").unwrap_or(line);
        line.iter()
            .position(|b| *b == b':')
            .and_then(|end| std::str::from_utf8(&line[..end]).ok())
            .is_some_and(foreign::is_yaml_key)
    };
    let starts_as_mapping = first.is_some_and(|line| {
        line.contains(&b':') && line.first().is_some_and(u8::is_ascii_lowercase)
    });
    marked
        || first.is_some_and(api)
        || (starts_as_mapping && lines.clone().any(kind) && lines.clone().any(api))
        || (first.is_some_and(is_field) && lines.any(foreign))
}

/// `key:`, perhaps as the first of a list's item.
fn is_field(line: &[u8]) -> bool {
    let line = line.strip_prefix(b"- ").unwrap_or(line);
    let key = line
        .iter()
        .take_while(|b| b.is_ascii_alphanumeric() || **b == b'_')
        .count();
    key > 0 && line.get(key) == Some(&b':') && matches!(line.get(key + 1), None | Some(b' '))
}

#[cfg(test)]
mod tests;
