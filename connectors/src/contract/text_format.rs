//! A format of text that has a decoder of its own, beside container logs.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use super::{LogSource, Options};
use crate::observation::Observation;

/// One format of text: how it is recognised, and what reads it.
pub(crate) struct TextFormat {
    /// For people.
    pub(crate) words: &'static str,
    /// A pod may write it, so it is also looked for where container logs lie.
    pub(crate) of_pods: bool,
    /// It looks like JSON or binary, so it is asked before these.
    pub(crate) first: bool,
    /// Whether the beginning of a file is of this format.
    pub(crate) is: fn(&FileHead<'_>) -> bool,
    /// Starts reading a file.
    pub(crate) reader: fn(&Arc<LogSource>, &Options) -> Box<dyn TextReader>,
}

/// The first bytes of a file.
pub(crate) struct FileHead<'h> {
    /// As they are.
    pub(crate) bytes: &'h [u8],
    /// As text, without the line that is cut off where there are others.
    pub(crate) text: &'h str,
}

impl FileHead<'_> {
    /// Its first `n` lines that are not blank.
    pub(crate) fn lines(&self, n: usize) -> impl Iterator<Item = &str> {
        self.text
            .lines()
            .map(|line| line.trim_end_matches('\r'))
            .filter(|line| !line.trim().is_empty())
            .take(n)
    }
}

/// Reads one file's lines, in order.
pub(crate) trait TextReader {
    /// Takes some whole lines; `first` is the number of the first of them.
    fn lines(&mut self, lines: &[u8], first: u64, found: &mut FormatOutput);

    /// There are no more.
    fn finish(&mut self, found: &mut FormatOutput);
}

/// What came of some lines.
#[derive(Debug, Default)]
pub(crate) struct FormatOutput {
    /// What they told.
    pub(crate) observations: Vec<Observation>,
    /// Records or lines read, rejected ones left out.
    pub(crate) records: u64,
    /// Those of them that mean nothing here.
    pub(crate) irrelevant: u64,
    /// Those with bytes that are no UTF-8.
    pub(crate) lossy: u64,
    /// Line and reason of those that are not what they claim to be.
    pub(crate) rejected: Vec<(u64, String)>,
    /// Lines that were left out because there are many.
    pub(crate) left_out: u64,
}

/// The numbered lines of a block, without line ends.
pub(crate) fn numbered(lines: &[u8], first: u64) -> impl Iterator<Item = (u64, &[u8])> {
    (first..)
        .zip(lines.split(|&b| b == b'\n'))
        .map(|(number, line)| (number, line.strip_suffix(b"\r").unwrap_or(line)))
}

/// Gives each line of a block, as text, with its number; counts those that are no UTF-8.
pub(crate) fn each_line(
    lines: &[u8],
    first: u64,
    found: &mut FormatOutput,
    mut take: impl FnMut(&str, u64, &mut FormatOutput),
) {
    for (number, line) in numbered(lines, first) {
        let text = String::from_utf8_lossy(line);
        found.lossy += u64::from(matches!(text, Cow::Owned(_)));
        take(&text, number, found);
    }
}

impl PartialEq for TextFormat {
    fn eq(&self, other: &Self) -> bool {
        self.words == other.words
    }
}

impl Eq for TextFormat {}

impl fmt::Debug for TextFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words)
    }
}
