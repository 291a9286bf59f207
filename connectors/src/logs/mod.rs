//! Container logs: a line, or lines that belong together, to a `log.line` event.
//!
//! Files and answers of log stores go the same way: a line is taken out of its wrapper,
//! placed in time, joined with its neighbours where it is part of a traceback,
//! and told as an event. A time that the line does not state in full is marked
//! in the attribute `time_inferred`:
//!
//! | value | the event's time |
//! |---|---|
//! | `zone` | the line names no zone, UTC is assumed; once the pod is known, `container` where its life tells the zone |
//! | `year` | the line names no year, that of its log is taken |
//! | `previous` | no time: from the line before to the line after, at most an hour |
//! | `next` | no time and none before: the hour before the first timed line |
//! | `none` | no time in the whole log, or no year: [`crate::time::Stamp::OPEN`]; what there is of it is in `time_without_year` |

mod begin;
mod block;
pub(crate) mod clock;
mod environment;
mod event;
mod exception;
mod fields;
mod glued;
mod join;
mod line;
mod line_limit;
mod prefix;
mod progress_bar;
mod stored;
mod stream;
mod timestamps;
mod tool;
mod wrapper;

#[cfg(test)]
mod real;
mod runner;
mod seams;
#[cfg(test)]
mod tests;

pub use crate::contract::LogSource;
pub(crate) use begin::begins_a_record;
pub(crate) use event::Emitter;
pub(crate) use join::LineJoiner;
pub(crate) use line::interpret;
pub(crate) use line_limit::{asked, look_for};
pub(crate) use stored::emit as emit_stored;
pub use stream::LogStream;
pub(crate) use timestamps::PlacedLine;
pub(crate) use wrapper::content as unwrapped;
