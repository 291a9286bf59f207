//! Events as tables show them.

use std::collections::BTreeMap;

use super::age::Span;
use super::capture_time::CaptureTime;
use super::paste::Line;
use super::table::{Heading, Row};
use crate::event::{Event, EventId, Origin, SourceKind};
use crate::observation::Rejection;
use crate::redact::redact;
use crate::time::{Nanos, Stamp, TimeKind};

/// The object that an event is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct EventObject {
    pub(super) kind: String,
    pub(super) namespace: String,
    pub(super) name: String,
}

/// An event as one row shows it.
#[derive(Clone, Debug)]
pub(super) struct PrintedEvent {
    pub(super) about: EventObject,
    pub(super) uid: String,
    pub(super) severity: Option<String>,
    pub(super) reason: String,
    pub(super) message: String,
    pub(super) component: Option<String>,
    host: Option<String>,
    path: Option<String>,
    /// Name of the Event object, in wide tables.
    object: Option<String>,
    pub(super) span: Span,
    /// It was printed below the description of its own object.
    pub(super) below_object: bool,
    /// It is about an earlier object of that name.
    pub(super) of_earlier: bool,
    pub(super) line: u64,
    raw: String,
    /// Its place in its list, from 1.
    pub(super) position: usize,
    /// When it was first and last seen; set when the capture's moment is known.
    pub(super) time: Stamp,
    pub(super) last: Stamp,
}

