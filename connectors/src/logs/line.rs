//! One line, as far as it can be understood alone.

use super::clock::{self, Clock};
use super::fields;
use super::prefix::{self, Speaker};
use super::wrapper::PodName;

/// A line out of its wrapper, with what it says of itself.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    /// Its number in the file, from 1.
    pub(crate) number: u64,
    pub(super) clock: Option<Clock>,
    /// Without wrapper and colours.
    pub(crate) message: String,
    /// Which of several workers in one stream said it.
    pub(crate) speaker: Speaker,
    /// Whose line it is, where `kubectl logs --prefix` says so.
    pub(crate) pod: Option<PodName>,
    /// As the line's fields say; the text is looked at when it is told.
    pub(crate) severity: Option<String>,
    pub(crate) rank: Option<i32>,
    /// As it stood in the file.
    pub(crate) raw: String,
}

impl Line {
    /// The message without the speaker's prefix.
    pub(crate) fn text(&self) -> &str {
        prefix::split(&self.message).1
    }

    /// Sets whose line it is, in a stream of several pods.
    pub(super) fn of_pod(mut self, pod: Option<PodName>) -> Self {
        if let Some(PodName { pod, container }) = &pod {
            // Lines of different pods are not parts of one record.
            self.speaker
                .prefix
                .insert_str(0, &format!("{pod}/{container} "));
        }
        self.pod = pod;
        self
    }

    /// Sets the collector's time, which is better than the program's own.
    pub(super) fn with_time(mut self, time: Option<crate::time::Stamp>) -> Self {
        if let Some(time) = time {
            self.clock = Some(Clock::Full(time));
        }
        self
    }
}

/// Reads what `content`, a line out of its wrapper, says of itself.
pub(crate) fn interpret(content: &str, raw: String, number: u64) -> Line {
    let plain = prefix::plain(content);
    let structured = fields::json(&plain).unwrap_or_default();
    let message = structured.message.unwrap_or_else(|| plain.into_owned());
    let (speaker, text) = prefix::split(&message);
    let clock = structured
        .clock
        .or_else(|| clock::leading(text).map(|(clock, _)| clock))
        .or_else(|| fields::logfmt(text));
    let severity = structured.severity;
    let rank = structured.rank.or(speaker.rank);
    Line {
        number,
        clock,
        message,
        speaker,
        pod: None,
        severity,
        rank,
        raw,
    }
}
