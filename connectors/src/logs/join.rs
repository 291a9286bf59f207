//! Joins the lines of a traceback, also where several workers print at once.

use std::collections::BTreeMap;
use std::ops::Range;

use super::block::{self, BlockStage, Kind};
use super::clock;
use super::prefix::Speaker;
use super::timestamps::PlacedLine;
use crate::time::{Nanos, SECOND, Stamp};

/// Lines that are one record; most records are one line.
#[derive(Clone, Debug)]
pub(crate) struct JoinedRecord {
    pub(crate) first: PlacedLine,
    /// The messages of all lines, the first one's included.
    pub(crate) message: String,
    pub(crate) raw: String,
    /// The latest time of a line after the first one that has one of its own.
    pub(crate) end: Option<Stamp>,
    pub(super) kind: Option<Kind>,
    pub(crate) lines: usize,
    /// Which of the equal records of one time it is; set by [`super::Emitter`].
    pub(super) ordinal: u64,
    /// What of the message is a secret because of the records before; set with it.
    pub(super) hidden: Option<Range<usize>>,
    /// Whether it stands in the middle of a text of several lines, as what a program prints that somebody wrote.
    pub(super) amid_text: bool,
    /// Whether lines of a text stood before it.
    after_text: bool,
    stage: BlockStage,
    /// What stands before a traceback in its first line.
    heading: Option<String>,
    /// First lines of tracebacks that others began before this one was named, to the same stream.
    begun: Vec<PlacedLine>,
    /// Whether lines of another traceback stand among its own: whose is which, nobody knows.
    pub(super) is_mixed: bool,
}

/// Longer records are broken off; no traceback is of this size.
const MAX_LINES: usize = 2_000;
const MAX_BYTES: usize = 256 << 10;

/// Workers whose records are open at once.
const MAX_OPEN: usize = 1_024;

/// The open record of each worker.
#[derive(Debug, Default)]
pub(crate) struct LineJoiner {
    open: BTreeMap<Speaker, JoinedRecord>,
    /// Whether lines of this log have times.
    is_dated: bool,
    /// Who wrote the last line, where that is one of a text.
    text_of: Option<Speaker>,
}

impl LineJoiner {
    /// Takes the next line; records that are whole come out.
    pub(crate) fn push(&mut self, placed: PlacedLine, out: &mut Vec<JoinedRecord>) {
        let speaker = &placed.line.speaker;
        let before = self.text_of.take();
        self.is_dated |= placed.line.clock.is_some();
        if let Some(mut joined) = self.open.remove(speaker) {
            if joined.is_joined_by(&placed) {
                let speaker = placed.line.speaker.clone();
                joined.begun.push(placed);
                self.open.insert(speaker, joined);
                return;
            }
            let text = joined.without_heading(placed.line.text());
            if let Some(stage) = joined.takes(text) {
                joined.stage = stage;
                joined.add(&placed, text);
                let (whole, rest) = joined.parted();
                out.extend(whole);
                self.open.insert(placed.line.speaker, rest);
                return;
            }
            joined.amid_text = joined.after_text && is_of_text(&placed);
            joined.end_with(out);
        }
        if is_of_text(&placed) {
            self.text_of = Some(placed.line.speaker.clone());
        }
        let Some(kind) = block::starts(first_line(placed.line.text())) else {
            out.push(JoinedRecord::one(placed, None));
            return;
        };
        if placed.line.message.contains('\n') {
            // It came as one record already.
            out.push(JoinedRecord::one(placed, Some(kind)));
            return;
        }
        if self.open.len() >= MAX_OPEN
            && let Some((_, oldest)) = self.open.pop_first()
        {
            oldest.end_with(out);
        }
        let speaker = placed.line.speaker.clone();
        let after_text = before.as_ref() == Some(&speaker);
        let mut joined = JoinedRecord::one(placed, Some(kind));
        joined.after_text = after_text && self.is_dated && joined.first.line.clock.is_none();
        self.open.insert(speaker, joined);
    }

    /// There are no more lines.
    pub(crate) fn finish(&mut self, out: &mut Vec<JoinedRecord>) {
        for open in std::mem::take(&mut self.open).into_values() {
            open.end_with(out);
        }
    }
}

/// Whether a line without a time is one of a text: some words, and no more. Tools begin theirs with their names,
/// `wandb: `, shells say in a word or two what became of a process, and bars and warnings are nobody's text.
fn is_of_text(placed: &PlacedLine) -> bool {
    const WORDS: usize = 3;
    let text = placed.line.text();
    let is_of_tool = || {
        let plain = |byte: u8| byte.is_ascii_lowercase() || matches!(byte, b'-' | b'_' | b'.');
        let named = text.split_once(": ");
        named.is_some_and(|(name, _)| name.bytes().all(plain))
    };
    placed.line.clock.is_none()
        && text.starts_with(|first: char| first.is_alphabetic() || matches!(first, '"' | '>' | '#'))
        && text.split_whitespace().count() >= WORDS
        && !is_of_tool()
        && !text.contains("%|")
        && !text.contains("Warning: ")
        && !text.contains("core dumped")
        && block::starts(text).is_none()
}

