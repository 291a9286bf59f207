//! Whether a line is the first of several.

use super::line::interpret;
use super::{block, wrapper};

/// Whether a line as a store has it begins a record of several lines, such as
/// a traceback.
pub(crate) fn begins_a_record(stored: &str) -> bool {
    let line = interpret(&wrapper::content(stored), String::new(), 0);
    block::starts(line.text()).is_some()
}
