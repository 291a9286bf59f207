//! The error files of torchrun's workers: `attempt_0/3/error.json`, or where `TORCHELASTIC_ERROR_FILE` says.
//!
//! A function that is decorated with `@record` writes the exception that ends its process (torch
//! `distributed/elastic/multiprocessing/errors/error_handler.py`, `record_exception`)
//!
//! ```text
//! {"message": {"message": "ValueError: bad shape", "errorCode": 1,
//!              "extraInfo": {"py_callstack": "Traceback (most recent call last):\n…", "timestamp": "1795274427"}}}
//! ```
//!
//! The traceback is told as a line of the worker's log, at the time that the file gives: the earliest of several workers
//! failed first. Which rank it was only the folder tells, and only within its node.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::contract::{ForeignDecoder, ForeignOutput, ForeignRecord, RecordedLine};
use crate::event::{Entities, SourceKind};
use crate::observation::Rejection;
use crate::time::{SECOND, Stamp};

/// An error file.
pub(crate) const ERROR_FILE: ForeignDecoder = ForeignDecoder {
    recognise: |fields, _| extra(fields).is_some_and(|extra| extra.contains_key("py_callstack")),
    decode,
    yaml: &[],
};

fn extra(fields: &Map<String, Value>) -> Option<&Map<String, Value>> {
    fields.get("message")?.get("extraInfo")?.as_object()
}

fn decode(record: ForeignRecord<'_>, out: &mut ForeignOutput) -> Result<(), Rejection> {
    let text = |of: Option<&Value>| of.and_then(Value::as_str).map(str::to_owned);
    let extra = extra(record.fields);
    let message = record.fields.get("message");
    let traceback = text(extra.and_then(|extra| extra.get("py_callstack")));
    let traceback = traceback.filter(|text| !text.trim().is_empty());
    let short = text(message.and_then(|message| message.get("message")));
    let body = traceback
        .or(short)
        .ok_or_else(|| Rejection::Irrelevant("an error file without an error".to_owned()))?;
    let time = extra.and_then(|extra| extra.get("timestamp"));
    let time = time.and_then(|time| time.as_i64().or_else(|| time.as_str()?.trim().parse().ok()));
    let time = time.and_then(|seconds| seconds.checked_mul(SECOND));
    let mut attributes = Map::new();
    for (key, value) in worker(&record.origin.file) {
        attributes.insert(key.to_owned(), value.into());
    }
    let code = message.and_then(|message| message.get("errorCode"));
    if let Some(code) = code.and_then(Value::as_i64) {
        attributes.insert("error_code".to_owned(), code.to_string().into());
    }
    out.lines.push(RecordedLine {
        stream: record.origin.file.to_string(),
        time: time.map_or(Stamp::OPEN, Stamp::second),
        text: body,
        source_kind: SourceKind::ContainerLog,
        entities: Entities::default(),
        severity: Some("ERROR".to_owned()),
        attributes,
        line: record.origin.line,
    });
    Ok(())
}

/// What the folders of torchrun's logs say of a worker: `RUN/attempt_1/3/error.json`.
fn worker(file: &str) -> BTreeMap<&'static str, String> {
    let mut parts = file.rsplit(['/', '\\', '!']).skip(1);
    let is_number = |part: &&str| !part.is_empty() && part.bytes().all(|one| one.is_ascii_digit());
    let rank = parts.next().filter(is_number);
    let attempt = parts.next().and_then(|part| part.strip_prefix("attempt_"));
    let known = [
        ("local_rank", rank),
        ("launcher_attempt", attempt.filter(is_number)),
    ];
    known
        .into_iter()
        .filter_map(|(key, value)| Some((key, value?.to_owned())))
        .collect()
}
