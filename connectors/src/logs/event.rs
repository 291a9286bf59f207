//! A joined record to the event it is.

use std::collections::HashMap;
use std::sync::Arc;

use super::exception;
use super::join::Joined;
use crate::event::{Entities, Event, EventId, Origin, SourceKind};
use crate::redact::redact;
use crate::time::Stamp;

/// Tells a stream's records as events, each with its own id.
#[derive(Debug)]
pub(crate) struct Teller {
    identity: String,
    source_kind: SourceKind,
    entities: Entities,
    file: Arc<str>,
    /// The log of the container's run before the last.
    pub(crate) previous: bool,
    /// How often each text stood at each time, of late.
    equals: HashMap<u128, u64>,
}

/// Lines that are remembered to count equal ones, which stand close together.
const MAX_EQUALS: usize = 1 << 16;

impl Teller {
    pub(crate) fn new(
        identity: String,
        source_kind: SourceKind,
        entities: Entities,
        file: Arc<str>,
    ) -> Self {
        Self {
            identity,
            source_kind,
            entities,
            file,
            previous: false,
            equals: HashMap::new(),
        }
    }

    /// Makes the event. Records must come in the stream's order.
    pub(crate) fn tell(&mut self, joined: Joined) -> Event {
        let Joined {
            first,
            message,
            raw,
            end,
            kind,
            lines,
            ..
        } = joined;
        let found = kind.and_then(|kind| exception::read(kind, &message));
        let ordinal = self.ordinal(first.stamp, &message, first.line.number);
        let lo = first.stamp.lo.to_string();
        let id = EventId::of(&["log.line", &self.identity, &lo, &message, &ordinal]);
        let mut event = Event::new(id, "log.line", first.stamp, self.source_kind);
        event.end = end;
        event.entities = self.entities.clone();
        event.rank = first.line.rank;
        event.severity = first.line.severity;
        event.message = Some(redact(&message).into_owned());
        event.raw = redact(&raw).into_owned();
        event.origin = Origin {
            file: Arc::clone(&self.file),
            line: first.line.number,
        };
        event.set_attribute("time_inferred", first.inferred);
        if lines > 1 {
            event.set_attribute("lines", Some(lines));
        }
        if let Some(found) = found {
            event.severity.get_or_insert_with(|| "ERROR".to_owned());
            event.set_attribute("exception", (!found.name.is_empty()).then_some(found.name));
            event.set_attribute(
                "exception_message",
                found.message.map(|text| redact(&text).into_owned()),
            );
            event.set_attribute("location", found.location);
        }
        event
    }

    /// Which of the equal lines of one time it is.
    fn ordinal(&mut self, stamp: Stamp, message: &str, number: u64) -> String {
        if stamp == Stamp::OPEN {
            // Without a time only the line's number tells equal lines apart.
            let run = if self.previous { "previous " } else { "" };
            return format!("{run}line {number}");
        }
        if self.equals.len() >= MAX_EQUALS {
            self.equals.clear();
        }
        let count = self
            .equals
            .entry(EventId::of(&[&stamp.lo.to_string(), message]).0)
            .or_default();
        *count += 1;
        count.to_string()
    }
}
