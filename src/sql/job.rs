//! One statement for a process of its own.
//!
//! A statement can ask for more memory and time than any plan shows, and nothing
//! inside one process can take either away again. So the service has a child
//! process run it, which is ended where it goes too far, and takes nobody with it.

use std::cell::Cell;
use std::io::{self, Write};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::ipc::writer::StreamWriter;
use datafusion::execution::SendableRecordBatchStream;
use futures::StreamExt as _;
use serde::{Deserialize, Serialize};

use super::{Session, Statement, StoredTables};
use crate::access::Access;
use crate::case::Rules;
use crate::error::Error;
use crate::render::{Format, RenderError, RowWriter, Style};

/// Rows that are written at once, at most; of the first nobody knows how long they are.
const AT_ONCE: usize = 256;
const AT_FIRST: usize = 16;

/// Bytes that the end of an answer may take.
const END: u64 = 64;

/// How rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Form {
    /// An array of objects.
    Json,
    /// An object a line.
    Ndjson,
    /// Comma-separated values with a head.
    Csv,
    /// Arrow's stream format.
    Arrow,
}

/// A statement, what it is run over, and how much it may answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// The store's folder.
    pub store: PathBuf,
    /// A folder with rules of one's own.
    pub rules: Option<PathBuf>,
    /// What the caller may see.
    pub access: Access,
    /// The statement.
    pub statement: String,
    /// How its rows are written.
    pub form: Form,
    /// Rows that are written; the rest is left out.
    pub max_rows: u64,
    /// Bytes that are written at most; rows that do not fit are left out.
    pub max_bytes: u64,
    /// What a database client asks beside.
    #[cfg(any(feature = "flight", feature = "postgres"))]
    #[serde(default)]
    pub wire: Option<super::wires::WireStatement>,
    /// Runs it on Ballista as far as it is worth it.
    #[cfg(feature = "distributed")]
    #[serde(default)]
    pub ballista: Option<OnBallista>,
}

/// A scheduler, and how long it may take.
#[cfg(feature = "distributed")]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OnBallista {
    /// `df://HOST:PORT`.
    pub scheduler: String,
    /// Until the statement is given up.
    pub timeout: std::time::Duration,
}

/// What a line begins with that names a job of the scheduler.
#[cfg(feature = "distributed")]
pub const JOB: &str = "ballista job ";

#[cfg(feature = "distributed")]
impl OnBallista {
    /// The scheduler; its jobs are told on standard error, so that whoever ends this process
    /// can end them too.
    fn open(&self) -> Result<super::Ballista, Error> {
        let ballista = super::Ballista::at(&self.scheduler, self.timeout)?;
        Ok(ballista.notifying(|job| note!("{JOB}{job}")))
    }
}

/// What became of a statement.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// Rows that were written.
    pub rows: u64,
    /// There were more.
    pub truncated: bool,
    /// Part of the store is damaged and not in them.
    #[serde(default)]
    pub incomplete: bool,
    /// Why it was not answered.
    pub error: Option<String>,
    /// What to do about that.
    pub hints: Vec<String>,
    /// Types of its parameters by `PostgreSQL`'s numbers, where only those were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parameters: Vec<u32>,
}

impl Job {
    /// Runs the statement and writes its rows.
    ///
    /// # Errors
    /// When it is not one statement, does more than read, or fails.
    pub async fn run(&self, rules: Arc<Rules>, out: &mut dyn Write) -> Result<Report, Error> {
        let stored = StoredTables::new(self.store.clone(), rules).seen_by(self.access.clone());
        #[cfg(feature = "distributed")]
        let ballista = self.ballista.as_ref().map(OnBallista::open).transpose()?;
        #[cfg(feature = "distributed")]
        let stored = match &ballista {
            Some(ballista) => stored.spread(ballista.timeout())?,
            None => stored,
        };
        #[cfg(any(feature = "flight", feature = "postgres"))]
        if let Some(wire) = &self.wire {
            let session = wire.session(stored)?;
            #[cfg(feature = "distributed")]
            let session = session.run_on(ballista);
            let started = wire.start(&session, &self.statement).await?;
            let mut report = self.write(&session, started.rows, out).await?;
            report.parameters = started.parameters;
            return Ok(report);
        }
        let session = Session::of_store(stored)?;
        #[cfg(feature = "distributed")]
        let session = session.run_on(ballista);
        let rows = session.run(one(&self.statement)?).await?;
        self.write(&session, rows, out).await
    }

