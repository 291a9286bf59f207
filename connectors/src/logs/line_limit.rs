//! Which lines of a long log are kept: its ends, and what tells something.

use std::collections::VecDeque;

use aho_corasick::AhoCorasick;
use whathappened_model::line_word::LineWord;

use super::join::JoinedRecord;
use crate::contract::{LogLines, WordSearch, WordTable};

/// Words of lines that may be evidence: kept however long the log is, and asked for over
/// a whole run in log stores. The signals say them, as those of machines.
#[derive(Debug)]
struct ProgramWords {
    words: Vec<LineWord>,
    search: AhoCorasick,
}

impl WordSearch for ProgramWords {
    fn new(words: Vec<LineWord>) -> Result<Self, String> {
        let search = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .build(words.iter().map(|word| word.part.as_str()))
            .map_err(|error| error.to_string())?;
        Ok(Self { words, search })
    }

    fn words(&self) -> &[LineWord] {
        &self.words
    }
}

#[cfg(not(test))]
static WORDS: WordTable<ProgramWords> = WordTable::new();
#[cfg(test)]
static WORDS: WordTable<ProgramWords> =
    WordTable::new(whathappened_core::signals::Ruleset::program_words);

/// Looks for these words, too, in every log that is read from now on.
pub(crate) fn look_for<'w>(words: impl IntoIterator<Item = &'w LineWord>) -> Result<(), String> {
    WORDS.add(words)
}

/// What a log store is asked for.
pub(crate) fn asked() -> Vec<LineWord> {
    WORDS
        .get()
        .map_or_else(Vec::new, |words| words.words.clone())
}

/// Whether a line may be evidence. Until words are said, any may.
pub(super) fn may_be_evidence(text: &str) -> bool {
    WORDS.get().is_none_or(|words| words.search.is_match(text))
}

/// What may be held back at once.
const MAX_BYTES: usize = 32 << 20;

/// Holds back what may have to be left out.
#[derive(Debug)]
pub(super) struct LineLimiter {
    limits: LogLines,
    seen: usize,
    /// Records in the midst that tell something.
    significant: usize,
    /// The log is known to be long.
    long: bool,
    held: VecDeque<JoinedRecord>,
    bytes: usize,
    left_out: u64,
}

impl LineLimiter {
    pub(super) fn new(limits: LogLines) -> Self {
        Self {
            limits,
            seen: 0,
            significant: 0,
            long: false,
            held: VecDeque::new(),
            bytes: 0,
            left_out: 0,
        }
    }

    /// Takes the next record of the stream.
    pub(super) fn push(&mut self, record: JoinedRecord, out: &mut Vec<JoinedRecord>) {
        self.seen += record.lines;
        let is_first = self.seen <= self.limits.first;
        let is_sure = is_first || {
            let is_significant = self.significant < self.limits.significant
                && (record.lines > 1 || may_be_evidence(&record.message));
            self.significant += usize::from(is_significant);
            is_significant
        };
        if is_sure {
            out.push(record);
        } else {
            self.bytes += size(&record);
            self.held.push_back(record);
        }
        if self.seen > self.limits.whole || self.bytes > MAX_BYTES {
            self.long = true;
        }
        while self.long && (self.held.len() > self.limits.last || self.bytes > MAX_BYTES) {
            let Some(dropped) = self.held.pop_front() else {
                break;
            };
            self.bytes -= size(&dropped);
            self.left_out += 1;
        }
    }

    /// There are no more; what is held back is the log's end.
    pub(super) fn finish(&mut self, out: &mut Vec<JoinedRecord>) {
        self.bytes = 0;
        out.extend(self.held.drain(..));
    }

    /// How many lines were left out.
    pub(super) fn left_out(&self) -> u64 {
        self.left_out
    }
}

fn size(record: &JoinedRecord) -> usize {
    400 + record.raw.len() + 2 * record.message.len()
}
