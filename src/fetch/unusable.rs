//! Input of which nothing could be used: that nothing is known is no answer that nothing happened.

use whathappened_connectors::node_log::is_calendar_entry;
use whathappened_connectors::recording::{FileStatus, FileSummary, Summary};

/// Files that are named one by one.
const SHOWN: usize = 5;

/// Why nothing of the input could be used, where that is so.
#[must_use]
pub fn unusable(summary: &Summary) -> Option<String> {
    let failed: Vec<String> = summary
        .files
        .iter()
        .filter_map(|file| match &file.status {
            FileStatus::Failed(why) => Some(format!("{}: {why}", file.name)),
            _ => None,
        })
        .collect();
    if !failed.is_empty() && summary.total.records == 0 {
        return Some(format!("nothing could be read: {}", failed.join("; ")));
    }
    // An empty file beside says neither that something happened nor that nothing did.
    let files: Vec<&FileSummary> = summary
        .files
        .iter()
        .filter(|file| file.bytes > 0 || file.records > 0 || file.status != FileStatus::Complete)
        .collect();
    // `upcoming` says of such a calendar that it is unknown what is announced, which is an answer of its own.
    let of_calendar = |summary: &Summary| {
        let mut rejected = summary.rejected.iter();
        rejected.any(|record| is_calendar_entry(&record.why))
    };
    if files.is_empty() || !files.iter().all(|file| is_unusable(file)) || of_calendar(summary) {
        return None;
    }
    let is_read = |file: &&FileSummary| !file.is_foreign && file.status == FileStatus::Complete;
    let verb = if files.iter().all(is_read) {
        "used"
    } else {
        "read"
    };
    let whys = files.iter().take(SHOWN).map(|file| why(file, summary));
    let whys: Vec<String> = whys.collect();
    let more = match files.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!("; and {more} more files"),
    };
    Some(format!(
        "nothing could be {verb}: {}{more}",
        whys.join("; ")
    ))
}

/// Why nothing of this file could be used.
fn why(file: &FileSummary, summary: &Summary) -> String {
    let name = &file.name;
    let mut rejected = summary.rejected.iter();
    let of_this = rejected.find(|record| record.origin.file == *name);
    let any = || of_this.or_else(|| summary.rejected.first());
    match (&file.status, file.unknown) {
        (FileStatus::Failed(why) | FileStatus::Truncated(why), _) => format!("{name}: {why}"),
        (FileStatus::Complete, _) if file.rejected > 0 => match any() {
            Some(record) => format!("{name}: {}", record.why),
            None => format!("{name}: not in a known format"),
        },
        // What is known to be none of them is named: an error message, a picture, a database.
        (FileStatus::Complete, _) if file.is_foreign && !file.form.is_empty() => {
            format!("{name}: {}", file.form)
        }
        (FileStatus::Complete, 0) => format!("{name}: not in a known format"),
        (FileStatus::Complete, 1) => format!("{name}: 1 record of an unknown kind"),
        (FileStatus::Complete, many) => format!("{name}: {many} records of unknown kinds"),
    }
}

/// Whether a file, which is not empty, gave nothing at all: what it holds is damaged or of no known
/// format. A log of a machine in which no line means anything was read all the same.
fn is_unusable(file: &FileSummary) -> bool {
    let is_cut = matches!(file.status, FileStatus::Truncated(_));
    let is_damaged = is_cut && file.rejected == file.records;
    let is_failed = matches!(file.status, FileStatus::Failed(_));
    let unused = file.rejected + file.unknown;
    let is_unknown = file.records > 0 && unused == file.records;
    file.observations == 0 && (is_failed || is_damaged || file.is_foreign || is_unknown)
}
