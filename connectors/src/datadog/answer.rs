//! One page of an answer as it is on the wire. Every key may be missing.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::http::{Answer, HttpError};
use crate::time::Nanos;

#[derive(Deserialize)]
struct RawPage {
    #[serde(default)]
    data: Option<Vec<Box<RawValue>>>,
    #[serde(default)]
    meta: Option<Value>,
}

/// Records, where to go on, and what the answer says of itself.
#[derive(Debug)]
pub(super) struct AnswerPage {
    pub(super) records: Vec<Box<RawValue>>,
    /// The cursor of the next page; there also where this is the last.
    pub(super) after: Option<String>,
    /// Why records may be missing, in words.
    pub(super) partial: Vec<String>,
    /// The server's time.
    pub(super) date: Option<Nanos>,
}

impl AnswerPage {
    pub(super) fn of(answer: &Answer) -> Result<Self, HttpError> {
        let wire: RawPage = answer.json()?;
        let meta = wire.meta.unwrap_or_default();
        // An answer without data is that of something else.
        let records = wire.data.ok_or_else(|| {
            HttpError::Garbage(
                "a JSON document without data, which is not a search response".to_owned(),
            )
        })?;
        let after = meta.pointer("/page/after").and_then(Value::as_str);
        Ok(Self {
            records,
            after: after.filter(|after| !after.is_empty()).map(str::to_owned),
            partial: partial(&meta),
            date: answer.date(),
        })
    }
}

/// What `meta` says of an answer that is not whole.
pub(super) fn partial(meta: &Value) -> Vec<String> {
    let mut out = Vec::new();
    if meta.get("status").and_then(Value::as_str) == Some("timeout") {
        out.push("Datadog gave up part of the search (status: timeout)".to_owned());
    }
    let warnings = meta.get("warnings").and_then(Value::as_array);
    for warning in warnings.into_iter().flatten() {
        let text = |key: &str| warning.get(key).and_then(Value::as_str);
        let words: Vec<&str> = ["code", "title", "detail"]
            .into_iter()
            .filter_map(text)
            .collect();
        let words = if words.is_empty() {
            warning.to_string()
        } else {
            words.join(": ")
        };
        out.push(format!("Datadog warns: {}", crate::redact::redact(&words)));
    }
    out
}
