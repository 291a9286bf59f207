//! One decoding thread: batches in, observations out.

use std::borrow::Cow;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender};

use memchr::memmem;
use serde_json::Value;

use super::batch::{Batch, BatchResult, Kind};
use super::folder_context::FolderContext;
use super::foreign;
use super::summary::Tally;
use crate::LOG_STORES;
use crate::contract::Options;
use crate::contract::yaml_to_json;
use crate::contract::{AnswerFormat, ForeignOutput};
use crate::contract::{FormatOutput, RecordReader, TextReader};
use crate::event::Origin;
use crate::flight_recorder;
use crate::kubectl::{self, PasteContext};
use crate::kubernetes;
use crate::log_store::{self, EmitOptions, LabelNames};
use crate::logs::{LogSource, LogStream, emit_stored};
use crate::observation::{Observation, Rejection};
use crate::redact;

/// Decodes one JSON record, as [`crate::kubernetes::decode`] does.
pub type Decode<'d> = dyn Fn(&[u8], Option<&str>, &Origin, &mut Vec<Observation>) -> Result<(), Rejection>
    + Sync
    + 'd;

/// Decodes batches until there are no more or nobody wants the results.
pub(super) fn run(
    from: &Receiver<Batch>,
    to: &SyncSender<BatchResult>,
    options: &Options,
    decode: &Decode<'_>,
) {
    let mut open = Open::default();
    for batch in from {
        if to
            .send(decode_batch(batch, options, decode, &mut open))
            .is_err()
        {
            return;
        }
    }
}

/// Files whose lines depend on those before, by number.
#[derive(Default)]
struct Open {
    logs: HashMap<usize, LogStream>,
    formats: HashMap<usize, Box<dyn TextReader>>,
    records: HashMap<usize, Box<dyn RecordReader>>,
}

fn decode_batch(
    mut batch: Batch,
    options: &Options,
    decode: &Decode<'_>,
    open: &mut Open,
) -> BatchResult {
    let tally = std::mem::take(&mut batch.tally);
    let mut worker = Worker {
        options,
        decode,
        name: Arc::clone(&batch.name),
        out: Vec::new(),
        emitted: ForeignOutput::default(),
        tally,
    };
    match &batch.kind {
        Kind::Json { list_kind, within } => {
            for (record, line) in batch.records() {
                worker.json(record, list_kind.as_deref(), within, line);
            }
        }
        Kind::Yaml { item, list_kind } => {
            for (record, line) in batch.records() {
                worker.yaml(record, *item, list_kind.as_deref(), line);
            }
        }
        Kind::Answer(format) => worker.answer(&batch, format),
        Kind::FlightRecorder => {
            for (dump, line) in batch.records() {
                let origin = worker.origin(line);
                let result = flight_recorder::decode(dump, &origin, &mut worker.out);
                worker.count(line, result);
            }
        }
        Kind::Pasted { source, beside } => {
            for (text, _) in batch.records() {
                worker.pasted(text, source, beside);
            }
        }
        Kind::Text { source, last } => {
            let stream = open.logs.entry(batch.file).or_insert_with(|| {
                LogStream::new(
                    Arc::clone(source),
                    options.log_lines,
                    options.max_line_bytes,
                )
            });
            for (lines, number) in batch.records() {
                worker.lines(stream, lines, number);
            }
            if *last {
                stream.finish(&mut worker.out);
                worker.tally.left_out += stream.left_out();
                open.logs.remove(&batch.file);
            }
        }
        Kind::Format {
            format,
            source,
            last,
        } => {
            let reader = open
                .formats
                .entry(batch.file)
                .or_insert_with(|| (format.reader)(source, options));
            for (lines, number) in batch.records() {
                worker.format(reader.as_mut(), lines, number);
            }
            if *last && let Some(mut reader) = open.formats.remove(&batch.file) {
                worker.finish_format(reader.as_mut());
            }
        }
        Kind::Records { format, last } => {
            let reader = open
                .records
                .entry(batch.file)
                .or_insert_with(|| (format.reader)(&batch.name, options));
            for (record, number) in batch.records() {
                worker.record(reader.as_mut(), record, number);
            }
            if *last && let Some(mut reader) = open.records.remove(&batch.file) {
                worker.finish_records(reader.as_mut());
            }
        }
    }
    worker.stored_lines();
    let Worker {
        mut out, mut tally, ..
    } = worker;
    out.iter_mut().for_each(redact::observation);
    tally.observations += out.len() as u64;
    BatchResult {
        seq: batch.seq,
        file: batch.file,
        name: batch.name,
        observations: out,
        tally,
    }
}

