//! An autoscaler's log, line by line.

use std::collections::HashMap;
use std::sync::Arc;

use chrono::Datelike as _;
use regex::Regex;
use serde_json::Value;

use crate::contract::{FormatOutput, TextReader, numbered};
use crate::event::{Event, EventId, Origin, SourceKind};
use crate::logs::clock::{self, Clock};
use crate::logs::{LogSource, unwrapped};
use crate::observation::Observation;
use crate::redact::redact;
use crate::time::{SECOND, Stamp};

/// What one line says was done to one thing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct NodeAction {
    pub(super) what: String,
    pub(super) node: Option<String>,
    pub(super) instance: Option<String>,
    /// Namespace and name.
    pub(super) pod: Option<(String, String)>,
    pub(super) pod_uid: Option<String>,
    pub(super) group: Option<String>,
    pub(super) zone: Option<String>,
    pub(super) attributes: Vec<(&'static str, Value)>,
}

/// A line, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) clock: Option<Clock>,
    pub(super) severity: Option<String>,
    pub(super) message: String,
    pub(super) did: Vec<NodeAction>,
}

/// Takes a line apart; `None` where it is none of this autoscaler's.
pub(super) type LineParser = fn(&str) -> Option<Line>;

/// The lines of one autoscaler.
pub(super) struct Log {
    file: Arc<str>,
    actor: &'static str,
    read: LineParser,
    year: Option<i32>,
    /// Facts whose year is not known yet.
    held: Vec<(Clock, Event)>,
    equals: HashMap<EventId, u64>,
}

const MAX_HELD: usize = 20_000;
const MAX_EQUALS: usize = 1 << 16;

impl Log {
    pub(super) fn new(source: &Arc<LogSource>, actor: &'static str, read: LineParser) -> Self {
        Self {
            file: Arc::clone(&source.file),
            actor,
            read,
            year: None,
            held: Vec::new(),
            equals: HashMap::new(),
        }
    }

    fn line(&mut self, raw: &str, number: u64, found: &mut FormatOutput) -> bool {
        let collected = collector_time(raw);
        // The line's own time looks like one that a collector put before it.
        let read = self.read;
        let Some(line) = read(raw).or_else(|| read(&unwrapped(raw))) else {
            return false;
        };
        let (stamp, inferred) = self.place(collected, line.clock);
        if self.year.is_some() && !self.held.is_empty() {
            self.release(found);
        }
        let any = !line.did.is_empty();
        for did in line.did {
            let mut event = self.emit(did, stamp);
            event.severity.clone_from(&line.severity);
            event.message = Some(redact(&line.message).into_owned());
            event.raw = redact(raw).into_owned();
            event.origin = Origin {
                file: Arc::clone(&self.file),
                line: number,
            };
            event.set_attribute("time_inferred", inferred);
            match line.clock.filter(|_| stamp.is_none()) {
                Some(clock) if self.held.len() < MAX_HELD => self.held.push((clock, event)),
                _ => found.observations.push(Observation::Event(Box::new(event))),
            }
        }
        any
    }

    fn place(
        &mut self,
        collected: Option<Stamp>,
        clock: Option<Clock>,
    ) -> (Option<Stamp>, Option<&'static str>) {
        let (stamp, inferred) = match clock {
            Some(Clock::Full(stamp)) => (Some(stamp), None),
            Some(Clock::NoZone(stamp)) => (Some(stamp), Some("zone")),
            _ if collected.is_some() => (collected, None),
            Some(clock) => (
                self.year.and_then(|year| in_year(clock, year)),
                Some("year"),
            ),
            None => (None, Some("none")),
        };
        if let Some(stamp) = stamp {
            self.year = Some(chrono::DateTime::from_timestamp_nanos(stamp.lo).year());
        }
        (stamp, stamp.map_or(Some("none"), |_| inferred))
    }

    fn release(&mut self, found: &mut FormatOutput) {
        let Some(year) = self.year else { return };
        for (clock, mut event) in std::mem::take(&mut self.held) {
            if let Some(stamp) = in_year(clock, year) {
                event.time = stamp;
                event.set_attribute("time_inferred", Some("year"));
            }
            found.observations.push(Observation::Event(Box::new(event)));
        }
    }

