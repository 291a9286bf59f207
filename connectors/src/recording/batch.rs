//! What the reader hands to the decoders: some 256 KiB of records at a time.

use std::sync::Arc;

use super::folder_context::FolderContext;
use super::summary::Tally;
use crate::contract::{AnswerFormat, RecordFormat, TextFormat};
use crate::logs::LogSource;
use crate::observation::Observation;

/// A batch is sent on when it holds this much.
pub(super) const BATCH_BYTES: usize = 256 << 10;

/// Records of one file and one kind, in the file's order.
#[derive(Debug)]
pub(super) struct Batch {
    /// Position in the order of reading, from 0, without gaps.
    pub(super) seq: u64,
    pub(super) file: usize,
    pub(super) name: Arc<str>,
    pub(super) kind: Kind,
    pub(super) bytes: Vec<u8>,
    pub(super) cuts: Vec<RecordEnd>,
    /// What the reader itself turned away.
    pub(super) tally: Tally,
}

/// Where a record ends in the batch's bytes (it starts where the one before
/// ends), and the line it starts at in its file.
#[derive(Clone, Copy, Debug)]
pub(super) struct RecordEnd {
    pub(super) end: usize,
    pub(super) line: u64,
}

/// How the records of a batch are decoded.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// JSON objects, perhaps the items of a list of that kind, or of an array
    /// `within` this key of an answer.
    Json {
        list_kind: Option<Arc<str>>,
        within: &'static str,
    },
    /// YAML documents or, where `item`, items of a list.
    Yaml {
        item: bool,
        list_kind: Option<Arc<str>>,
    },
    /// The parts of one answer of a log store.
    Answer(&'static AnswerFormat),
    /// Consecutive lines of a log; the file's batches go to one worker in order.
    Text { source: Arc<LogSource>, last: bool },
    /// A dump of PyTorch's flight recorder, a whole file.
    FlightRecorder,
    /// Consecutive lines of a format of its own, likewise.
    Format {
        format: &'static TextFormat,
        source: Arc<LogSource>,
        last: bool,
    },
    /// Binary records of a format of its own, likewise.
    Records {
        format: &'static RecordFormat,
        last: bool,
    },
    /// What kubectl printed for people, a whole file.
    Pasted {
        source: Arc<LogSource>,
        beside: FolderContext,
    },
}

impl Kind {
    /// JSON objects that stand in no list.
    pub(super) const PLAIN: Self = Self::Json {
        list_kind: None,
        within: "",
    };

    /// Whether records of both can stand in one batch.
    pub(super) fn joins(&self, other: &Self) -> bool {
        match (self, other) {
            (
                Self::Json {
                    list_kind: a,
                    within: x,
                },
                Self::Json {
                    list_kind: b,
                    within: y,
                },
            ) => a == b && x == y,
            (
                Self::Yaml {
                    item: a,
                    list_kind: x,
                },
                Self::Yaml {
                    item: b,
                    list_kind: y,
                },
            ) => a == b && x == y,
            (Self::Answer(a), Self::Answer(b)) => a == b,
            (Self::Records { format: a, last: x }, Self::Records { format: b, last: y }) => {
                a == b && x == y
            }
            _ => false,
        }
    }
}

impl Batch {
    /// The records with their lines.
    pub(super) fn records(&self) -> impl Iterator<Item = (&[u8], u64)> {
        let mut start = 0;
        self.cuts.iter().map(move |cut| {
            let record = &self.bytes[start..cut.end];
            start = cut.end;
            (record, cut.line)
        })
    }
}

/// What became of a batch.
#[derive(Debug)]
pub(super) struct BatchResult {
    pub(super) seq: u64,
    pub(super) file: usize,
    pub(super) name: Arc<str>,
    pub(super) observations: Vec<Observation>,
    pub(super) tally: Tally,
}
