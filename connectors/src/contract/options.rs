//! What to read, and how much of it to take in.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

/// How long reading may take where nobody says otherwise.
const READ_TIME: Duration = Duration::from_mins(10);

/// One thing the user named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// A file or a folder.
    Path(PathBuf),
    /// Standard input, `-`.
    Stdin,
    /// What is in memory already: its name in origins, and the bytes.
    Bytes(Arc<str>, Bytes),
    /// A file that stands in for one of another name.
    Named(Arc<str>, PathBuf),
}

/// The bounds within which input is read; the defaults suit a laptop.
#[derive(Clone, Debug)]
pub struct Options {
    /// Decoding threads; at least one.
    pub workers: usize,
    /// The largest single JSON or YAML record. An object in etcd is at most
    /// 1.5 MB and an audit record a few times that.
    pub max_record_bytes: usize,
    /// The largest log line.
    pub max_line_bytes: usize,
    /// The largest piece of a document that has to be taken whole: a YAML
    /// document that is no list, one stream of a log store's answer.
    pub max_document_bytes: usize,
    /// How much a file may unpack to before its ratio is looked at.
    pub bomb_floor_bytes: u64,
    /// Unpacked bytes per packed byte above which it is taken for a bomb.
    pub bomb_ratio: u64,
    /// All that is read of one input, unpacked.
    pub max_total_bytes: u64,
    /// How many files and members of archives are opened.
    pub max_members: usize,
    /// How many records are looked at, whatever becomes of them.
    pub max_records: u64,
    /// What facts and versions may weigh in all that are taken in, a copy of what is held counting for nothing; without
    /// a bound where whoever takes them holds none in memory.
    pub max_weight: Option<u64>,
    /// How long reading may take: input that unpacks without end is no reason to wait without end. What was read by then
    /// is kept.
    pub max_time: Option<Duration>,
    /// How deep archives are opened in archives.
    pub max_nesting: usize,
    /// How many rejected records are kept with file and line; all are counted.
    pub rejected_kept: usize,
    /// Which lines of a long log are kept.
    pub log_lines: LogLines,
    /// Is told the name of a pipe that is waited for.
    pub waiting: Option<fn(&str)>,
}

/// Which lines are kept of a log that is long.
#[derive(Clone, Copy, Debug)]
pub struct LogLines {
    /// A stream of at most this many lines is kept whole.
    pub whole: usize,
    /// Of a longer one: its first lines,
    pub first: usize,
    /// its last lines, and in between those that tell something,
    pub last: usize,
    /// but no more of these than so many: a log of nothing but errors has an end as well.
    pub significant: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            workers: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            max_record_bytes: 16 << 20,
            max_line_bytes: 1 << 20,
            max_document_bytes: 64 << 20,
            bomb_floor_bytes: 1 << 30,
            bomb_ratio: 250,
            max_total_bytes: 1 << 40,
            max_members: 100_000,
            max_records: 50_000_000,
            max_weight: None,
            max_time: Some(READ_TIME),
            max_nesting: 4,
            rejected_kept: 200,
            log_lines: LogLines::default(),
            waiting: None,
        }
    }
}

impl Default for LogLines {
    fn default() -> Self {
        Self {
            whole: 20_000,
            first: 1_000,
            last: 5_000,
            significant: 100_000,
        }
    }
}
