//! One line, as far as it can be understood alone.

use super::clock::{self, Clock};
use super::fields;
use super::prefix::{self, Speaker};
use crate::event::Entities;

/// A line out of its wrapper, with what it says of itself.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    /// Its number in the file, from 1.
    pub(crate) number: u64,
    pub(super) clock: Option<Clock>,
    /// Without wrapper and colours.
    pub(crate) message: String,
    /// Where in the message the text begins, after the speaker's prefix.
    text: usize,
    /// Which of several workers in one stream said it.
    pub(crate) speaker: Speaker,
    /// Whose line it is, where it or the tool that printed it says so.
    pub(crate) whose: Option<Box<Entities>>,
    /// As the line's fields say; the text is looked at when it is told.
    pub(crate) severity: Option<String>,
    pub(crate) rank: Option<i32>,
    /// As it stood in the file.
    pub(crate) raw: String,
}

impl Line {
    /// The message without the speaker's prefix.
    pub(crate) fn text(&self) -> &str {
        self.message.get(self.text..).unwrap_or_default()
    }

    /// Sets whose line it is, in a stream of several pods.
    pub(super) fn of(mut self, whose: Entities) -> Self {
        // Lines of different pods are not parts of one record.
        let name = |part: &Option<String>| part.clone().unwrap_or_default();
        let of = format!(
            "{}/{}/{} ",
            name(&whose.namespace),
            name(&whose.pod),
            name(&whose.container)
        );
        self.speaker.prefix.insert_str(0, &of);
        self.whose = Some(Box::new(whose));
        self
    }

    /// Sets when a journal got it, and which process it is of: what two of them write at once is not one record.
    pub(super) fn journalled(mut self, clock: Option<Clock>, process: &str) -> Self {
        self.clock = clock;
        if !process.is_empty() {
            self.speaker.prefix.insert_str(0, &format!("{process} "));
        }
        self
    }

    /// Sets the collector's time, which is better than the program's own.
    pub(super) fn with_time(mut self, time: Option<Clock>) -> Self {
        self.clock = time.or(self.clock);
        self
    }
}

/// Reads what `content`, a line out of its wrapper, says of itself.
pub(crate) fn interpret(content: &str, raw: String, number: u64) -> Line {
    interpret_in(content, raw, number, false)
}

/// The same in a stream whose lines bear task numbers, where `numbered`.
pub(super) fn interpret_in(content: &str, raw: String, number: u64, numbered: bool) -> Line {
    let plain = prefix::plain(content);
    let structured = fields::json(&plain).unwrap_or_default();
    let message = structured.message.unwrap_or_else(|| plain.into_owned());
    let (speaker, text) = prefix::split(&message, numbered);
    let clock = structured
        .clock
        .or_else(|| clock::leading(text).map(|(clock, _)| clock))
        .or_else(|| clock::within(text))
        .or_else(|| fields::logfmt(text));
    let severity = structured.severity;
    let rank = structured.rank.or(speaker.rank);
    let text = message.len() - text.len();
    let line = Line {
        number,
        clock,
        message,
        text,
        speaker,
        whose: None,
        severity,
        rank,
        raw,
    };
    match structured.whose {
        Some(whose) => line.of(*whose),
        None => line,
    }
}
