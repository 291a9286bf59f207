//! What became of each file: nothing read is silently dropped.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::event::Origin;
use crate::redact::redact;

/// Whether a file was read to its end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum FileStatus {
    /// Read to its end.
    #[default]
    Complete,
    /// What was readable is used; the reason says where and why it ends.
    Truncated(String),
    /// Nothing of it could be used.
    Failed(String),
}

/// What one file, or one member of an archive, gave.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileSummary {
    /// As the user gave it, `archive!member` inside archives, `-` for stdin.
    pub name: Arc<str>,
    /// Bytes read, unpacked.
    pub bytes: u64,
    /// What it was recognised as, in words.
    pub form: String,
    /// Records or log lines found in it.
    pub records: u64,
    /// What they told.
    pub observations: u64,
    /// Records that are not what they claim to be.
    pub rejected: u64,
    /// Records of no use here.
    pub irrelevant: u64,
    /// Those of them of which no decoder knows what they are.
    pub unknown: u64,
    /// Log lines that were left out because the log is long.
    pub left_out: u64,
    /// Records with bytes that are no UTF-8, read with replacements.
    pub lossy: u64,
    /// Whether it is something that holds nothing for this tool, such as a program.
    pub is_foreign: bool,
    /// Whether it has records of an API server's audit log, if only some that are of no use here.
    pub is_audited: bool,
    /// Whether it was read to its end.
    pub status: FileStatus,
}

/// A record that was not used, and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RejectedRecord {
    /// File and line.
    pub origin: Origin,
    /// What is wrong with it.
    pub why: String,
}

/// What became of the whole input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Each file, in reading order.
    pub files: Vec<FileSummary>,
    /// The sums over all files; `name` is empty and `status` the worst.
    pub total: FileSummary,
    /// The first rejected records of each kind of reason, in reading order.
    pub rejected: Vec<RejectedRecord>,
    /// How many records were rejected for which reason, numbers left out.
    pub reasons: BTreeMap<String, u64>,
}

/// How many different reasons are counted apart.
const MOST_REASONS: usize = 64;

/// Counts of one batch, or of one file's reading.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) records: u64,
    pub(super) observations: u64,
    pub(super) rejected: u64,
    pub(super) irrelevant: u64,
    pub(super) unknown: u64,
    pub(super) is_audited: bool,
    pub(super) left_out: u64,
    pub(super) lossy: u64,
    pub(super) samples: Vec<(u64, String)>,
    pub(super) reasons: BTreeMap<String, u64>,
}

impl Tally {
    /// Counts a rejected record; only the first `keep` are kept in full.
    pub(super) fn reject(&mut self, line: u64, why: &str, keep: usize) {
        self.records += 1;
        self.rejected += 1;
        // What is wrong may be quoted.
        let why = &redact(why);
        if self.samples.len() < keep {
            self.samples.push((line, why.clone().into_owned()));
        }
        count_reason(&mut self.reasons, &general(why), 1);
    }
}

/// The reason without what differs from record to record, so that ten million
/// bad lines make a handful of reasons.
fn general(why: &str) -> String {
    let cut = why.find(" at line ").unwrap_or(why.len());
    let mut out = String::new();
    for c in why[..cut].chars().take(160) {
        if !c.is_ascii_digit() {
            out.push(c);
        } else if !out.ends_with('#') {
            out.push('#');
        }
    }
    out
}

fn count_reason(reasons: &mut BTreeMap<String, u64>, why: &str, by: u64) {
    if reasons.contains_key(why) || reasons.len() < MOST_REASONS {
        *reasons.entry(why.to_owned()).or_default() += by;
    } else {
        *reasons.entry("other".to_owned()).or_default() += by;
    }
}

impl Summary {
    /// Adds a batch's counts to its file. Batches come in reading order.
    pub(super) fn add(&mut self, file: usize, name: &Arc<str>, mut tally: Tally, keep: usize) {
        if self.files.len() <= file {
            self.files.resize_with(file + 1, FileSummary::default);
        }
        let entry = &mut self.files[file];
        entry.records += tally.records;
        entry.observations += tally.observations;
        entry.rejected += tally.rejected;
        entry.irrelevant += tally.irrelevant;
        entry.unknown += tally.unknown;
        entry.is_audited |= tally.is_audited;
        entry.left_out += tally.left_out;
        entry.lossy += tally.lossy;
        // The reader's rejections come before the decoder's in one batch.
        tally.samples.sort();
        for (line, why) in tally.samples {
            if self.rejected.len() < keep {
                let origin = Origin {
                    file: Arc::clone(name),
                    line,
                };
                self.rejected.push(RejectedRecord { origin, why });
            }
        }
        for (why, by) in tally.reasons {
            count_reason(&mut self.reasons, &why, by);
        }
    }

    /// Joins the counts with what the reader knows of each file.
    pub(super) fn finish(&mut self, read: Vec<FileSummary>) {
        self.files
            .resize_with(read.len().max(self.files.len()), FileSummary::default);
        for (counted, file) in self.files.iter_mut().zip(read) {
            counted.name = file.name;
            counted.bytes = file.bytes;
            counted.form = file.form;
            counted.status = file.status;
            counted.is_foreign = file.is_foreign;
            counted.irrelevant += file.irrelevant;
            counted.records += file.records;
        }
        let total = &mut self.total;
        for file in &self.files {
            total.bytes += file.bytes;
            total.records += file.records;
            total.observations += file.observations;
            total.rejected += file.rejected;
            total.irrelevant += file.irrelevant;
            total.unknown += file.unknown;
            total.left_out += file.left_out;
            total.lossy += file.lossy;
            if total.status.rank() < file.status.rank() {
                total.status = file.status.clone();
            }
        }
        total.form = match self.files.len() {
            1 => "1 file".to_owned(),
            n => format!("{n} files"),
        };
    }
}

impl FileStatus {
    fn rank(&self) -> u8 {
        match self {
            Self::Complete => 0,
            Self::Truncated(_) => 1,
            Self::Failed(_) => 2,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_million_bad_lines_are_a_few_reasons() {
        let mut tally = Tally::default();
        for line in 0..100_000 {
            tally.reject(line, &format!("expected `:` at line 1 column {line}"), 200);
            tally.reject(line, &format!("a line of {line} bytes"), 200);
        }
        assert_eq!(tally.samples.len(), 200);
        assert_eq!(tally.reasons.len(), 2);
        assert_eq!(tally.reasons["a line of # bytes"], 100_000);
    }

    #[test]
    fn different_reasons_are_bounded_too() {
        let mut tally = Tally::default();
        for line in 0..10_000_u64 {
            let word: String = line
                .to_string()
                .bytes()
                .map(|b| char::from(b + 49))
                .collect();
            tally.reject(line, &word, 0);
        }
        assert_eq!(tally.reasons.len(), MOST_REASONS + 1);
        assert_eq!(tally.reasons.values().sum::<u64>(), 10_000);
    }
}