struct Worker<'w> {
    options: &'w Options,
    decode: &'w Decode<'w>,
    name: Arc<str>,
    out: Vec<Observation>,
    emitted: ForeignOutput,
    tally: Tally,
}

impl Worker<'_> {
    fn origin(&self, line: u64) -> Origin {
        Origin {
            file: Arc::clone(&self.name),
            line,
        }
    }

    fn count(&mut self, line: u64, result: Result<(), Rejection>) {
        match result {
            Ok(()) => self.tally.records += 1,
            Err(Rejection::Irrelevant(why)) => {
                self.tally.records += 1;
                self.tally.irrelevant += 1;
                self.tally.unknown += u64::from(why == kubernetes::UNKNOWN_KIND);
                self.tally.is_audited |= why.starts_with("an audit record");
            }
            Err(Rejection::Malformed(why)) => {
                self.tally.reject(line, &why, self.options.rejected_kept);
            }
        }
    }

    fn json(&mut self, record: &[u8], list_kind: Option<&str>, within: &str, line: u64) {
        let record = self.as_utf8(record);
        let origin = self.origin(line);
        let mut result = self.decode_safely(&record, list_kind, &origin);
        if result.is_err()
            && let Some(known) = self.foreign(&record, within, &origin)
        {
            return self.count(line, known);
        }
        // Answers are taken apart by the reader; one that is wrapped in
        // something else, or whose keys come in an odd order, is not.
        if matches!(result, Err(Rejection::Irrelevant(_)))
            && memmem::find(&record, b"\"resultType\"").is_some()
        {
            for format in LOG_STORES.iter().filter_map(|(_, store)| store.answer) {
                result = (format.decode)(&record, &origin, &mut self.out);
                if result.is_ok() {
                    break;
                }
            }
        }
        self.count(line, result);
    }

    /// A record that a decoder has a mistake about must not cost all the others.
    fn decode_safely(
        &mut self,
        record: &[u8],
        list_kind: Option<&str>,
        origin: &Origin,
    ) -> Result<(), Rejection> {
        let before = self.out.len();
        let out = &mut self.out;
        let decode = self.decode;
        let decoded = catch_unwind(AssertUnwindSafe(|| decode(record, list_kind, origin, out)));
        decoded.unwrap_or_else(|_| {
            self.out.truncate(before);
            Err(mistake())
        })
    }

    /// Shows the record to the decoders of other systems; `None` where none knows it.
    fn foreign(
        &mut self,
        record: &[u8],
        within: &str,
        origin: &Origin,
    ) -> Option<Result<(), Rejection>> {
        let emitted = &mut self.emitted;
        let decoded = catch_unwind(AssertUnwindSafe(|| {
            foreign::decode(record, within, origin, emitted)
        }));
        let known = decoded.unwrap_or_else(|_| Some(Err(mistake())));
        self.out.append(&mut self.emitted.observations);
        known
    }

    /// Lines of logs that stood in records of the batch.
    fn stored_lines(&mut self) {
        let lines = std::mem::take(&mut self.emitted.lines);
        emit_stored(lines, &self.name, &mut self.out);
        for (source_kind, lines) in std::mem::take(&mut self.emitted.stored) {
            let store = LOG_STORES.iter().find(|(kind, _)| *kind == source_kind);
            let names = store.map_or_else(LabelNames::default, |(_, store)| (store.names)());
            let how = EmitOptions {
                source_kind,
                file: Arc::clone(&self.name),
                names: &names,
                observed: None,
                whole: None,
            };
            log_store::emit(lines, &how, &mut self.out);
        }
    }

    /// Bytes that are no UTF-8 would make the whole record unreadable.
    fn as_utf8<'a>(&mut self, record: &'a [u8]) -> Cow<'a, [u8]> {
        match String::from_utf8_lossy(record) {
            Cow::Borrowed(_) => Cow::Borrowed(record),
            Cow::Owned(text) => {
                self.tally.lossy += 1;
                Cow::Owned(text.into_bytes())
            }
        }
    }

    fn yaml(&mut self, record: &[u8], item: bool, list_kind: Option<&str>, line: u64) {
        let text = self.as_utf8(record);
        let mut value = match yaml_to_json(&String::from_utf8_lossy(&text)) {
            Ok(value) => value,
            Err(why) => return self.count(line, Err(Rejection::Malformed(why))),
        };
        if item {
            let items = value.as_array_mut().map(std::mem::take).unwrap_or_default();
            return self.values(items, list_kind, line);
        }
        let kind = value.get("kind").and_then(Value::as_str).map(str::to_owned);
        match value.get_mut("items").map(Value::take) {
            Some(Value::Array(items)) => self.values(items, kind.as_deref(), line),
            Some(other) => {
                value["items"] = other;
                self.values(vec![value], None, line);
            }
            None => match value {
                Value::Array(items) => self.values(items, None, line),
                Value::Null => {}
                other => self.values(vec![other], None, line),
            },
        }
    }

    fn values(&mut self, values: Vec<Value>, list_kind: Option<&str>, line: u64) {
        for value in values {
            if !value.is_object() {
                let why = Rejection::Irrelevant("a YAML scalar".to_owned());
                self.count(line, Err(why));
                continue;
            }
            let json = value.to_string();
            self.json(json.as_bytes(), list_kind, "", line);
        }
    }

    fn answer(&mut self, batch: &Batch, format: &AnswerFormat) {
        let mut streams = Vec::new();
        for (record, line) in batch.records() {
            let record = self.as_utf8(record).into_owned();
            streams.push((record, line));
        }
        let mut counts = Vec::new();
        (format.decode_parts)(&streams, &self.name, &mut self.out, &mut |line, result| {
            counts.push((line, result));
        });
        for (line, result) in counts {
            self.count(line, result);
        }
    }

    fn pasted(&mut self, text: &[u8], source: &LogSource, beside: &FolderContext) {
        let text = self.as_utf8(text);
        let paste = PasteContext {
            source,
            log_lines: self.options.log_lines,
            max_line_bytes: self.options.max_line_bytes,
            described_beside: &beside.pods,
            descriptions_beside: &beside.described,
            objects_beside: beside.objects,
        };
        let mut counts = Vec::new();
        let before = self.out.len();
        let out = &mut self.out;
        let read = catch_unwind(AssertUnwindSafe(|| {
            let text = String::from_utf8_lossy(&text);
            let mut count = |line, result| counts.push((line, result));
            kubectl::read(&text, &paste, out, &mut count)
        }));
        match read {
            Ok(left_out) => self.tally.left_out += left_out,
            Err(_) => {
                self.out.truncate(before);
                let why = "a mistake in the decoder, please report it with this file".to_owned();
                counts.push((1, Err(Rejection::Malformed(why))));
            }
        }
        for (line, result) in counts {
            self.count(line, result);
        }
    }

    /// As with one record, a mistake must not cost the other files.
    fn format(&mut self, reader: &mut dyn TextReader, lines: &[u8], first: u64) {
        let mut found = FormatOutput::default();
        let read = catch_unwind(AssertUnwindSafe(|| {
            reader.lines(lines, first, &mut found);
        }));
        self.take(found, first, read.is_ok());
    }

    fn finish_format(&mut self, reader: &mut dyn TextReader) {
        let mut found = FormatOutput::default();
        let read = catch_unwind(AssertUnwindSafe(|| reader.finish(&mut found)));
        self.take(found, 1, read.is_ok());
    }

    fn record(&mut self, reader: &mut dyn RecordReader, record: &[u8], number: u64) {
        let mut found = FormatOutput::default();
        let read = catch_unwind(AssertUnwindSafe(|| {
            reader.record(record, number, &mut found);
        }));
        self.take(found, number, read.is_ok());
    }

    fn finish_records(&mut self, reader: &mut dyn RecordReader) {
        let mut found = FormatOutput::default();
        let read = catch_unwind(AssertUnwindSafe(|| reader.finish(&mut found)));
        self.take(found, 1, read.is_ok());
    }

    fn take(&mut self, found: FormatOutput, line: u64, whole: bool) {
        self.out.extend(found.observations);
        self.tally.records += found.records;
        self.tally.irrelevant += found.irrelevant;
        self.tally.lossy += found.lossy;
        self.tally.left_out += found.left_out;
        for (line, why) in found.rejected {
            self.tally.reject(line, &why, self.options.rejected_kept);
        }
        if !whole {
            let why = "a mistake in the decoder, please report it with this file";
            self.tally.reject(line, why, self.options.rejected_kept);
        }
    }

    fn lines(&mut self, stream: &mut LogStream, lines: &[u8], first: u64) {
        let keep = self.options.rejected_kept;
        for (number, line) in (first..).zip(lines.split(|&b| b == b'\n')) {
            if line.is_empty() {
                continue;
            }
            let text = String::from_utf8_lossy(line);
            if matches!(text, Cow::Owned(_)) {
                self.tally.lossy += 1;
            }
            match stream.line(&text, number, &mut self.out) {
                Ok(()) => self.tally.records += 1,
                Err(why) => self.tally.reject(number, &why, keep),
            }
        }
    }
}

fn mistake() -> Rejection {
    let why = "a mistake in the decoder, please report it with this record";
    Rejection::Malformed(why.to_owned())
}
