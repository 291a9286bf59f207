//! What is kept: facts and versions of objects, each under an id of its content.

use std::cell::RefCell;

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, SchemaRef};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use whathappened_model::event::{Event, EventId, SourceKind};
use whathappened_model::object::ObjectVersion;
use whathappened_model::observation::Observation;
use whathappened_model::redact;
use whathappened_model::time::{Nanos, Stamp, TimeKind};

use crate::access_filter::AccessFilter;
use crate::day::Day;
use crate::place_cache::{PlaceCache, PlaceRows};
use crate::{columns, object_columns};

/// The two tables of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Table {
    /// Facts.
    Events,
    /// Versions of objects.
    Objects,
}

impl Table {
    /// The name of its folder.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Events => "events",
            Self::Objects => "objects",
        }
    }

    pub(crate) fn number(self) -> i64 {
        match self {
            Self::Events => 0,
            Self::Objects => 1,
        }
    }
}

/// What a record lies beside: the first part of the order of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) enum Class {
    /// Pods and workloads, by namespace and name.
    Subject,
    /// Machines, by name.
    Machine,
    /// Everything else, by time alone.
    Other,
}

impl Class {
    pub(crate) fn number(self) -> i32 {
        match self {
            Self::Subject => 0,
            Self::Machine => 1,
            Self::Other => 2,
        }
    }
}

/// The order of a segment: one experiment's rows lie together.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SortKey {
    pub(crate) class: Class,
    pub(crate) namespace: String,
    pub(crate) subject: String,
    pub(crate) time: Nanos,
    pub(crate) id: u128,
}

/// Columns of facts that the filter of a segment knows.
pub const EVENT_WORDS: &[&str] = &[
    "experiment",
    "host",
    "instance",
    "node",
    "object_uid",
    "pod",
    "pod_uid",
    "workload",
];

/// What both tables need of a row.
pub(crate) trait Record:
    Serialize + DeserializeOwned + Clone + PartialEq + Send + 'static
{
    const TABLE: Table;

    fn place(&self) -> SortKey;
    fn day(&self) -> Day;
    /// The last instant it speaks of.
    fn last(&self) -> Nanos;
    /// The cluster that it is of in a shared store; `beside` is that of the rows that it
    /// lay with.
    fn cluster<'a>(&'a self, beside: Option<&'a str>) -> Option<&'a str>;
    /// The cluster that it was seen in by one who watches it.
    #[cfg(feature = "lake")]
    fn watched(&self) -> Option<&str> {
        None
    }
    /// Two copies of one id as one, whichever came first.
    fn merge(self, other: Self) -> Self;
    /// Words under which people look for it: (column, value).
    fn words(&self, visit: &mut dyn FnMut(&'static str, &str));
    /// Takes out secrets that were kept under fewer rules.
    fn redact(&mut self);
    /// What is kept of its table in memory.
    fn cached(cache: &PlaceCache) -> &RefCell<PlaceRows<Self>>;
    /// About how many bytes it takes in memory.
    fn weight(&self) -> usize;
    /// As one caller may see it, if at all.
    fn seen(self, access_filter: &AccessFilter) -> Option<Self>;

    /// Writes it behind `before`, as the hot tier holds it.
    fn encode(&self, before: Vec<u8>) -> Result<Vec<u8>, postcard::Error> {
        postcard::to_extend(self, before)
    }
    /// Reads what that wrote, or an older program did.
    fn decode(bytes: &[u8]) -> Result<Self, postcard::Error> {
        postcard::from_bytes(bytes)
    }

    fn schema() -> SchemaRef;
    fn batch(rows: &[&Self], places: &[SortKey]) -> Result<RecordBatch, ArrowError>;
    /// Says what of a batch is not what it should be.
    fn rows(batch: &RecordBatch) -> Result<Vec<Self>, String>;
}

/// A fact and who witnessed it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fact {
    /// The kept copy.
    pub event: Event,
    /// Every connector that told it, in rank order.
    pub seen_by: Vec<SourceKind>,
    /// Not all of it may be seen, so its signals cannot be told from what is there.
    #[serde(skip)]
    pub redacted: bool,
}

/// A version of an object under its id.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Object {
    /// Of the object, its version and what it was.
    pub id: u128,
    /// The kept copy.
    pub version: ObjectVersion,
}

