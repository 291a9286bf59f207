//! Takes a stream of JSON apart into records while it is read.
//!
//! Objects one after the other, one a line or printed over many, in a
//! top-level array, in a `List`, in a query answer, and these in each other.

use std::io::Read;
use std::sync::Arc;

use super::batch::Kind;
use super::feed::Feed;
use super::scanner::{Scanner, Step};
use super::window::Window;
use crate::LOG_STORES;
use crate::contract::AnswerFormat;

/// An array that records are taken from.
struct Frame {
    kind: Kind,
    /// The envelope around it, to be closed after the array.
    envelope: Option<Scanner>,
    /// The answer's result is no log streams: counted, not used.
    unusable: bool,
    line: u64,
}

/// The kind of answer of which results of that type are; of results of unknown type the first.
fn answer_of(result_type: Option<&str>) -> Option<&'static AnswerFormat> {
    let mut all = LOG_STORES.iter().filter_map(|(_, store)| store.answer);
    let first = all.clone().next();
    all.find(|format| Some(format.result_type) == result_type)
        .or(first)
}

/// How many envelopes are opened in each other.
const MAX_FRAMES: usize = 8;

/// Splits `from` and feeds the records; returns why it ended early, if it did.
pub(super) fn split(from: &mut dyn Read, file: usize, feed: &mut Feed<'_>) -> Option<String> {
    let window = Window::new(from);
    let mut splitter = Splitter {
        window,
        feed,
        file,
        frames: Vec::new(),
        cut_off: None,
    };
    splitter.run();
    let bytes = splitter.window.bytes_read();
    let line = splitter.window.line();
    let error = splitter.window.take_error();
    let cut_off = splitter.cut_off;
    feed.file(file).bytes += bytes;
    match error {
        Some(error) => Some(format!("{error} (after line {line}, {bytes} bytes)")),
        None => cut_off,
    }
}

struct Splitter<'w, 'r, 'o> {
    window: Window<'r>,
    feed: &'w mut Feed<'o>,
    file: usize,
    frames: Vec<Frame>,
    cut_off: Option<String>,
}

