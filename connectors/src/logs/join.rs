//! Joins the lines of a traceback, also where several workers print at once.

use std::collections::BTreeMap;
use std::ops::Range;

use super::block::{self, BlockStage, Kind};
use super::clock;
use super::prefix::Speaker;
use super::timestamps::PlacedLine;
use crate::time::Stamp;

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
    stage: BlockStage,
    /// What stands before a traceback in its first line.
    heading: Option<String>,
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
}

impl LineJoiner {
    /// Takes the next line; records that are whole come out.
    pub(crate) fn push(&mut self, placed: PlacedLine, out: &mut Vec<JoinedRecord>) {
        let speaker = &placed.line.speaker;
        if let Some(mut joined) = self.open.remove(speaker) {
            let text = joined.without_heading(placed.line.text());
            if let Some(stage) = joined.takes(text) {
                joined.stage = stage;
                joined.add(&placed, text);
                self.open.insert(placed.line.speaker, joined);
                return;
            }
            out.push(joined.closed());
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
            out.push(oldest.closed());
        }
        self.open.insert(
            placed.line.speaker.clone(),
            JoinedRecord::one(placed, Some(kind)),
        );
    }

    /// There are no more lines.
    pub(crate) fn finish(&mut self, out: &mut Vec<JoinedRecord>) {
        let open = std::mem::take(&mut self.open).into_values();
        out.extend(open.map(JoinedRecord::closed));
    }
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
            stage,
            heading,
        }
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