/// The first line decides what a record is; a structured line may hold the
/// logger's words first and the traceback below.
fn first_line(text: &str) -> &str {
    text.lines()
        .find(|line| block::starts(line).is_some())
        .unwrap_or(text)
}

impl JoinedRecord {
    fn one(mut placed: PlacedLine, kind: Option<Kind>) -> Self {
        let text = placed.line.text();
        let is_python = kind == Some(Kind::Python);
        let stage =
            if is_python && crate::ignored_exception::is_announced(text) && !text.contains('\n') {
                BlockStage::Heralded
            } else {
                BlockStage::Frames
            };
        let heading = text
            .strip_suffix(block::PYTHON)
            .filter(|heading| is_python && !heading.trim().is_empty())
            .map(str::to_owned);
        let message = std::mem::take(&mut placed.line.message);
        let raw = std::mem::take(&mut placed.line.raw);
        Self {
            first: placed,
            message,
            raw,
            end: None,
            kind,
            lines: 1,
            ordinal: 0,
            hidden: None,
            amid_text: false,
            after_text: false,
            stage,
            heading,
            begun: Vec::new(),
            is_mixed: false,
        }
    }

    /// Whether a line begins a traceback that another process writes at the same time as this one.
    fn is_joined_by(&self, placed: &PlacedLine) -> bool {
        const AT_ONCE: Nanos = 2 * SECOND;
        const MOST: usize = 64;
        let apart = placed.stamp.lo.saturating_sub(self.first.stamp.lo);
        self.kind == Some(Kind::Python)
            && self.stage == BlockStage::Frames
            && placed.line.text() == block::PYTHON
            && self.heading.is_none()
            && apart.abs() <= AT_ONCE
            && self.begun.len() < MOST
    }

    /// Takes apart what several wrote at once: whoever named its exception first has the lines until then, and the next one
    /// what follows.
    fn parted(mut self) -> (Option<Self>, Self) {
        if self.stage != BlockStage::Named || self.begun.is_empty() {
            return (None, self);
        }
        let next = self.begun.remove(0);
        let mut rest = Self::one(next, self.kind);
        rest.begun = std::mem::take(&mut self.begun);
        rest.is_mixed = true;
        self.is_mixed = true;
        (Some(self.closed()), rest)
    }

    /// No more lines are of it.
    fn end_with(mut self, out: &mut Vec<Self>) {
        // That another one began is all that is left of that one.
        let begun = std::mem::take(&mut self.begun);
        if self.is_mixed && self.lines == 1 {
            self.kind = None;
        }
        out.push(self.closed());
        out.extend(begun.into_iter().map(|line| Self::one(line, None)));
    }

    /// torchrun's report says when the failure was noticed; its lines have no
    /// time of their own.
    fn closed(mut self) -> Self {
        if self.kind == Some(Kind::Report)
            && self.first.line.clock.is_none()
            && let Some(stamp) = self
                .message
                .lines()
                .find_map(|line| line.trim_start().strip_prefix("time "))
                .and_then(|rest| clock::dated_at(rest.trim_start_matches([' ', ':'])))
        {
            self.first.stamp = stamp;
            self.first.inferred = Some("zone");
            self.end = None;
        }
        self
    }

    fn takes(&self, text: &str) -> Option<BlockStage> {
        let full = self.lines >= MAX_LINES || self.message.len() + text.len() > MAX_BYTES;
        if full {
            return None;
        }
        block::goes_on(self.kind?, self.stage, self.lines, text)
    }

    /// A line without what the logger wrote before the traceback's first line, where it repeats
    /// that on each: vLLM's `ERROR 10-02 12:00:21 [core.py:843] `.
    fn without_heading<'t>(&self, text: &'t str) -> &'t str {
        let repeated = self
            .heading
            .as_deref()
            .and_then(|heading| text.strip_prefix(heading));
        repeated.unwrap_or(text)
    }

    fn add(&mut self, placed: &PlacedLine, text: &str) {
        self.lines += 1;
        self.message.push('\n');
        // The worker is told once, on the first line.
        self.message.push_str(text);
        self.raw.push('\n');
        self.raw.push_str(&placed.line.raw);
        // A line without a time of its own may be as much as an hour later: that is no end.
        let is_own = !matches!(placed.inferred, Some("previous" | "next" | "none"));
        // What others wrote between its lines was written before it was named.
        let is_of_between = |inferred| inferred == Some("previous");
        let is_later = placed.stamp.lo > self.first.stamp.lo;
        if is_later && is_of_between(self.first.inferred) && is_of_between(placed.inferred) {
            self.first.stamp.hi = self.first.stamp.hi.max(placed.stamp.hi);
        }
        if is_own {
            let end = self.end.unwrap_or(placed.stamp);
            self.end = Some(Stamp {
                lo: end.lo.max(placed.stamp.lo),
                hi: end.hi.max(placed.stamp.hi),
            });
        }
        self.first.line.rank = self.first.line.rank.or(placed.line.rank);
    }
}
