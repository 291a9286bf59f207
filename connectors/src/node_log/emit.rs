//! A line with its place in time to the event it is.

use std::collections::HashMap;
use std::sync::Arc;

use super::line::{HostLine, LineTime};
use super::place::PlacedTime;
use crate::event::{Entities, Event, EventId, Origin, SourceKind};
use crate::logs::clock;
use crate::redact::{self, Lines, redact};
use crate::time::{SECOND, Stamp};

/// Makes the events of one log.
#[derive(Debug)]
pub(super) struct Emitter {
    file: Arc<str>,
    /// What tells this log's lines from others where they do not name a host.
    identity: String,
    /// Whose log it is, where the path says so.
    host: Option<String>,
    /// How often each text was said at each second, of late.
    equals: HashMap<EventId, u64>,
    /// A secret may have several lines.
    secrets: Lines,
}

const MAX_EQUALS: usize = 1 << 16;

impl Emitter {
    pub(super) fn new(file: Arc<str>, identity: String, host: Option<String>) -> Self {
        Self {
            file,
            identity,
            host,
            equals: HashMap::new(),
            secrets: Lines::default(),
        }
    }

    /// The log says on which machine it is written.
    pub(super) fn on(&mut self, host: String) {
        self.host = Some(host);
    }

    /// The event of a line. A journal and a syslog of one machine tell the
    /// same line with different precision: one fact.
    pub(super) fn emit(
        &mut self,
        line: HostLine,
        placed: PlacedTime,
        raw: &str,
        number: u64,
    ) -> Event {
        let stamp = placed.stamp.unwrap_or(Stamp::OPEN);
        let host = line.host.or_else(|| self.host.clone());
        let whose = host.clone().unwrap_or_else(|| self.identity.clone());
        let second = match (placed.stamp, line.when) {
            (Some(stamp), _) => stamp.lo.div_euclid(SECOND).to_string(),
            // The same dmesg copied twice says the same.
            (None, LineTime::Uptime { nanos, .. }) => format!("boot+{nanos}"),
            (None, LineTime::Clock(clock)) => clock::without_year(clock).unwrap_or_default(),
            (None, LineTime::Absent) => format!("line {number}"),
        };
        let program = line.program.as_deref().unwrap_or_default();
        let parts = ["node.log", &whose, &second, program, &line.message];
        let ordinal = self.ordinal(EventId::of(&parts)).to_string();
        let id = EventId::of(&[parts.as_slice(), &[&ordinal]].concat());
        let mut event = Event::new(id, "node.log", stamp, SourceKind::NodeLog);
        event.severity = line.severity;
        event.entities = Entities {
            node: host.clone(),
            host,
            ..Entities::default()
        };
        let (message, clean) = match self.secrets.hidden(&line.message) {
            Some(hidden) => redact::without(&line.message, raw, hidden),
            None => (redact(&line.message).into_owned(), redact(raw).into_owned()),
        };
        event.message = Some(message);
        event.raw = clean;
        event.origin = Origin {
            file: Arc::clone(&self.file),
            line: number,
        };
        event.set_attribute(
            "utc_offset_s",
            clock::offset(raw)
                .or(placed.ahead)
                .map(|offset| offset / SECOND),
        );
        event.set_attribute("program", line.program);
        event.set_attribute("program_pid", line.pid);
        event.set_attribute("unit", line.unit);
        event.set_attribute("facility", line.facility);
        event.set_attribute("boot_id", line.boot_id);
        match line.when {
            LineTime::Uptime { nanos, .. } => {
                event.set_attribute("uptime_s", Some(nanos / SECOND));
            }
            LineTime::Clock(clock) if placed.stamp.is_none() => {
                event.set_attribute("time_without_year", clock::without_year(clock));
            }
            _ => {}
        }
        let inferred = placed.stamp.map_or(Some("none"), |_| placed.inferred);
        event.set_attribute("time_inferred", inferred);
        event
    }

    fn ordinal(&mut self, id: EventId) -> u64 {
        if self.equals.len() >= MAX_EQUALS {
            self.equals.clear();
        }
        let ordinal = self.equals.entry(id).or_default();
        *ordinal += 1;
        *ordinal
    }
}
