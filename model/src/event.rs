//! The event: one immutable fact, in one shape for all sources.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::time::{Nanos, Stamp, TimeKind};

pub use crate::source_kind::SourceKind;

/// The content-derived identity of a fact.
///
/// The same fact fetched, watched, imported, replayed or read from an audit
/// write has one id. Source name, cluster alias, file path and redacted text
/// never enter it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EventId(pub u128);

impl EventId {
    /// Hashes the parts that make a fact what it is, in order.
    #[must_use]
    pub fn of(parts: &[&str]) -> Self {
        let mut hasher = blake3::Hasher::new();
        for part in parts {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        let mut id = [0; 16];
        id.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
        Self(u128::from_be_bytes(id))
    }

    /// The id of a Kubernetes Event whose name was made by a recorder.
    #[must_use]
    pub fn of_kubernetes_event(namespace: &str, name: &str) -> Self {
        Self::of(&["k8s.event", namespace, name])
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EventId({self})")
    }
}

/// The entities that a record itself speaks about; names follow
/// OpenTelemetry's meaning. What is learned later is in tenures, not here.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(
    missing_docs,
    reason = "the names say it; the table schema documents each column"
)]
pub struct Entities {
    pub cluster: Option<String>,
    pub namespace: Option<String>,
    pub workload_kind: Option<String>,
    pub workload: Option<String>,
    pub pod: Option<String>,
    pub pod_uid: Option<String>,
    pub container: Option<String>,
    pub node: Option<String>,
    pub instance: Option<String>,
    pub host: Option<String>,
    pub zone: Option<String>,
    pub experiment: Option<String>,
}

/// Which record of the input a fact was read from.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Origin {
    /// File name as given, `archive!member` inside archives, `-` for stdin.
    pub file: std::sync::Arc<str>,
    /// Line the record starts at, from 1; of the decompressed text.
    pub line: u64,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// One immutable fact.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// See [`EventId`].
    pub id: EventId,
    /// The kind of fact: `k8s.event`, `k8s.container.terminated`,
    /// `k8s.audit.delete`, `log.line`, … What the signal rules select on first.
    pub fact: String,
    /// When it happened; never the poll time.
    pub time: Stamp,
    /// When it ended or was last seen, where it lasts.
    pub end: Option<Stamp>,
    /// Which clock said so.
    pub time_kind: TimeKind,
    /// When we got it; `None` for recorded input.
    pub observed: Option<Nanos>,
    /// The connector.
    pub source_kind: SourceKind,
    /// The source's own word: `Normal`, `Warning`, `ERROR`, …
    pub severity: Option<String>,
    /// The source's own reason: `OOMKilled`, `Preempted`, …
    pub reason: Option<String>,
    /// The source's own text.
    pub message: Option<String>,
    /// Who did it: a user name, a controller, a component.
    pub actor: Option<String>,
    /// How often it was seen, where the source counts.
    pub count: Option<u64>,
    /// The source drops some, so there were at least this many.
    pub count_is_lower_bound: bool,
    /// Kind of the object the record is about (`Pod`, `Node`, `Job`, …).
    pub object_kind: Option<String>,
    /// That object's uid.
    pub object_uid: Option<String>,
    /// What else the record names.
    pub entities: Entities,
    /// A process's exit code.
    pub exit_code: Option<i32>,
    /// The worker's rank in its gang.
    pub rank: Option<i32>,
    /// Index of the GPU on its host.
    pub gpu: Option<i32>,
    /// What it means, in our vocabulary; set by the signal rules.
    pub signals: Vec<String>,
    /// The rest, as a JSON object.
    #[serde(with = "json_text")]
    pub attributes: Map<String, Value>,
    /// The original record, or the part of it that says this; redacted.
    pub raw: String,
    /// Where it was read.
    pub origin: Origin,
}

impl Event {
    /// A fact with everything optional left out.
    #[must_use]
    pub fn new(id: EventId, fact: &str, time: Stamp, source_kind: SourceKind) -> Self {
        Self {
            id,
            fact: fact.to_owned(),
            time,
            end: None,
            time_kind: TimeKind::Occurred,
            observed: None,
            source_kind,
            severity: None,
            reason: None,
            message: None,
            actor: None,
            count: None,
            count_is_lower_bound: false,
            object_kind: None,
            object_uid: None,
            entities: Entities::default(),
            exit_code: None,
            rank: None,
            gpu: None,
            signals: Vec::new(),
            attributes: Map::new(),
            raw: String::new(),
            origin: Origin::default(),
        }
    }

    /// A text attribute.
    #[must_use]
    pub fn attribute(&self, key: &str) -> Option<&str> {
        self.attributes.get(key).and_then(Value::as_str)
    }

    /// Sets an attribute unless `value` is `None`.
    pub fn set_attribute(&mut self, key: &str, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            self.attributes.insert(key.to_owned(), value.into());
        }
    }
}

/// Attributes travel as JSON text, which formats without self-description can carry.
mod json_text {
    use serde::{Deserialize as _, Deserializer, Serializer};
    use serde_json::{Map, Value};

    pub(super) fn serialize<S: Serializer>(
        map: &Map<String, Value>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        if map.is_empty() {
            return to.serialize_str("");
        }
        to.serialize_str(&serde_json::to_string(map).map_err(serde::ser::Error::custom)?)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Map<String, Value>, D::Error> {
        let text = String::deserialize(from)?;
        if text.is_empty() {
            return Ok(Map::new());
        }
        serde_json::from_str(&text).map_err(serde::de::Error::custom)
    }
}