/// The kind of fact under which the growth of an Event is kept that nobody has shown yet.
pub(crate) const GREW: &str = "k8s.event.grew";

/// A record of either table.
#[derive(Clone, Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "one is at a hand at a time, and a box for each record costs more"
)]
pub(crate) enum FactOrObject {
    Fact(Fact),
    Object(Object),
}

impl From<Fact> for FactOrObject {
    fn from(fact: Fact) -> Self {
        Self::Fact(fact)
    }
}

impl From<Object> for FactOrObject {
    fn from(object: Object) -> Self {
        Self::Object(object)
    }
}

impl FactOrObject {
    pub(crate) fn of(observation: Observation) -> Self {
        match observation {
            Observation::Event(event) => Self::Fact(Fact {
                seen_by: vec![event.source_kind],
                event: *event,
                redacted: false,
            }),
            Observation::Object(version) => Self::Object(Object::new(*version)),
            Observation::EventGrew {
                namespace,
                name,
                count,
                last,
            } => Self::Fact(grew(&namespace, &name, count, last)),
        }
    }
}

/// Growth told by an audit write: found beside the object's other facts, since
/// an Event's name begins with the name of the object it is about.
fn grew(namespace: &str, name: &str, count: Option<u64>, last: Option<Stamp>) -> Fact {
    let id = EventId::of(&[GREW, namespace, name]);
    let begun = born(name).map_or(Stamp::OPEN, Stamp::exact);
    let mut event = Event::new(id, GREW, begun, SourceKind::KubernetesAudit);
    event.time_kind = TimeKind::Received;
    event.count = count;
    event.end = last;
    event.entities.namespace = Some(namespace.to_owned());
    let about = name.rsplit_once('.').map_or(name, |(about, _)| about);
    event.entities.workload = Some(about.to_owned());
    event.set_attribute("event", Some(name));
    Fact {
        event,
        seen_by: vec![SourceKind::KubernetesAudit],
        redacted: false,
    }
}

/// The name of an Event ends with the nanosecond it was made at, in hexadecimal.
fn born(name: &str) -> Option<Nanos> {
    let (_, suffix) = name.rsplit_once('.')?;
    if suffix.len() != 16 {
        return None;
    }
    Nanos::from_str_radix(suffix, 16).ok()
}

impl Fact {
    /// The growth of an Event that another record shows, where it is one.
    #[must_use]
    pub fn growth(&self) -> Option<Observation> {
        (self.event.fact == GREW).then(|| Observation::EventGrew {
            namespace: self.event.entities.namespace.clone().unwrap_or_default(),
            name: self.event.attribute("event").unwrap_or_default().to_owned(),
            count: self.event.count,
            last: self.event.end,
        })
    }
}

impl Object {
    fn new(version: ObjectVersion) -> Self {
        let body = serde_json::to_vec(&version.body).unwrap_or_default();
        let mut hasher = blake3::Hasher::new();
        hasher.update(version.key.identity().as_bytes());
        hasher.update(&[u8::from(version.deleted)]);
        match (version.revision, version.at) {
            (Some(revision), _) => hasher.update(&revision.to_le_bytes()),
            (None, Some(at)) => hasher
                .update(&at.lo.to_le_bytes())
                .update(&at.hi.to_le_bytes()),
            (None, None) => hasher.update(b"-"),
        };
        hasher.update(&body);
        let mut id = [0; 16];
        id.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
        Self {
            id: u128::from_be_bytes(id),
            version,
        }
    }
}