/// Reads the rows below a heading. `about` is the object of a `describe`.
pub(super) fn rows(
    heading: &Heading<'_>,
    lines: &[Line<'_>],
    about: Option<&EventObject>,
    emitted: &mut Vec<PrintedEvent>,
    count: &mut dyn FnMut(u64, Result<(), Rejection>),
) {
    let mut position = 0;
    for line in lines
        .iter()
        .filter(|line| !super::session::is_chatter(line))
    {
        let row = heading.row(line.text);
        match row.as_ref().map(|row| one(row, line, about)) {
            Some(Ok(mut event)) => {
                position += 1;
                event.position = position;
                emitted.push(event);
                count(line.number, Ok(()));
            }
            // A row of the table that cannot be read.
            Some(Err(why)) if row.as_ref().is_some_and(is_row) => {
                count(line.number, Err(Rejection::Malformed(why)));
            }
            // A message that was printed, or wrapped, over several lines.
            _ if position > 0 && !begins_a_row(line) => {
                if let Some(last) = emitted.last_mut() {
                    last.message.push(' ');
                    last.message.push_str(line.words());
                }
            }
            _ => count(
                line.number,
                Err(Rejection::Malformed(
                    "not a row of the table of events above it".to_owned(),
                )),
            ),
        }
    }
}

/// Whether a line begins as rows do, and not in the middle of a message.
fn begins_a_row(line: &Line<'_>) -> bool {
    let words = line.words();
    ["Normal  ", "Warning  "]
        .iter()
        .any(|word| words.starts_with(word))
}

fn is_row(row: &Row<'_>) -> bool {
    let severity = row.get("TYPE").or(row.get("Type"));
    matches!(severity, Some("Normal" | "Warning"))
}

fn one(
    row: &Row<'_>,
    line: &Line<'_>,
    about: Option<&EventObject>,
) -> Result<PrintedEvent, String> {
    let get = |names: [&str; 2]| names.iter().find_map(|name| row.get(name));
    let reason = get(["Reason", "REASON"])
        .filter(|word| !word.contains(' '))
        .ok_or("an event without a reason")?;
    let message = get(["Message", "MESSAGE"]).unwrap_or_default();
    let below_object = about.is_some();
    let (about, path) = match about {
        Some(about) => (about.clone(), get(["SubObjectPath", "SUBOBJECT"])),
        None => (
            object(row).ok_or("an event that does not name its object")?,
            get(["SubObjectPath", "SUBOBJECT"]),
        ),
    };
    let (component, host) = source(get(["From", "SOURCE"]));
    let (path, message) = match part_of_pod(message).filter(|_| path.is_none()) {
        Some((part, message)) => (Some(part), message),
        None => (path, message),
    };
    Ok(PrintedEvent {
        about,
        uid: String::new(),
        severity: get(["Type", "TYPE"]).map(str::to_owned),
        reason: reason.to_owned(),
        message: message.to_owned(),
        component,
        host,
        path: path.map(str::to_owned),
        object: row
            .get("NAME")
            .filter(|_| row.get("OBJECT").is_some())
            .map(str::to_owned),
        span: span(row).ok_or("an event whose age cannot be parsed")?,
        below_object,
        of_earlier: false,
        line: line.number,
        raw: line.words().to_owned(),
        position: 0,
        time: Stamp::OPEN,
        last: Stamp::OPEN,
    })
}

/// `spec.containers{trainer}: Started container`: a `describe` of kubectl 1.35 and later names the container before the
/// message, which tables and the Event itself tell apart from it.
fn part_of_pod(message: &str) -> Option<(&str, &str)> {
    let (path, rest) = message.split_once("}: ")?;
    let (kind, name) = path.split_once('{')?;
    let is_part = matches!(
        kind,
        "spec.containers" | "spec.initContainers" | "spec.ephemeralContainers"
    );
    let is_name = !name.is_empty()
        && name
            .bytes()
            .all(|one| one.is_ascii_lowercase() || one.is_ascii_digit() || one == b'-');
    let path = message.get(..=path.len())?;
    (is_part && is_name).then_some((path, rest))
}

/// `pod/run-0`, or a kind and a name in columns of their own.
fn object(row: &Row<'_>) -> Option<EventObject> {
    let (kind, name) = match row.get("OBJECT") {
        Some(object) => object.split_once('/')?,
        None => (row.get("KIND")?, row.get("NAME")?),
    };
    // An event's own name stands in the column of old tables: `run-0.17a4c…`.
    let name = match name.rsplit_once('.') {
        Some((object, hex))
            if row.get("OBJECT").is_none()
                && hex.len() >= 14
                && hex.bytes().all(|b| b.is_ascii_hexdigit()) =>
        {
            object
        }
        _ => name,
    };
    let kind = super::kind_of(kind).map_or_else(|| kind.to_owned(), str::to_owned);
    Some(EventObject {
        kind,
        namespace: row.get("NAMESPACE").unwrap_or_default().to_owned(),
        name: name.to_owned(),
    })
}

/// `kubelet`, `kubelet, gpu-7`.
fn source(text: Option<&str>) -> (Option<String>, Option<String>) {
    let Some(text) = text else {
        return (None, None);
    };
    let (component, host) = text
        .split_once(", ")
        .map_or((text, None), |(one, host)| (one, Some(host)));
    (Some(component.to_owned()), host.map(str::to_owned))
}

fn span(row: &Row<'_>) -> Option<Span> {
    let cell = |names: &[&str]| names.iter().find_map(|name| row.get(name));
    let last = cell(&["Age", "LAST SEEN", "LastSeen", "LASTSEEN"])?;
    let mut span = Span::parse(last)?;
    if let Some(first) = cell(&["FIRST SEEN", "FirstSeen", "FIRSTSEEN"]) {
        span.first = Span::parse(first)?.last;
    }
    if let Some(count) = cell(&["COUNT", "Count"]) {
        span.count = count.parse().ok();
    }
    // `kubectl get events` writes kinds in small letters and leaves counts out;
    // `kubectl events` writes them as they are, and tells of repeats.
    span.hidden = span.count.is_none()
        && row
            .get("OBJECT")
            .is_some_and(|object| object.starts_with(|c: char| c.is_ascii_lowercase()));
    Some(span)
}

impl PrintedEvent {
    /// What makes two rows the same event, but for its time.
    pub(super) fn key(&self) -> (&EventObject, &str, &str) {
        (&self.about, &self.reason, &self.message)
    }

    /// The nanosecond at which a recorder made the Event, which is in its name.
    pub(super) fn made(&self) -> Option<Nanos> {
        let (_, hex) = self.object.as_deref()?.rsplit_once('.')?;
        if hex.len() < 14 {
            return None;
        }
        Nanos::from_str_radix(hex, 16).ok().filter(|at| *at > 0)
    }

    /// Sets its times, counted back from the capture.
    pub(super) fn place(&mut self, moment: &CaptureTime) {
        self.last = moment.minus(self.span.last);
        self.time = match self.made() {
            Some(at) => Stamp::exact(at),
            None => moment.minus(self.span.first.or(self.span.last)),
        };
    }

    fn merge(&mut self, other: Self) {
        let narrower = |a: Stamp, b: Stamp| match (a == Stamp::OPEN, b == Stamp::OPEN) {
            (true, _) => b,
            (_, true) => a,
            _ => {
                let both = Stamp {
                    lo: a.lo.max(b.lo),
                    hi: a.hi.min(b.hi),
                };
                if both.lo < both.hi { both } else { a }
            }
        };
        // Of two captures the one that saw the first occurrence tells when that was.
        self.time = match (
            self.span.earliest().is_some(),
            other.span.earliest().is_some(),
        ) {
            (false, true) => other.time,
            (true, false) => self.time,
            _ => narrower(self.time, other.time),
        };
        if self.last == Stamp::OPEN || (other.last != Stamp::OPEN && other.last.lo > self.last.lo) {
            self.last = other.last;
        }
        self.span.count = self.span.count.max(other.span.count);
        self.span.first = self.span.first.or(other.span.first);
        self.component = self.component.take().or(other.component);
        self.host = self.host.take().or(other.host);
        self.path = self.path.take().or(other.path);
        self.object = self.object.take().or(other.object);
        self.severity = self.severity.take().or(other.severity);
        if self.uid.is_empty() {
            self.uid = other.uid;
        }
    }

    pub(super) fn same_time(&self, other: &Self) -> bool {
        // Within one list equal rows are different occurrences unless their ages meet.
        let hull = |one: &Self| Stamp {
            lo: one.time.lo.min(one.last.lo),
            hi: one.time.hi.max(one.last.hi),
        };
        hull(self).overlaps(hull(other))
    }
}

/// Joins rows of several tables that show one event, and tells each once.
pub(super) fn facts(all: Vec<PrintedEvent>, file: &std::sync::Arc<str>) -> Vec<Event> {
    type Key = (EventObject, String, String, bool);
    let mut groups: BTreeMap<Key, Vec<PrintedEvent>> = BTreeMap::new();
    for emitted in all {
        let (about, reason, message) = emitted.key();
        let earlier = emitted.of_earlier;
        let key = (
            about.clone(),
            reason.to_owned(),
            message.to_owned(),
            earlier,
        );
        let group = groups.entry(key).or_default();
        match group.iter_mut().find(|known| known.same_time(&emitted)) {
            Some(known) => known.merge(emitted),
            None => group.push(emitted),
        }
    }
    let mut events = Vec::new();
    for mut group in groups.into_values() {
        // The latest is the one that other captures show as well, so it has the plain id.
        group.sort_by_key(|emitted| (std::cmp::Reverse(emitted.time), emitted.line));
        for (ordinal, emitted) in group.into_iter().enumerate() {
            events.push(fact(emitted, ordinal, file));
        }
    }
    events.sort_by_key(|event| (event.origin.line, event.id));
    events
}

fn fact(emitted: PrintedEvent, ordinal: usize, file: &std::sync::Arc<str>) -> Event {
    let EventObject {
        kind,
        namespace,
        name,
    } = &emitted.about;
    let ordinal = match (ordinal, emitted.of_earlier) {
        (0, false) => String::new(),
        (_, false) => ordinal.to_string(),
        (_, true) => format!("earlier {ordinal}"),
    };
    let id = match &emitted.object {
        Some(object) if emitted.made().is_some() => EventId::of_kubernetes_event(namespace, object),
        _ => EventId::of(&[
            "k8s.event",
            "text",
            namespace,
            kind,
            name,
            &emitted.reason,
            &emitted.message,
            &ordinal,
        ]),
    };
    let mut event = Event::new(id, "k8s.event", emitted.time, SourceKind::Kubernetes);
    let repeats = emitted.span.count.is_some_and(|count| count > 1);
    event.time_kind = match (
        emitted.span.earliest().is_some() || emitted.object.is_some(),
        repeats,
    ) {
        (false, _) => TimeKind::LastSeen,
        (true, true) => TimeKind::FirstSeen,
        (true, false) => TimeKind::Occurred,
    };
    event.end = Some(emitted.last)
        .filter(|last| *last != Stamp::OPEN && last.hi > emitted.time.hi && repeats);
    event.count = emitted.span.count;
    event.count_is_lower_bound = emitted
        .message
        .starts_with("(combined from similar events): ");
    event.set_attribute("earlier_pod", emitted.of_earlier.then_some("true"));
    event.severity = emitted.severity;
    event.reason = Some(emitted.reason);
    event.message = Some(redact(&emitted.message).into_owned()).filter(|text| !text.is_empty());
    event.actor = emitted.component;
    event.object_uid = Some(emitted.uid).filter(|uid| !uid.is_empty());
    event.raw = redact(&emitted.raw).into_owned();
    event.origin = Origin {
        file: std::sync::Arc::clone(file),
        line: emitted.line,
    };
    event.object_kind = Some(kind.clone()).filter(|kind| !kind.is_empty());
    let namespace = Some(namespace.clone()).filter(|name| !name.is_empty());
    let entities = &mut event.entities;
    match kind.as_str() {
        "Pod" => {
            entities.namespace = namespace;
            entities.pod = Some(name.clone());
            entities.pod_uid.clone_from(&event.object_uid);
            entities.node = emitted
                .host
                .filter(|_| event.actor.as_deref() == Some("kubelet"));
        }
        "Node" => entities.node = Some(name.clone()),
        _ => {
            entities.namespace = namespace;
            entities.workload_kind = Some(kind.clone());
            entities.workload = Some(name.clone());
        }
    }
    if let Some(path) = emitted.path.as_deref() {
        let inside = path
            .split_once('{')
            .and_then(|(_, rest)| rest.strip_suffix('}'));
        event.entities.container = inside.map(str::to_owned);
        event.set_attribute(
            "init",
            path.starts_with("spec.initContainers").then_some("true"),
        );
    }
    if event.time == Stamp::OPEN {
        let seconds =
            |age: Option<super::age::Age>| age.map(|age| age.lo.max(0) / crate::time::SECOND);
        event.set_attribute("age_s", seconds(emitted.span.earliest()));
        event.set_attribute("last_age_s", seconds(emitted.span.last));
        event.set_attribute("position", Some(emitted.position));
    }
    event
}
