//! A line of a log as a log store holds it.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::event::{Entities, SourceKind};
use crate::time::Stamp;

/// Labels of a stream or a line: names as the store has them, and their values.
pub type Labels = BTreeMap<String, String>;

/// One line as a store has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredLine {
    /// When, by the store, with its precision: milliseconds mean `[t, t + 1 ms)`.
    pub stamp: Stamp,
    /// The line as it was written by the process, or as the collector kept it.
    pub text: String,
    /// What is known of the whole stream. Names as the store has them, with `.`
    /// and `-` as `_`.
    pub labels: Arc<Labels>,
    /// What is known of this line alone.
    pub metadata: Labels,
    /// The store's own name of the line, which tells equal lines apart.
    pub id: Option<String>,
    /// Where it stands among lines of one time in its stream, within one answer.
    pub order: i64,
    /// Line of the file it was read from, 0 where there is no file.
    pub number: u64,
}

impl StoredLine {
    /// What is known of the line: what its stream says goes before its own.
    #[must_use]
    pub fn all_labels(&self) -> Labels {
        let mut all = self.metadata.clone();
        let stream = self.labels.iter();
        all.extend(stream.map(|(name, value)| (name.clone(), value.clone())));
        all
    }
}

/// One line as a store's record holds it.
#[derive(Clone, Debug)]
pub(crate) struct RecordedLine {
    /// What tells its stream from others. Where a pod is named this is not
    /// looked at: namespace, pod and container are its stream then, as in files.
    pub(crate) stream: String,
    /// The store's time.
    pub(crate) time: Stamp,
    /// The line as the program wrote it.
    pub(crate) text: String,
    pub(crate) source_kind: SourceKind,
    pub(crate) entities: Entities,
    /// As the store has it; where it has none the text is looked at.
    pub(crate) severity: Option<String>,
    /// What else the record says.
    pub(crate) attributes: Map<String, Value>,
    /// Line of the file that the record starts at.
    pub(crate) line: u64,
}