/// The id of a batch job of which only the number is told.
pub(crate) fn job_id(number: &str) -> String {
    format!("slurm/{number}")
}

fn known(at: Nanos) -> Nanos {
    if at == Nanos::MAX { Nanos::MIN } else { at }
}

impl Fact {
    /// The batch job that a controller's record is about: the host that wrote it was not where it ran.
    fn controlled_job(&self) -> Option<String> {
        let event = &self.event;
        let is_somewhere = event.entities.node.is_some() || event.entities.instance.is_some();
        let job = event.object_uid.as_deref();
        let job = job.filter(|_| event.object_kind.as_deref() == Some("SlurmJob") && !is_somewhere);
        job.map(|job| job_id(job.rsplit('/').next().unwrap_or(job)))
    }
}

impl Record for Fact {
    const TABLE: Table = Table::Events;

    fn redact(&mut self) {
        redact::fact(&mut self.event);
    }

    fn cached(cache: &PlaceCache) -> &RefCell<PlaceRows<Self>> {
        &cache.facts
    }

    fn weight(&self) -> usize {
        // The texts beside the record say little that it does not.
        size_of::<Self>() + self.event.raw.len() * 3 + 500
    }

    fn seen(self, access_filter: &AccessFilter) -> Option<Self> {
        access_filter.fact(self)
    }

    fn place(&self) -> SortKey {
        let of = &self.event.entities;
        // A line that names its batch job lies where the job's facts without a name do.
        let job = self.event.attribute("slurm_job").map(job_id);
        let job = job.or_else(|| self.controlled_job());
        let named = of
            .pod
            .as_ref()
            .or(of.workload.as_ref())
            .or(of.pod_uid.as_ref())
            .or(job.as_ref());
        let machine = of
            .node
            .as_ref()
            .or(of.instance.as_ref())
            .or(of.host.as_ref());
        let (class, namespace, subject) = match (named, machine) {
            (Some(named), _) => (
                Class::Subject,
                of.namespace.clone().unwrap_or_default(),
                named.clone(),
            ),
            (None, Some(machine)) => (Class::Machine, String::new(), machine.clone()),
            (None, None) => (Class::Other, String::new(), String::new()),
        };
        SortKey {
            class,
            namespace,
            subject,
            time: self.event.time.lo,
            id: self.event.id.0,
        }
    }

    fn day(&self) -> Day {
        Day::of_stamp(self.event.time)
    }

    fn last(&self) -> Nanos {
        let end = self.event.end.map_or(Nanos::MIN, |end| known(end.hi));
        known(self.event.time.hi).max(end)
    }

    fn cluster<'a>(&'a self, _beside: Option<&'a str>) -> Option<&'a str> {
        let cluster = self.event.entities.cluster.as_deref();
        cluster.filter(|cluster| !cluster.is_empty())
    }

    #[cfg(feature = "lake")]
    fn watched(&self) -> Option<&str> {
        let is_watched = self.event.source_kind == SourceKind::Kubernetes;
        self.cluster(None).filter(|_| is_watched)
    }

    fn merge(self, other: Self) -> Self {
        crate::merge::facts(self, other)
    }

    fn schema() -> SchemaRef {
        columns::schema()
    }

    fn batch(rows: &[&Self], places: &[SortKey]) -> Result<RecordBatch, ArrowError> {
        columns::batch(rows, places)
    }

    fn rows(batch: &RecordBatch) -> Result<Vec<Self>, String> {
        columns::facts(batch)
    }

