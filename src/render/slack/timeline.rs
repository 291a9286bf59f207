//! What happened, in order.

use whathappened_core::timeline::Weight;
use whathappened_slack::{Block, Message, MessageBuilder, Mrkdwn};

use crate::answer::{Answer, TimelineRow};

use super::super::clock::{Clock, offset};
use super::super::select::{VisibleRow, select};
use super::super::style::Tz;
use super::super::text::{clip, escape};
use super::super::wording;

/// Characters of a line.
const CHARACTERS: usize = 160;

/// Lines of one block.
const BLOCK: usize = 12;

/// At most so many lines of the timeline, those around what matters, and how many
/// were left out.
#[must_use]
pub fn timeline(answer: &Answer, limit: usize) -> (Message, usize) {
    let name = answer.experiment.as_deref().unwrap_or("everything");
    let many = wording::count(answer.timeline.len(), "line").replace('\u{a0}', " ");
    let left_out = answer.timeline.len().saturating_sub(limit);
    let mut read = format!("The timeline of {} has {many}.", escape(name));
    if let (Some(first), Some(last)) = (answer.timeline.first(), answer.timeline.last()) {
        let clock = Clock(Tz::Utc);
        let at = |row: &TimelineRow| match clock.full(&row.time) {
            unknown if unknown.is_empty() => String::new(),
            time => format!(" at {time}"),
        };
        read = format!(
            "{read} It begins{} with: {} It ends{} with: {}",
            at(first),
            sentence(&first.text),
            at(last),
            sentence(&last.text)
        );
    }
    let mut message = MessageBuilder::new(&read);
    let title = Mrkdwn::new()
        .bold("Timeline of")
        .say(" ")
        .code(escape(name));
    let title = match left_out {
        0 => title.say(format!(", {many}")),
        more => title.say(format!(
            ", {limit} of {many} around what matters; {more} more lines, see the file"
        )),
    };
    message.push(Block::section(&title));
    let lines = lines(answer, limit);
    for some in lines.chunks(BLOCK) {
        message.push(Block::section(&Mrkdwn::new().fence(some.join("\n"))));
    }
    (message.build(), left_out)
}

fn sentence(text: &str) -> String {
    let text = escape(text);
    let text = clip(text.trim_end_matches('.'), CHARACTERS);
    format!("{text}.")
}

fn lines(answer: &Answer, limit: usize) -> Vec<String> {
    let clock = Clock(Tz::Utc);
    let mut day = None;
    let mut lines = Vec::new();
    for shown in select(&answer.timeline, Some(limit)) {
        let row = match shown {
            VisibleRow::LeftOut(many) => {
                lines.push(format!("        ⋯ {many} left out"));
                continue;
            }
            VisibleRow::Row(row) => row,
        };
        let today = clock.day(&row.time);
        if today.is_some() && today != day {
            lines.extend(today.clone());
            day = today;
        }
        let sign = match row.weight {
            _ if row.in_chain => '●',
            Weight::Error => '✗',
            Weight::Warning => '!',
            Weight::Info => ' ',
        };
        let times = match row.count {
            0 | 1 => String::new(),
            many => format!(" ×{many}"),
        };
        lines.push(format!(
            "{} {:>8} {sign} {} {}{times}",
            clock.time(&row.time),
            offset(row.offset_s),
            escape(&row.entity),
            clip(&escape(&row.text), CHARACTERS)
        ));
    }
    lines
}