    fn emit(&mut self, did: NodeAction, stamp: Option<Stamp>) -> Event {
        let pod = did.pod.clone().unwrap_or_default();
        let part = |part: &Option<String>| part.clone().unwrap_or_default();
        let second = stamp
            .map_or(0, |stamp| stamp.lo.div_euclid(SECOND))
            .to_string();
        let (node, group, uid) = (part(&did.node), part(&did.group), part(&did.pod_uid));
        let parts = [
            "cloud.group_activity",
            self.actor,
            &did.what,
            &node,
            &group,
            &pod.0,
            &pod.1,
            &uid,
            &second,
        ];
        if self.equals.len() >= MAX_EQUALS {
            self.equals.clear();
        }
        let ordinal = self.equals.entry(EventId::of(&parts)).or_default();
        *ordinal += 1;
        let ordinal = ordinal.to_string();
        let id = EventId::of(&[parts.as_slice(), &[ordinal.as_str()]].concat());
        let stamp = stamp.unwrap_or(Stamp::OPEN);
        let mut event = Event::new(id, "cloud.group_activity", stamp, SourceKind::NodeLog);
        event.actor = Some(self.actor.to_owned());
        event.reason = Some(did.what);
        event.entities.node = did.node;
        event.entities.instance = did.instance;
        event.entities.zone = did.zone;
        if let Some((namespace, name)) = did.pod {
            event.entities.namespace = Some(namespace);
            event.entities.pod = Some(name);
        }
        event.entities.pod_uid = did.pod_uid;
        event.object_kind = if event.entities.pod.is_some() {
            Some("Pod".to_owned())
        } else {
            event.entities.node.as_ref().map(|_| "Node".to_owned())
        };
        event.set_attribute("group", did.group);
        for (key, value) in did.attributes {
            event.set_attribute(key, Some(value));
        }
        event
    }
}

/// When the container's runtime got the line.
fn collector_time(line: &str) -> Option<Stamp> {
    let (time, rest) = line.split_once(' ')?;
    let wrapped = rest.starts_with("stdout ") || rest.starts_with("stderr ");
    Stamp::parse(time).filter(|_| wrapped)
}

fn in_year(clock: Clock, year: i32) -> Option<Stamp> {
    match clock {
        Clock::Full(stamp) | Clock::NoZone(stamp) => Some(stamp),
        Clock::NoYear {
            month,
            day,
            nanos,
            width,
        } => clock::in_year(year, month, day, nanos, width),
    }
}

impl TextReader for Log {
    fn lines(&mut self, lines: &[u8], first: u64, found: &mut FormatOutput) {
        for (number, line) in numbered(lines, first) {
            if line.is_empty() {
                continue;
            }
            let text = String::from_utf8_lossy(line);
            found.lossy += u64::from(matches!(text, std::borrow::Cow::Owned(_)));
            found.records += 1;
            found.irrelevant += u64::from(!self.line(&text, number, found));
        }
    }

    fn finish(&mut self, found: &mut FormatOutput) {
        for (_, event) in std::mem::take(&mut self.held) {
            found.observations.push(Observation::Event(Box::new(event)));
        }
    }
}

/// What a message means: the first pattern that it holds.
pub(super) struct MessagePattern {
    pub(super) pattern: Regex,
    pub(super) what: &'static str,
}

/// Compiles a table of patterns.
pub(super) fn meanings(table: &[(&str, &'static str)]) -> Vec<MessagePattern> {
    table
        .iter()
        .filter_map(|(pattern, what)| {
            let pattern = Regex::new(pattern).ok()?;
            Some(MessagePattern { pattern, what })
        })
        .collect()
}

/// Reads a message with a table whose groups are called `node`, `instance`,
/// `pod` (`namespace/name`), `group`, `zone`, `from`, `to` and `detail`.
pub(super) fn understand(message: &str, table: &[MessagePattern]) -> Option<NodeAction> {
    let (meaning, found) = table
        .iter()
        .find_map(|meaning| Some((meaning, meaning.pattern.captures(message)?)))?;
    let get = |name: &str| found.name(name).map(|value| value.as_str().to_owned());
    let mut attributes = Vec::new();
    for key in ["from", "to", "detail"] {
        if let Some(value) = get(key) {
            attributes.push((key, Value::from(value)));
        }
    }
    Some(NodeAction {
        what: meaning.what.to_owned(),
        node: get("node"),
        instance: get("instance"),
        pod: get("pod").and_then(|pod| {
            let (namespace, name) = pod.split_once('/')?;
            Some((namespace.to_owned(), name.to_owned()))
        }),
        pod_uid: None,
        group: get("group"),
        zone: get("zone"),
        attributes,
    })
}
