//! A joined record to the event it is.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use super::join::JoinedRecord;
use super::{clock, exception, fields, prefix, seams};
use crate::event::{Entities, Event, EventId, Origin, SourceKind};
use crate::redact::{self, Lines, redact};
use crate::time::Stamp;

/// Tells a stream's records as events, each with its own id.
#[derive(Debug)]
pub(crate) struct Emitter {
    identity: String,
    source_kind: SourceKind,
    entities: Entities,
    file: Arc<str>,
    /// The log of the container's run before the last.
    pub(crate) previous: bool,
    /// How often each text stood at each time, of late.
    equals: HashMap<u64, u64>,
    /// A secret may have several lines, each a record of its own.
    secrets: Lines,
}

/// Lines that are remembered to count equal ones, which stand close together.
const MAX_EQUALS: usize = 1 << 16;

impl Emitter {
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
            secrets: Lines::default(),
        }
    }

    /// Notes which of the equal records of one time it is, and what of it is a part of
    /// a secret that began before. All records of a
    /// stream must be counted, in its order.
    pub(crate) fn count(&mut self, joined: &mut JoinedRecord) {
        // Also here each record has to be seen, and in order.
        joined.hidden = self.secrets.hidden(&joined.message);
        if joined.first.stamp == Stamp::OPEN {
            // Without a time only the line's number tells equal lines apart.
            joined.ordinal = joined.first.line.number;
            return;
        }
        if self.equals.len() >= MAX_EQUALS {
            self.equals.clear();
        }
        // Fixed keys: the same in every run.
        let mut hasher = DefaultHasher::new();
        let line = &joined.first.line;
        (joined.first.stamp.lo, &line.speaker.prefix, &joined.message).hash(&mut hasher);
        let count = self.equals.entry(hasher.finish()).or_default();
        *count += 1;
        joined.ordinal = *count;
    }

    /// Makes the event of a counted record.
    pub(crate) fn emit(&self, joined: JoinedRecord) -> Event {
        let JoinedRecord {
            first,
            message,
            raw,
            end,
            kind,
            lines,
            ordinal,
            hidden,
            amid_text,
            is_mixed,
            ..
        } = joined;
        let found = kind.and_then(|kind| exception::read(kind, &message));
        let untimed = first.stamp == Stamp::OPEN;
        let run = if untimed && self.previous {
            "previous "
        } else {
            ""
        };
        let ordinal = format!("{run}{ordinal}");
        let lo = first.stamp.lo.to_string();
        let mut entities = self.entities.clone();
        let mut identity = Cow::Borrowed(&self.identity);
        if let Some(whose) = first.line.whose {
            adopt(&mut entities, *whose);
            let part = |part: &Option<String>| part.clone().unwrap_or_default();
            identity = Cow::Owned(format!(
                "{}/{}/{}",
                part(&entities.namespace),
                part(&entities.pod),
                part(&entities.container)
            ));
        }
        let id = EventId::of(&["log.line", &identity, &lo, &message, &ordinal]);
        let mut event = Event::new(id, "log.line", first.stamp, self.source_kind);
        event.end = end;
        event.entities = entities;
        event.rank = first.line.rank.or_else(|| prefix::rank_in(&message));
        event.severity = first.line.severity.or_else(|| fields::severity(&message));
        let (clean, clean_raw) = match hidden {
            Some(hidden) => redact::without(&message, &raw, hidden),
            None => {
                let clean = redact(&message).into_owned();
                let raw = whole(&raw);
                let raw = match lines {
                    0 | 1 => raw,
                    _ => redact::hidden_in_raw(&message, &clean, raw),
                };
                (clean, raw)
            }
        };
        event.message = Some(clean);
        event.raw = clean_raw;
        event.origin = Origin {
            file: Arc::clone(&self.file),
            line: first.line.number,
        };
        event.set_attribute("time_inferred", first.inferred);
        if untimed {
            let stated = first.line.clock.and_then(clock::without_year);
            event.set_attribute("time_without_year", stated);
        }
        if lines > 1 {
            event.set_attribute("lines", Some(lines));
        }
        event.set_attribute("amid_text", amid_text.then_some(true));
        if let Some(found) = found {
            event.severity.get_or_insert_with(|| "ERROR".to_owned());
            event.set_attribute("exception", (!found.name.is_empty()).then_some(found.name));
            event.set_attribute(
                "exception_message",
                found.message.map(|text| redact(&text).into_owned()),
            );
            event.set_attribute("location", found.location.filter(|_| !is_mixed));
            event.set_attribute("raised_as", found.raised_as);
        }
        event
    }
}

/// A record without its secrets, also where a container's engine cut its line within one.
fn whole(raw: &str) -> String {
    let seams = seams::of(raw);
    match seams.is_empty() {
        true => redact(raw),
        false => redact::pieces(raw, &seams),
    }
    .into_owned()
}

/// What a line says of whose it is goes before what its file says.
fn adopt(entities: &mut Entities, whose: Entities) {
    if whose.pod.is_some() && whose.pod != entities.pod {
        // The file's pod is another one.
        entities.pod_uid = None;
        entities.container = None;
    }
    let take = |to: &mut Option<String>, from: Option<String>| {
        if from.is_some() {
            *to = from;
        }
    };
    take(&mut entities.cluster, whose.cluster);
    take(&mut entities.namespace, whose.namespace);
    take(&mut entities.pod, whose.pod);
    take(&mut entities.pod_uid, whose.pod_uid);
    take(&mut entities.container, whose.container);
    take(&mut entities.node, whose.node);
    take(&mut entities.host, whose.host);
    take(&mut entities.experiment, whose.experiment);
}
