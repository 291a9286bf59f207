//! Collects the reader's records into batches and hands them to the decoders.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};

use super::batch::{BATCH_BYTES, Batch, Kind, RecordEnd};
use super::folder_context::Folder;
use super::summary::{FileStatus, FileSummary, Tally};
use crate::contract::{Input, Options};
use crate::redact::redact;
use crate::terminal::line;
use whathappened_model::coverage::{MORE_THAN_COUNTED, MORE_THAN_HELD, READ_TOO_LONG};

/// A batch that only counts rejections is sent on after this many.
const REJECTIONS: u64 = 4096;

/// The reader's end of the channels.
pub(super) struct Feed<'o> {
    pub(super) options: &'o Options,
    /// What stands beside the file at hand.
    pub(super) folder: Folder,
    workers: Vec<SyncSender<Batch>>,
    seq: u64,
    batch: Option<Batch>,
    files: Vec<FileSummary>,
    /// Records that were looked at.
    records: u64,
    /// Nobody listens any more, or no more may be opened.
    closed: bool,
    /// Whoever takes what is read has enough.
    enough: Arc<AtomicBool>,
    /// When reading ends, however much is left.
    deadline: Option<Instant>,
    /// Reading was ended by it.
    is_late: Cell<bool>,
}

impl<'o> Feed<'o> {
    pub(super) fn new(
        inputs: &[Input],
        options: &'o Options,
        workers: Vec<SyncSender<Batch>>,
        enough: Arc<AtomicBool>,
    ) -> Self {
        Self {
            options,
            folder: Folder::of_inputs(inputs),
            workers,
            seq: 0,
            batch: None,
            files: Vec::new(),
            records: 0,
            closed: false,
            enough,
            deadline: options.max_time.map(|time| Instant::now() + time),
            is_late: Cell::new(false),
        }
    }

    /// Starts a file; what follows is of it.
    pub(super) fn start(&mut self, name: &str) -> usize {
        self.flush();
        let mut file = FileSummary {
            name: redact(&line(name)).into(),
            ..FileSummary::default()
        };
        let most = self.options.max_members;
        if self.files.len() >= most && !self.closed {
            self.closed = true;
            file.status = FileStatus::Failed(format!(
                "it comes after {most} files and archive members, which is the limit; it and what follows are left out: read them separately"
            ));
        }
        self.files.push(file);
        self.files.len() - 1
    }

    /// The file started last.
    pub(super) fn last(&self) -> usize {
        self.files.len().saturating_sub(1)
    }

    /// The file's own line in the summary.
    pub(super) fn file(&mut self, file: usize) -> &mut FileSummary {
        &mut self.files[file]
    }

    /// Notes how reading a file ended; the first trouble is the one that counts.
    pub(super) fn failure(&mut self, file: usize, status: FileStatus) {
        let entry = &mut self.files[file];
        if entry.status == FileStatus::Complete {
            entry.status = status;
        }
    }

    /// Whether reading on is of no use.
    pub(super) fn is_closed(&self) -> bool {
        self.closed || self.enough.load(Ordering::Relaxed) || self.is_late()
    }

    /// Whether the time for reading is over; whoever asks reads no further.
    fn is_late(&self) -> bool {
        if self.deadline.is_some_and(|end| Instant::now() >= end) {
            self.is_late.set(true);
        }
        self.is_late.get()
    }

    /// Counts a record; what is too much of a file ends the reading.
    fn count(&mut self, file: usize) {
        self.records += 1;
        let most = self.options.max_records;
        if self.records > most && !self.closed {
            self.closed = true;
            let why = format!("more than {most} {MORE_THAN_COUNTED}; what follows is left out");
            self.failure(file, FileStatus::Failed(why));
        }
    }

    /// Counts a record that is of no use, whatever it says.
    pub(super) fn pass(&mut self, file: usize) {
        self.count(file);
        let entry = self.file(file);
        entry.records += 1;
        entry.irrelevant += 1;
    }

