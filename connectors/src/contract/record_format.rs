//! A format of binary records that has a decoder of its own, beside text and JSON.

use std::fmt;
use std::ops::Range;

use super::{FormatOutput, Options};

/// One format of binary records: how it is recognised, taken apart and read.
pub(crate) struct RecordFormat {
    /// For people.
    pub(crate) words: &'static str,
    /// Whether the first bytes of a file are of this format.
    pub(crate) is: fn(&[u8]) -> bool,
    /// Starts taking a file apart.
    pub(crate) framer: fn() -> Box<dyn Framer>,
    /// Starts reading the records of the file of a name.
    pub(crate) reader: fn(&str, &Options) -> Box<dyn RecordReader>,
}

/// What comes next in a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// So many bytes have to be there before anything can be said.
    Need(usize),
    /// So many bytes are of no use.
    Skip(usize),
    /// A record, or a piece of one.
    Piece {
        /// Where its bytes are.
        bytes: Range<usize>,
        /// How many bytes it takes with what is around it.
        whole: usize,
        /// It begins a record.
        begins: bool,
        /// It ends a record.
        ends: bool,
    },
    /// So many bytes are not what they claim to be, and what follows them may be read.
    Bad(usize, String),
    /// Nothing that follows can be read.
    Lost(String),
}

/// Takes a file of binary records apart.
pub(crate) trait Framer: Send {
    /// Says what the bytes that come next are; they stand `at` bytes after the file's begin.
    fn next(&mut self, bytes: &[u8], at: u64) -> Step;
}

/// Reads one file's records, in order.
pub(crate) trait RecordReader {
    /// Takes a record; `number` counts them from 1.
    fn record(&mut self, record: &[u8], number: u64, found: &mut FormatOutput);

    /// There are no more.
    fn finish(&mut self, found: &mut FormatOutput);
}

impl PartialEq for RecordFormat {
    fn eq(&self, other: &Self) -> bool {
        self.words == other.words
    }
}

impl Eq for RecordFormat {}

impl fmt::Debug for RecordFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words)
    }
}
