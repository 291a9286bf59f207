//! One page in HTML that is whole by itself: it loads nothing, and its picture
//! and lists are complete without the script.

mod beside;
mod cells;
mod chain;
mod coverage;
mod evidence;
mod links;
mod list;
mod page;
mod picture;
mod policy;
mod room;
mod rows;
pub mod site;
#[cfg(test)]
mod tests;
mod verdict;

use std::io;

pub(crate) use self::rows::Rows;
pub(crate) use self::site::fleet_alone as fleet;

use crate::answer::Answer;

use super::error::RenderError;
use super::style::Style;

use self::room::Room;

/// Bytes of a page, at most: it has to go through an e-mail or a ticket.
const CAP: usize = 3_000_000;

/// Writes the answer as one page, with as much of its lists as fits.
pub(crate) fn answer(
    answer: &Answer,
    style: &Style,
    out: &mut dyn io::Write,
) -> Result<(), RenderError> {
    let mut room = Room::new(style.timeline_limit);
    let mut text = page::whole(answer, style, room);
    while text.len() > CAP
        && let Some(less) = room.less()
    {
        room = less;
        text = page::whole(answer, style, room);
    }
    out.write_all(text.as_bytes())?;
    Ok(())
}
