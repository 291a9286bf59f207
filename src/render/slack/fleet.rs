//! A report as a message: each figure with its first rows, what it counts and what it rests on.

use serde_json::Value;
use whathappened_model::time::{SECOND, Stamp};
use whathappened_slack::{Block, Button, Message, MessageBuilder, Mrkdwn};

use crate::answer::{Figure, FleetReport};

use super::super::clock::Clock;
use super::super::fleet::{heading, of_column, window};
use super::super::style::Style;
use super::super::text::{escape, in_address};

/// Rows of a figure that a message shows.
const ROWS: usize = 3;

/// The report as one message; the page of the service, where one is configured, has all of it.
#[must_use]
pub(crate) fn fleet(report: &FleetReport, style: &Style) -> Message {
    let clock = Clock(style.tz);
    let head = format!(
        "Report from {} to {}",
        clock.full(&report.from),
        clock.full(&report.to)
    );
    let sum = report.figures.first().and_then(|sum| pairs(sum, 0));
    let sentence = sum.as_ref().map(Mrkdwn::plain);
    let rest = match page(report) {
        Some(_) => "see the browser",
        None => "see --format html or md",
    };
    let mut message =
        MessageBuilder::new(&format!("{head}. {}", sentence.unwrap_or_default())).rest_is(rest);
    if let Some(page) = page(report) {
        let button = Button::open("Open in the browser", "page", &page);
        if let Some(actions) = Block::actions([button]) {
            message.last(actions);
        }
    }
    message.last(Block::context(
        &Mrkdwn::new().say(escape(&window(report, clock))),
    ));
    message.push(Block::header(&head));
    for note in &report.notes {
        message.push(Block::context(&Mrkdwn::new().say(escape(note))));
    }
    for figure in &report.figures {
        if figure.rows.is_empty() {
            continue;
        }
        let lines: Vec<Mrkdwn> = (0..figure.rows.len())
            .filter_map(|row| pairs(figure, row))
            .collect();
        message.lines(figure.title, &lines, ROWS);
        let about = [Some(figure.definition), figure.coverage.as_deref()];
        let about: Vec<&str> = about.into_iter().flatten().collect();
        let mut about = Mrkdwn::new().say(escape(&about.join(" ")));
        if let Some(page) = page(report) {
            about = about
                .say(" ")
                .link(&format!("{page}#{}", figure.id), "Incidents and SQL");
        }
        message.push(Block::context(&about));
    }
    message.build()
}

/// A row in a line: what it is of in bold, then its figures with their names.
fn pairs(figure: &Figure, row: usize) -> Option<Mrkdwn> {
    let mut text = Mrkdwn::new();
    let mut is_first = true;
    for (column, one) in figure.columns.iter().zip(figure.rows.get(row)?) {
        // Words that say again what an id says are for those who have the room.
        if column == "in_words" {
            continue;
        }
        if !is_first {
            text = text.say(" · ");
        }
        text = match one {
            Value::String(words) if is_first && !is_bare(column, words) => text.bold(escape(words)),
            one => text.say(format!(
                "{} {}",
                escape(&heading(column)),
                escape(&of_column(column, one))
            )),
        };
        is_first = false;
    }
    Some(text)
}

/// Whether a first value is a number that nobody understands without its heading; a day is understood.
fn is_bare(column: &str, words: &str) -> bool {
    column != "day" && words.starts_with(|first: char| first.is_ascii_digit())
}

/// The same figures in the service.
fn page(report: &FleetReport) -> Option<String> {
    let site = report.site.as_deref()?;
    let (from, to) = (Stamp::parse(&report.from)?, Stamp::parse(&report.to)?);
    let seconds = to.lo.saturating_sub(from.lo) / SECOND;
    let until = in_address(&report.to);
    Some(format!("{site}/fleet?since={seconds}s&until={until}"))
}