    fn words(&self, visit: &mut dyn FnMut(&'static str, &str)) {
        let of = &self.event.entities;
        for (column, value) in [
            ("experiment", &of.experiment),
            ("host", &of.host),
            ("instance", &of.instance),
            ("node", &of.node),
            ("pod", &of.pod),
            ("pod_uid", &of.pod_uid),
            ("workload", &of.workload),
            ("object_uid", &self.event.object_uid),
        ] {
            if let Some(value) = value {
                visit(column, value);
            }
        }
    }
}

/// Whether objects of a kind are machines, which lie by themselves.
pub(crate) fn is_machine(kind: &str) -> bool {
    matches!(kind, "Node" | "Instance")
}

impl Record for Object {
    const TABLE: Table = Table::Objects;

    fn redact(&mut self) {
        redact::version(&mut self.version);
    }

    fn cached(cache: &PlaceCache) -> &RefCell<PlaceRows<Self>> {
        &cache.objects
    }

    fn weight(&self) -> usize {
        let body = &self.version.body;
        let texts = body.annotations.iter().chain(&body.labels);
        let texts = texts.map(|(key, text)| key.len() + text.len() + 100);
        let words = body.containers.iter().flat_map(|one| &one.command);
        let words = words.map(|word| word.len() + 24);
        size_of::<Self>() + 2_000 + texts.sum::<usize>() + words.sum::<usize>()
    }

    fn seen(self, access_filter: &AccessFilter) -> Option<Self> {
        access_filter.object(self)
    }

    fn place(&self) -> SortKey {
        let key = &self.version.key;
        if is_machine(&key.kind) {
            let name = if key.name.is_empty() {
                &key.uid
            } else {
                &key.name
            };
            return SortKey {
                class: Class::Machine,
                namespace: String::new(),
                subject: name.clone(),
                time: self.version.at.map_or(Nanos::MIN, |at| at.lo),
                id: self.id,
            };
        }
        let class = match key.kind.as_str() {
            "SlurmJob" => Class::Subject,
            _ if key.namespace.is_empty() && !key.name.is_empty() && key.kind != "Pod" => {
                Class::Other
            }
            _ => Class::Subject,
        };
        SortKey {
            class,
            namespace: key.namespace.clone(),
            subject: key.name.clone(),
            time: self.version.at.map_or(Nanos::MIN, |at| at.lo),
            id: self.id,
        }
    }

    /// All versions of an object lie in one partition, that of its creation.
    fn day(&self) -> Day {
        let version = &self.version;
        version
            .body
            .created
            .or(version.at)
            .map_or(Day::UNKNOWN, Day::of_stamp)
    }

    fn last(&self) -> Nanos {
        self.version.at.map_or(Nanos::MIN, |at| known(at.hi))
    }

    /// No record of an object says it.
    fn cluster<'a>(&'a self, beside: Option<&'a str>) -> Option<&'a str> {
        beside
    }

    fn merge(self, other: Self) -> Self {
        crate::merge::objects(self, other)
    }

    fn encode(&self, before: Vec<u8>) -> Result<Vec<u8>, postcard::Error> {
        let body = &self.version.body;
        let bytes = postcard::to_extend(self, before)?;
        postcard::to_extend(&(&body.running, &body.held_back), bytes)
    }

    fn decode(bytes: &[u8]) -> Result<Self, postcard::Error> {
        let (mut row, added) = postcard::take_from_bytes::<Self>(bytes)?;
        // Rows of before end here.
        if !added.is_empty() {
            let body = &mut row.version.body;
            (body.running, body.held_back) = postcard::from_bytes(added)?;
        }
        Ok(row)
    }

    fn schema() -> SchemaRef {
        object_columns::schema()
    }

    fn batch(rows: &[&Self], places: &[SortKey]) -> Result<RecordBatch, ArrowError> {
        object_columns::batch(rows, places)
    }

    fn rows(batch: &RecordBatch) -> Result<Vec<Self>, String> {
        object_columns::objects(batch)
    }

    fn words(&self, visit: &mut dyn FnMut(&'static str, &str)) {
        visit("name", &self.version.key.name);
        visit("uid", &self.version.key.uid);
        if let Some(node) = &self.version.body.node {
            visit("node", node);
        }
    }
}
