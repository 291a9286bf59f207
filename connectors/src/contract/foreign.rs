//! A JSON record that is not of Kubernetes, and who decodes it.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{RecordedLine, StoredLine};
use crate::event::{Origin, SourceKind};
use crate::observation::{Observation, Rejection};

/// A record and where it stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ForeignRecord<'r> {
    /// The record's own fields.
    pub(crate) fields: &'r Map<String, Value>,
    /// The key of the array it is an item of (`Records`); empty where none.
    pub(crate) within: &'r str,
    pub(crate) origin: &'r Origin,
}

/// What records told. Lines of logs are kept apart: those of one batch are
/// joined where they are one traceback.
#[derive(Debug, Default)]
pub(crate) struct ForeignOutput {
    pub(crate) observations: Vec<Observation>,
    pub(crate) lines: Vec<RecordedLine>,
    /// Lines of log stores, as their live answers have them.
    pub(crate) stored: BTreeMap<SourceKind, Vec<StoredLine>>,
}

impl ForeignOutput {
    /// A line of a log store.
    pub(crate) fn line(&mut self, kind: SourceKind, line: StoredLine) {
        self.stored.entry(kind).or_default().push(line);
    }
}

/// Who decodes a kind of record.
pub(crate) struct ForeignDecoder {
    /// Whether it is such a record: its fields, and the array it is an item of.
    pub(crate) recognise: fn(&Map<String, Value>, &str) -> bool,
    pub(crate) decode: fn(ForeignRecord<'_>, &mut ForeignOutput) -> Result<(), Rejection>,
    /// Top-level keys by which YAML is known to be such records.
    pub(crate) yaml: &'static [&'static str],
}
