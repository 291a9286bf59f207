//! One page in HTML that is whole by itself: it loads nothing, and its picture
//! and lists are complete without the script.

mod beside;
mod cells;
mod chain;
mod coverage;
mod evidence;
mod followed;
mod links;
mod list;
mod page;
mod picture;
mod policy;
mod records;
mod room;
mod rows;
pub mod site;
#[cfg(test)]
mod tests;
mod verdict;
#[cfg(test)]
mod words_tests;

use std::io;

pub(crate) use self::records::rows_with_records;
pub(crate) use self::rows::Rows;
pub(crate) use self::site::fleet_alone as fleet;

use crate::answer::Answer;

use super::error::RenderError;
use super::style::Style;

use self::room::Room;

/// Bytes of a page, at most: it has to go through an e-mail or a ticket.
const CAP: usize = 3_000_000;

/// Bytes that are kept for the records behind its rows, where somebody brought them.
const OF_RECORDS: usize = 300_000;

/// Writes the answer as one page, with as much of its lists as fits, and of the records behind them.
pub(crate) fn answer(
    answer: &Answer,
    style: &Style,
    out: &mut dyn io::Write,
) -> Result<(), RenderError> {
    let mut room = Room::new(style.timeline_limit);
    let mut text = page::whole(answer, style, room);
    let has_records = !answer.drawn.records.is_empty();
    let lists = if has_records { CAP - OF_RECORDS } else { CAP };
    while text.len() > lists
        && let Some(less) = room.less()
    {
        room = less;
        text = page::whole(answer, style, room);
    }
    let records = page::records(answer, style, room, CAP.saturating_sub(text.len()));
    out.write_all(with_records(&text, &records).as_bytes())?;
    Ok(())
}

/// The page with its records, before its own script reads them.
fn with_records(page: &str, records: &str) -> String {
    match page.split_once(page::BEFORE_SCRIPT) {
        Some((before, after)) => format!("{before}{records}{}{after}", page::BEFORE_SCRIPT),
        None => page.to_owned(),
    }
}
