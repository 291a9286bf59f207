//! Records as Google answers them to facts, by the code that reads recordings.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use serde_json::Value;

use crate::cloud::field::{self, Fields};
use crate::contract::{ForeignOutput, ForeignRecord};
use crate::event::Origin;
use crate::gcp;
use crate::observation::{Observation, Rejection};
use crate::time::Nanos;

/// Reasons for which records were turned away that are told.
const MOST_REASONS: usize = 3;

/// Makes facts of the records of one answer, each record once.
#[derive(Debug)]
pub(super) struct Emitter {
    file: Arc<str>,
    observed: Nanos,
    line: u64,
    seen: BTreeSet<[String; 3]>,
    /// Records that could not be read, and why the first of them.
    broken: u64,
    why: BTreeSet<String>,
}

impl Emitter {
    /// `source` says where records come from, `observed` when they were obtained.
    pub(super) fn new(source: &str, observed: Nanos) -> Self {
        Self {
            file: source.into(),
            observed,
            line: 0,
            seen: BTreeSet::new(),
            broken: 0,
            why: BTreeSet::new(),
        }
    }

    /// Tells a log entry; whether it was not told before.
    pub(super) fn entry(&mut self, entry: &Value, out: &mut Vec<Observation>) -> bool {
        let text = |key: &str| {
            let text = entry.get(key).and_then(Value::as_str);
            text.unwrap_or_default().to_owned()
        };
        // What makes an entry what it is, says its documentation.
        let is_new = self
            .seen
            .insert([text("timestamp"), text("insertId"), text("logName")]);
        if is_new {
            self.record(entry, out);
        }
        is_new
    }

    /// Tells a record of any kind.
    pub(super) fn record(&mut self, record: &Value, out: &mut Vec<Observation>) {
        self.line += 1;
        let Some(fields) = record.as_object() else {
            return self.reject("a record that is not an object");
        };
        let before = out.len();
        match self.decode(fields) {
            Ok(observations) => out.extend(observations),
            Err(Rejection::Irrelevant(_)) => {}
            Err(Rejection::Malformed(why)) => self.reject(&why),
        }
        for one in out.iter_mut().skip(before) {
            if let Observation::Event(event) = one {
                event.observed = Some(self.observed);
            }
        }
    }

    fn decode(&self, fields: &Fields) -> Result<Vec<Observation>, Rejection> {
        let origin = Origin {
            file: Arc::clone(&self.file),
            line: self.line,
        };
        let record = ForeignRecord {
            fields,
            within: "",
            origin: &origin,
        };
        let mut emitted = ForeignOutput::default();
        // A record that the decoder has a mistake about must not cost the others.
        let decoded = catch_unwind(AssertUnwindSafe(|| gcp::decode(record, &mut emitted)));
        let mistake = || Err(Rejection::Malformed("a mistake in the decoder".to_owned()));
        decoded.unwrap_or_else(|_| mistake())?;
        Ok(emitted.observations)
    }

    fn reject(&mut self, why: &str) {
        self.broken += 1;
        if self.why.len() < MOST_REASONS {
            self.why.insert(format!("record {}: {why}", self.line));
        }
    }

    /// How many records could not be read and why, since this was last asked.
    pub(super) fn broken(&mut self) -> Option<String> {
        let broken = std::mem::take(&mut self.broken);
        let why = std::mem::take(&mut self.why);
        (broken > 0).then(|| {
            let why: Vec<String> = why.into_iter().collect();
            format!("{broken} records cannot be parsed ({})", why.join("; "))
        })
    }
}

/// When a log entry was written, as it says.
pub(super) fn time_of(entry: &Value) -> Option<Nanos> {
    let read = field::time(entry.as_object()?, &["timestamp"])?;
    Some(read.stamp.lo)
}

/// The project in an entry's log's name.
pub(super) fn project_of(entry: &Value) -> Option<&str> {
    let name = entry.get("logName")?.as_str()?;
    name.strip_prefix("projects/")?.split('/').next()
}
