//! Our words as Slack's markup.

use whathappened_slack::Mrkdwn;

use super::super::page::{Spans, Tone};
use super::super::text::{escape, escape_lines};

/// Words with their tones: names as code, what matters in bold.
pub(super) fn markup(spans: &Spans) -> Mrkdwn {
    let mut text = Mrkdwn::new();
    for span in &spans.0 {
        let words = span.text.replace('\u{a0}', " ");
        text = match span.tone {
            Tone::Name | Tone::Bad => text.code(words),
            Tone::Strong | Tone::Fatal => text.bold(words),
            _ => text.say(words),
        };
    }
    text
}

/// The same without tones.
pub(super) fn plain(spans: &Spans) -> String {
    let words = spans.0.iter().map(|span| span.text.as_str());
    words.collect::<String>().replace('\u{a0}', " ")
}

/// A sentence that may hold words from outside.
pub(super) fn sentence(text: &str) -> Mrkdwn {
    Mrkdwn::new().say(escape(text))
}

/// Lines as a process wrote them.
pub(super) fn lines(text: &str) -> Mrkdwn {
    Mrkdwn::new().fence(escape_lines(text))
}