    /// Writes rows until there are enough.
    async fn write(
        &self,
        session: &Session,
        mut rows: SendableRecordBatchStream,
        out: &mut dyn Write,
    ) -> Result<Report, Error> {
        let style = Style::default();
        let bytes = Rc::new(Cell::new(0));
        let mut counted = CountingWriter {
            out,
            bytes: Rc::clone(&bytes),
            most: self.max_bytes,
        };
        let mut room = Room {
            bytes: Rc::clone(&bytes),
            most: self.max_bytes.saturating_sub(END),
            widest: 0,
        };
        let mut report = Report::default();
        let mut writer = OutputWriter::new(self.form, &rows.schema(), &style, &mut counted)?;
        'all: while let Some(batch) = rows.next().await {
            let batch = batch.map_err(|error| session.failed(error))?;
            let mut from = 0;
            while from < batch.num_rows() {
                let left = self.max_rows.saturating_sub(report.rows);
                let left = usize::try_from(left).unwrap_or(usize::MAX);
                let fit = room.rows().min(left);
                if fit == 0 {
                    report.truncated = true;
                    break 'all;
                }
                let count = fit.min(batch.num_rows() - from);
                let before = bytes.get();
                writer.write(&batch.slice(from, count))?;
                room.took(before, count);
                report.rows += count as u64;
                from += count;
            }
        }
        writer.finish()?;
        report.incomplete = !session.damage().is_empty();
        Ok(report)
    }
}

/// The one statement of a text.
pub(super) fn one(text: &str) -> Result<Statement, Error> {
    let mut statements = Session::parse(text)?.into_iter();
    let (Some(statement), None) = (statements.next(), statements.next()) else {
        return Err(Error::misused(
            "the request contains more than one statement, or none",
            "send one statement per request",
        ));
    };
    Ok(statement)
}

/// How many more rows fit into an answer.
struct Room {
    bytes: Rc<Cell<u64>>,
    most: u64,
    /// Bytes of a row, of those that were written together and were longest.
    widest: u64,
}

impl Room {
    /// Rows to write at once; none where not one more fits.
    fn rows(&self) -> usize {
        if self.widest == 0 {
            return AT_FIRST;
        }
        let left = self.most.saturating_sub(self.bytes.get());
        if left < self.widest {
            return 0;
        }
        // Those that come may be longer than those that came.
        let fit = left / self.widest / 4;
        usize::try_from(fit).unwrap_or(AT_ONCE).clamp(1, AT_ONCE)
    }

    /// Notes that so many rows were written.
    fn took(&mut self, before: u64, rows: usize) {
        let each = self
            .bytes
            .get()
            .saturating_sub(before)
            .div_ceil(rows.max(1) as u64);
        self.widest = self.widest.max(each).max(1);
    }
}

/// Counts the bytes that were written.
struct CountingWriter<'a> {
    out: &'a mut dyn Write,
    bytes: Rc<Cell<u64>>,
    /// More than this is never written.
    most: u64,
}

impl Write for CountingWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // One row may be larger than all that may be answered.
        if bytes.len() as u64 > self.most.saturating_sub(self.bytes.get()) {
            return Err(io::Error::other(format!(
                "the statement returns more than {} MiB in a few rows; shorten its texts with left(…)",
                self.most >> 20
            )));
        }
        let written = self.out.write(bytes)?;
        self.bytes.set(self.bytes.get() + written as u64);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Rows in one form.
enum OutputWriter<'a> {
    Text(RowWriter<'a>),
    Arrow(Box<StreamWriter<&'a mut dyn Write>>),
}

impl<'a> OutputWriter<'a> {
    fn new(
        form: Form,
        schema: &SchemaRef,
        style: &'a Style,
        out: &'a mut dyn Write,
    ) -> Result<Self, RenderError> {
        let text = |format, out| RowWriter::new(schema, format, style, out).map(Self::Text);
        match form {
            Form::Json => text(Format::Json, out),
            Form::Ndjson => text(Format::Ndjson, out),
            Form::Csv => text(Format::Csv, out),
            Form::Arrow => Ok(Self::Arrow(Box::new(StreamWriter::try_new(out, schema)?))),
        }
    }

    fn write(&mut self, rows: &RecordBatch) -> Result<(), RenderError> {
        match self {
            Self::Text(writer) => writer.write(rows),
            Self::Arrow(writer) => Ok(writer.write(rows)?),
        }
    }

    fn finish(self) -> Result<(), RenderError> {
        match self {
            Self::Text(writer) => writer.finish().map(|_| ()),
            Self::Arrow(mut writer) => Ok(writer.finish()?),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn never_more_is_written_than_may_be_answered() {
        let mut out = Vec::new();
        let mut counted = CountingWriter {
            out: &mut out,
            bytes: Rc::default(),
            most: 10,
        };
        counted.write_all(b"123456").unwrap();
        // One value of a row comes in one piece.
        let error = counted.write_all(b"12345").unwrap_err();
        assert!(error.to_string().contains("in a few rows"), "{error}");
        counted.write_all(b"1234").unwrap();
        assert_eq!(out.len(), 10);
    }

    #[test]
    fn rows_are_written_while_they_fit() {
        let bytes = Rc::new(Cell::new(0_u64));
        let mut room = Room {
            bytes: Rc::clone(&bytes),
            most: 100_000,
            widest: 0,
        };
        let mut rows = 0;
        while room.rows() > 0 {
            let (before, count) = (bytes.get(), room.rows());
            bytes.set(before + 100 * count as u64);
            room.took(before, count);
            rows += count;
        }
        assert_eq!((rows, bytes.get()), (1_000, 100_000));
        room.most = u64::MAX;
        assert_eq!(room.rows(), AT_ONCE);
    }
}