    /// Adds a record.
    pub(super) fn record(&mut self, file: usize, kind: &Kind, record: &[u8], line: u64) {
        self.count(file);
        let batch = self.batch_for(file, Some(kind));
        batch.bytes.extend_from_slice(record);
        batch.cuts.push(RecordEnd {
            end: batch.bytes.len(),
            line,
        });
        // An answer is joined as a whole, within reason.
        let full = match kind {
            Kind::Answer(_) => self.options.max_document_bytes,
            Kind::Pasted { .. } => 0,
            _ => BATCH_BYTES,
        };
        if self
            .batch
            .as_ref()
            .is_some_and(|batch| batch.bytes.len() >= full)
        {
            self.flush();
        }
    }

    /// Adds consecutive whole lines of a log; `last` ends the log.
    pub(super) fn lines(&mut self, file: usize, kind: Kind, lines: &[u8], line: u64) {
        // A machine that loses power leaves blocks of zeros in its logs.
        let written: Vec<u8>;
        let lines = if lines.contains(&0) {
            written = lines.iter().copied().filter(|byte| *byte != 0).collect();
            &written
        } else {
            lines
        };
        let batch = self.batch_for(file, Some(&kind));
        batch.kind = kind;
        batch.bytes.extend_from_slice(lines);
        batch.cuts.push(RecordEnd {
            end: batch.bytes.len(),
            line,
        });
        self.flush();
    }

    /// Counts a record that is turned away unread.
    pub(super) fn reject(&mut self, file: usize, line: u64, why: &str) {
        let keep = self.options.rejected_kept;
        let batch = self.batch_for(file, None);
        batch.tally.reject(line, why, keep);
        if batch.tally.rejected >= REJECTIONS {
            self.flush();
        }
    }

    /// Ends a file with a batch that has nothing more.
    pub(super) fn last_batch(&mut self, file: usize, kind: Kind) {
        let batch = self.batch_for(file, Some(&kind));
        batch.kind = kind;
    }

    fn batch_for(&mut self, file: usize, kind: Option<&Kind>) -> &mut Batch {
        let joins = self.batch.as_ref().is_some_and(|batch| {
            batch.file == file
                && kind.is_none_or(|kind| batch.cuts.is_empty() || batch.kind.joins(kind))
        });
        if !joins {
            self.flush();
        }
        let seq = self.seq;
        let name = &self.files[file].name;
        let batch = self.batch.get_or_insert_with(|| Batch {
            seq,
            file,
            name: Arc::clone(name),
            kind: Kind::PLAIN,
            bytes: Vec::new(),
            cuts: Vec::new(),
            tally: Tally::default(),
        });
        if batch.cuts.is_empty()
            && let Some(kind) = kind
        {
            batch.kind = kind.clone();
            batch.bytes.reserve(BATCH_BYTES);
        }
        batch
    }

    /// Sends on what is there.
    pub(super) fn flush(&mut self) {
        let Some(batch) = self.batch.take() else {
            return;
        };
        self.seq += 1;
        // A log's lines depend on those before, so one worker gets them all.
        let turn = match batch.kind {
            Kind::Text { .. } | Kind::Format { .. } | Kind::Records { .. } => batch.file,
            _ => usize::try_from(batch.seq).unwrap_or(0),
        };
        let worker = &self.workers[turn % self.workers.len()];
        if worker.send(batch).is_err() {
            self.closed = true;
        }
    }

    /// Sends the rest and gives what the reader knows of each file.
    pub(super) fn finish(mut self) -> Vec<FileSummary> {
        self.flush();
        if self.enough.load(Ordering::Relaxed) && self.options.max_weight.is_some() {
            let why = format!(
                "{MORE_THAN_HELD}; the rest of this and what follows is left out: `whathappened import` has no such limit"
            );
            self.failure(self.last(), FileStatus::Truncated(why));
        }
        if self.is_late.get() && !self.files.is_empty() {
            let most = self.options.max_time.unwrap_or_default();
            let why = format!(
                "{READ_TOO_LONG} {}, which is the limit; the rest of this and what follows is left out: raise --max-read-time, or read less at once",
                seconds(most)
            );
            self.failure(self.last(), FileStatus::Truncated(why));
        }
        self.files
    }
}

/// A length of time for people.
fn seconds(time: Duration) -> String {
    match time.as_secs() {
        0 => format!("{} ms", time.as_millis()),
        seconds if seconds.is_multiple_of(60) => format!("{} min", seconds / 60),
        seconds => format!("{seconds} s"),
    }
}
