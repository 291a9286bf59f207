//! Making the facts of all clouds, in one shape.

use serde_json::Value;

use crate::contract::ForeignRecord;
use crate::event::{Event, EventId, Origin, SourceKind};
use crate::machine::Machine;
use crate::object::{ObjectBody, ObjectKey, ObjectVersion};
use crate::observation::Observation;
use crate::redact::redact;
use crate::text_time::ParsedTime;
use crate::time::{SECOND, Stamp, rfc3339};

/// How far a host event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Announced,
    Started,
    /// It hit the machine.
    Acted,
    Ended,
}

impl Phase {
    fn as_str(self) -> &'static str {
        match self {
            Self::Announced => "announced",
            Self::Started => "started",
            Self::Acted => "acted",
            Self::Ended => "ended",
        }
    }
}

/// What the platform does with a machine or its host.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HostEvent<'a> {
    /// The cloud's own name of it.
    pub(crate) name: &'a str,
    pub(crate) phase: Phase,
    /// Whether the cloud chose the time; `None` where it does not say.
    pub(crate) planned: Option<bool>,
    /// The same over all phases; empty where the cloud gives none.
    pub(crate) event_id: &'a str,
    pub(crate) not_before: Option<Stamp>,
    pub(crate) not_after: Option<Stamp>,
}

/// What became of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Started,
    Succeeded,
    Failed,
}

impl Outcome {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Started => "started",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
        }
    }
}

/// A call of the cloud's API.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Activity<'a> {
    /// The cloud's name of the call, without version.
    pub(crate) method: &'a str,
    pub(crate) outcome: Outcome,
    /// The same over all outcomes of one call.
    pub(crate) event_id: &'a str,
    pub(crate) actor: Option<&'a str>,
    /// The error code, where it failed.
    pub(crate) error: Option<&'a str>,
}

/// Tells the facts of one record.
#[derive(Debug)]
pub(crate) struct FactBuilder<'r> {
    kind: SourceKind,
    origin: &'r Origin,
    raw: String,
}

impl<'r> FactBuilder<'r> {
    pub(crate) fn new(kind: SourceKind, record: &ForeignRecord<'r>) -> Self {
        let raw = serde_json::to_string(record.fields).unwrap_or_default();
        Self {
            kind,
            origin: record.origin,
            raw: redact(&raw).into_owned(),
        }
    }

    /// Tells of a line of text.
    pub(crate) fn of_text(kind: SourceKind, origin: &'r Origin, raw: &str) -> Self {
        Self {
            kind,
            origin,
            raw: redact(raw).into_owned(),
        }
    }

    /// A version of a machine, as an inventory or the call that made it shows it.
    pub(crate) fn instance(
        &self,
        machine: &Machine,
        at: Option<Stamp>,
        mut body: ObjectBody,
    ) -> Observation {
        if let Some(zone) = &machine.zone {
            let slot = body.annotations.entry("zone".to_owned());
            slot.or_insert_with(|| zone.clone());
        }
        let part = |part: &Option<String>| part.clone().unwrap_or_default();
        Observation::Object(Box::new(ObjectVersion {
            key: ObjectKey {
                kind: "Instance".to_owned(),
                namespace: part(&machine.account),
                name: machine.name.clone().unwrap_or(part(&machine.id)),
                uid: part(&machine.id),
            },
            revision: None,
            at,
            deleted: false,
            by: None,
            body,
            source_kind: self.kind,
            origin: self.origin.clone(),
        }))
    }

    /// A `cloud.host_event`.
    pub(crate) fn host_event(
        &self,
        at: ParsedTime,
        machine: &Machine,
        what: HostEvent<'_>,
    ) -> Event {
        let phase = what.phase.as_str();
        let parts = [what.event_id, what.name, phase];
        let mut event = self.event("cloud.host_event", at, &machine.key(), &parts);
        machine.name_in(&mut event);
        event.set_attribute("host_event", Some(what.name));
        event.set_attribute("phase", Some(phase));
        event.set_attribute("planned", what.planned);
        event.set_attribute("not_before", what.not_before.map(|at| rfc3339(at.lo)));
        event.set_attribute("not_after", what.not_after.map(|at| rfc3339(at.lo)));
        set_text(&mut event, "event_id", Some(what.event_id));
        event
    }

    /// A `cloud.activity`.
    pub(crate) fn activity(&self, at: ParsedTime, machine: &Machine, what: Activity<'_>) -> Event {
        let parts = [what.event_id, what.method, what.outcome.as_str()];
        let mut event = self.event("cloud.activity", at, &machine.key(), &parts);
        machine.name_in(&mut event);
        event.actor = what.actor.map(str::to_owned);
        event.reason = what.error.map(str::to_owned);
        event.set_attribute("method", Some(what.method));
        event.set_attribute("outcome", Some(what.outcome.as_str()));
        set_text(&mut event, "event_id", Some(what.event_id));
        event
    }

    /// A `cloud.group_activity`: `reason` says what `actor` did, in one word of
    /// its own; `about` tells it from others of one decision.
    pub(crate) fn group_activity(
        &self,
        at: ParsedTime,
        actor: &str,
        reason: &str,
        event_id: &str,
        about: &str,
    ) -> Event {
        let mut event = self.event(
            "cloud.group_activity",
            at,
            about,
            &[event_id, actor, reason],
        );
        event.actor = Some(actor.to_owned()).filter(|actor| !actor.is_empty());
        event.reason = Some(reason.to_owned());
        set_text(&mut event, "event_id", Some(event_id));
        event
    }

    /// Any fact of the record; `about` and `parts` tell it from others.
    pub(crate) fn event(&self, fact: &str, at: ParsedTime, about: &str, parts: &[&str]) -> Event {
        let second = at.stamp.lo.div_euclid(SECOND).to_string();
        let mut all = vec![fact, about, second.as_str()];
        all.extend(parts);
        let mut event = Event::new(EventId::of(&all), fact, at.stamp, self.kind);
        event.raw.clone_from(&self.raw);
        event.origin = self.origin.clone();
        at.mark(&mut event);
        event
    }
}

/// Sets an attribute to a text that is not empty.
pub(crate) fn set_text(event: &mut Event, key: &str, text: Option<&str>) {
    let text = text.filter(|text| !text.is_empty());
    event.set_attribute(key, text.map(|text| Value::from(redact(text).into_owned())));
}

/// Sets the message to a text that is not empty.
pub(crate) fn set_message(event: &mut Event, text: &str) {
    let text = text.trim();
    event.message = (!text.is_empty()).then(|| redact(text).into_owned());
}
