//! A row of the canary table: what a test planted, and what of it was left.

use std::fmt::Write as _;
use std::io::Write as _;

/// What one test looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) test: &'static str,
    pub(crate) kinds: usize,
    pub(crate) places: usize,
    /// Ways out that were looked at.
    pub(crate) ways: usize,
    pub(crate) planted: usize,
    pub(crate) left: usize,
}

impl Row {
    /// Adds the row, and what was left, to the file that `CANARY_REPORT` names: `.ci/canary`
    /// makes the table of it.
    pub(crate) fn report(&self, left: &[String]) {
        let Ok(path) = std::env::var("CANARY_REPORT") else {
            return;
        };
        let mut text = format!(
            "row\t{}\t{}\t{}\t{}\t{}\t{}\n",
            self.test, self.kinds, self.places, self.ways, self.planted, self.left
        );
        for one in left {
            let _ = writeln!(text, "left\t{}", one.replace(['\n', '\t'], " "));
        }
        // Several tests write to it at once: in one piece each.
        let file = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(path);
        file.unwrap().write_all(text.as_bytes()).unwrap();
    }
}