impl Splitter<'_, '_, '_> {
    fn run(&mut self) {
        while !self.feed.is_closed() {
            let Some(byte) = self.window.skip_space() else {
                break;
            };
            match (byte, self.frames.is_empty()) {
                (b'{', _) => self.object(),
                (b'[', _) if self.frames.len() < MAX_FRAMES => {
                    self.window.consume(1);
                    self.push(Kind::PLAIN, None, false);
                }
                (b',', false) => self.window.consume(1),
                (b']', false) => self.close_array(),
                (_, false) => self.scalar(),
                (_, true) => {
                    self.reject("not JSON: the line does not start an object");
                    self.window.skip_line();
                }
            }
        }
        if let Some(frame) = self.frames.first() {
            let reason = format!(
                "the input ends inside the list that starts at line {}",
                frame.line
            );
            self.cut_off.get_or_insert(reason);
        }
    }

    fn reject(&mut self, why: &str) {
        self.feed.reject(self.file, self.window.line(), why);
    }

    fn push(&mut self, kind: Kind, envelope: Option<Scanner>, unusable: bool) {
        let words = match kind {
            Kind::Answer(format) => format.name,
            _ => "JSON list",
        };
        let entry = self.feed.file(self.file);
        if let Some(before) = entry.form.strip_suffix("JSON") {
            entry.form = format!("{before}{words}");
        }
        let line = self.window.line();
        self.frames.push(Frame {
            kind,
            envelope,
            unusable,
            line,
        });
    }

    /// An object at the window's start: a record, or the envelope of many.
    fn object(&mut self) {
        let mut limit = match self.frames.last().map(|frame| &frame.kind) {
            Some(Kind::Answer(_)) => self.feed.options.max_document_bytes,
            _ => self.feed.options.max_record_bytes,
        };
        let mut scanner = Scanner::new(self.frames.is_empty());
        if self.frames.len() >= MAX_FRAMES {
            scanner.rebase(0);
        }
        loop {
            match scanner.step(self.window.bytes()) {
                Step::End(n) => return self.emit(n),
                Step::Items(n) => {
                    let list_kind = scanner.kind(self.window.bytes()).map(Arc::from);
                    let within = "";
                    self.push(Kind::Json { list_kind, within }, Some(scanner), false);
                    return self.window.consume(n);
                }
                Step::Wrapped(n, within) => {
                    let list_kind = None;
                    self.push(Kind::Json { list_kind, within }, Some(scanner), false);
                    return self.window.consume(n);
                }
                Step::QueryResult(n) => {
                    let kind = scanner.result_type(self.window.bytes());
                    // The series of an answer of Prometheus belong together: it is one record.
                    if matches!(kind, Some("matrix" | "vector")) {
                        limit = self.feed.options.max_document_bytes;
                        continue;
                    }
                    let Some(format) = answer_of(kind) else {
                        continue;
                    };
                    let unusable = kind.is_some_and(|kind| kind != format.result_type);
                    self.push(Kind::Answer(format), Some(scanner), unusable);
                    return self.window.consume(n);
                }
                Step::Bad(n, why) => {
                    self.reject(why);
                    return self.recover(n);
                }
                Step::More if self.window.bytes().len() > limit => {
                    self.reject(&format!("a record of more than {limit} bytes"));
                    return self.pass_over(scanner);
                }
                Step::More if !self.window.fill() => return self.ends_inside(),
                Step::More => {}
            }
        }
    }

    fn emit(&mut self, n: usize) {
        let line = self.window.line();
        match self.frames.last() {
            Some(frame) if frame.unusable => self.feed.pass(self.file),
            frame => {
                let kind = frame.map_or(&Kind::PLAIN, |frame| &frame.kind);
                self.feed
                    .record(self.file, kind, &self.window.bytes()[..n], line);
            }
        }
        self.window.consume(n);
    }

    /// Finds the next record after one that is no JSON from byte `n` on.
    fn recover(&mut self, n: usize) {
        if self.frames.is_empty() {
            // The record may have been cut off in its first line and have
            // swallowed good ones since.
            return self.next_start(0);
        }
        // In a printed list items are aligned, and so is the next good one.
        let indent = self.frames.len();
        if memchr::memchr(b'\n', self.window.bytes()).is_none() {
            self.window.consume(n);
            let reason = format!(
                "the list that starts at line {} cannot be split after byte {}",
                self.frames[0].line,
                self.window.offset(),
            );
            self.cut_off.get_or_insert(reason);
            self.frames.clear();
            return self.window.skip_line();
        }
        self.next_start(indent);
    }

    /// Goes to the next line that starts an object; indented ones count only
    /// inside a list.
    fn next_start(&mut self, indent: usize) {
        loop {
            self.window.skip_line();
            while self.window.bytes().len() < 16 && self.window.fill() {}
            if self.window.bytes().is_empty() {
                return;
            }
            let line = self.window.bytes();
            let spaces = line
                .iter()
                .take_while(|b| matches!(b, b' ' | b'\t'))
                .count();
            let starts = line.get(spaces) == Some(&b'{');
            if starts && (spaces == 0 || (indent > 0 && spaces <= 8)) {
                if spaces == 0 {
                    self.leave_lists();
                }
                return;
            }
        }
    }

    fn leave_lists(&mut self) {
        if let Some(frame) = self.frames.first() {
            let reason = format!("the list that starts at line {} is broken off", frame.line);
            self.cut_off.get_or_insert(reason);
            self.frames.clear();
        }
    }

    /// Skips the rest of a record that is too large to keep.
    fn pass_over(&mut self, mut scanner: Scanner) {
        loop {
            match scanner.step(self.window.bytes()) {
                Step::End(n) => return self.window.consume(n),
                Step::Bad(n, _) => {
                    self.window.consume(n);
                    return self.next_start(0);
                }
                Step::Items(_) | Step::Wrapped(..) | Step::QueryResult(_) => {}
                Step::More => {
                    let seen = self.window.bytes().len();
                    self.window.consume(seen);
                    scanner.rebase(seen);
                    if !self.window.fill() {
                        return self.note_cut_off();
                    }
                }
            }
        }
    }

    fn note_cut_off(&mut self) {
        let reason = format!(
            "the input ends inside a record, at line {}",
            self.window.line()
        );
        self.cut_off.get_or_insert(reason);
    }

    /// The input ends inside the record at the window's start.
    fn ends_inside(&mut self) {
        self.reject("cut off: the input ends inside this record");
        self.note_cut_off();
        self.next_start(0);
    }

    fn close_array(&mut self) {
        self.window.consume(1);
        let Some(frame) = self.frames.pop() else {
            return;
        };
        // One answer is one batch: its streams belong together.
        self.feed.flush();
        let Some(mut envelope) = frame.envelope else {
            return;
        };
        envelope.close_array();
        loop {
            if let Kind::Answer(format) = frame.kind {
                self.note_partial(format);
            }
            match envelope.step(self.window.bytes()) {
                Step::End(n) => return self.window.consume(n),
                Step::Bad(n, why) => {
                    self.reject(why);
                    self.window.consume(n);
                    return self.next_start(0);
                }
                Step::Items(_) | Step::Wrapped(..) | Step::QueryResult(_) => {}
                Step::More => {
                    let seen = self.window.bytes().len();
                    self.window.consume(seen);
                    envelope.rebase(seen);
                    if !self.window.fill() {
                        return self.note_cut_off();
                    }
                }
            }
        }
    }

    /// A store may warn after the result that it gave less than was asked for.
    fn note_partial(&mut self, format: &AnswerFormat) {
        let (warning, reason) = format.partial;
        if memchr::memmem::find(self.window.bytes(), warning.as_bytes()).is_some() {
            self.cut_off.get_or_insert_with(|| reason.to_owned());
        }
    }

    /// An element of an array that is no object: counted once and skipped.
    fn scalar(&mut self) {
        match self.window.bytes().first() {
            Some(b'"' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n') => self.feed.pass(self.file),
            _ => self.reject("a list element that is not JSON"),
        }
        let mut in_string = false;
        let mut escaped = false;
        loop {
            let stop = self.window.bytes().iter().position(|&byte| {
                if std::mem::take(&mut escaped) {
                    return byte == b'\n';
                }
                match byte {
                    b'\\' => escaped = in_string,
                    b'"' => in_string = !in_string,
                    b'\n' => return true,
                    b',' | b']' | b'{' => return !in_string,
                    _ => {}
                }
                false
            });
            if let Some(n) = stop {
                return self.window.consume(n);
            }
            self.window.consume(self.window.bytes().len());
            if !self.window.fill() {
                return;
            }
        }
    }
}
