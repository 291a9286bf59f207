//! Words and times as markup. Everything from outside goes through here.

use std::borrow::Cow;

use maud::{Markup, html};

use super::super::clock::{Clock, instant};
use super::super::page::{Spans, Tone};
use super::super::text::{clip, escape};
use super::room::Room;

/// Text from outside: cut to size, and what is invisible written out. Its direction
/// is its own, so that it reorders nothing beside it.
pub(super) fn text(value: &str, room: Room) -> Markup {
    html! { bdi { (shown(value, room)) } }
}

/// The same as plain text, for attributes and the picture.
pub(super) fn shown(value: &str, room: Room) -> String {
    cut(value, room.text)
}

/// The beginning of a text, with what is invisible written out.
pub(super) fn cut(value: &str, characters: usize) -> String {
    let clipped = clip(value, characters);
    match escape(&clipped) {
        Cow::Borrowed(text) => text.to_owned(),
        Cow::Owned(text) => text,
    }
}

/// Pieces of text with their tones.
pub(super) fn spans(spans: &Spans, room: Room) -> Markup {
    html! {
        @for span in &spans.0 {
            bdi class=[class(span.tone)] { (clip(&span.text, room.text)) }
        }
    }
}

fn class(tone: Tone) -> Option<&'static str> {
    match tone {
        Tone::Plain => None,
        Tone::Dim => Some("dim"),
        Tone::Strong => Some("strong"),
        Tone::Name => Some("name"),
        Tone::Good => Some("good"),
        Tone::Busy => Some("busy"),
        Tone::Warn => Some("warn"),
        Tone::Bad => Some("bad"),
        Tone::Fatal => Some("fatal"),
    }
}

/// A time in the reader's zone; the script shows it in another.
pub(super) fn time(value: &str, clock: Clock, room: Room) -> Markup {
    html! {
        @match instant(value) {
            Some(at) => { time datetime=(at.to_rfc3339()) { (clock.full(value)) } }
            None => { (text(value, room)) }
        }
    }
}

/// A time that may not be there.
pub(super) fn maybe_time(value: Option<&str>, clock: Clock, room: Room) -> Markup {
    html! { @if let Some(value) = value { (time(value, clock, room)) } }
}

/// How many of a list are not shown.
pub(super) fn left_out(all: usize, limit: usize, noun: &str) -> Markup {
    html! {
        @if all > limit {
            p.dim { (super::super::wording::count(all - limit, noun)) " left out here; --format json has all." }
        }
    }
}
