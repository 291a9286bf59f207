//! A record for the script of a page: as text that hides nothing and reorders nothing.

use super::super::super::text::{clip, escape_lines};
use super::super::cells;

/// Characters of a record: a page shows one at a time.
const CHARACTERS: usize = 200_000;

/// A text of one line, with what is invisible written out.
#[must_use]
pub fn plain(text: &str) -> String {
    cells::cut(text, CHARACTERS)
}

/// The same with its lines.
#[must_use]
pub fn plain_lines(text: &str) -> String {
    escape_lines(&clip(text, CHARACTERS)).into_owned()
}
