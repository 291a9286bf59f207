//! What each source told on each day: until when a cluster was heard of, and which sources the store
//! holds at all. Kept among the entities, so that whoever keeps, shares or forgets these does so
//! with it; no question for a name ever sees it.

use rusqlite::{Connection, Row};
use whathappened_model::coverage::{resource_of, resource_of_object};
use whathappened_model::event::{Event, SourceKind};
use whathappened_model::time::{Nanos, SECOND, Stamp};

use super::sums::{self, ENTITY};
use crate::day::Day;
use crate::record::{Fact, FactOrObject, Record as _};

/// The kind under which it is kept.
pub(crate) const HEARD: &str = "Heard";

/// What the key of a source begins with; the cluster follows.
const KEY: &str = "heard/";

/// What follows a resource whose times may be off by hours: they do not tell until when it was read.
const ROUGH: char = '~';

/// What a source told within a day.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Heard {
    /// The kind of source.
    pub source: SourceKind,
    /// What it told of: pods, events, audit, logs, …
    pub resource: String,
    /// The cluster, where records tell what identifies it; else empty.
    pub cluster: String,
    /// The earliest record.
    pub from: Nanos,
    /// The latest record.
    pub to: Nanos,
    /// Whether the times are those of a clock whose zone is known.
    pub is_dated: bool,
}

/// One source's part of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SourceRow<'a> {
    pub(super) source: SourceKind,
    pub(super) resource: &'static str,
    pub(super) cluster: &'a str,
    pub(super) day: Day,
    pub(super) first: Nanos,
    pub(super) last: Nanos,
    pub(super) rough: bool,
}

impl SourceRow<'_> {
    pub(super) fn key(&self) -> (String, String) {
        let rough = if self.rough {
            ROUGH.to_string()
        } else {
            String::new()
        };
        (
            format!("{KEY}{}", self.cluster),
            format!(
                "{}/{}{rough}/{}",
                self.source.as_str(),
                self.resource,
                self.day
            ),
        )
    }
}

/// What a row says of its source; nothing where no time is known.
pub(super) fn source_row(row: &FactOrObject) -> Option<SourceRow<'_>> {
    match row {
        FactOrObject::Fact(fact) => of_fact(fact),
        FactOrObject::Object(object) => {
            let version = &object.version;
            let at = version.at.filter(|at| *at != Stamp::OPEN)?.lo;
            let is_shown = version.source_kind == SourceKind::Kubernetes;
            let of_cluster = resource_of_object(&version.key.kind).filter(|_| is_shown);
            let resource = of_cluster.unwrap_or("objects");
            Some(SourceRow {
                source: version.source_kind,
                resource,
                cluster: "",
                day: Day::of(at),
                first: at,
                last: at,
                rough: false,
            })
        }
    }
}

fn of_fact(fact: &Fact) -> Option<SourceRow<'_>> {
    let event = &fact.event;
    if event.time.lo == Nanos::MIN || event.time.hi == Nanos::MAX {
        return None;
    }
    let last = seen_at(event.time, fact.last());
    let inferred = event.attribute("time_inferred");
    Some(SourceRow {
        source: event.source_kind,
        resource: resource_of(event.source_kind, &event.fact),
        cluster: cluster(event),
        day: Day::of(last),
        first: event.time.lo.min(last),
        last,
        rough: event.fact == "node.log" && matches!(inferred, Some("year" | "zone")),
    })
}

/// When a record was last true for certain, as the entity graph reckons it: a line in an unknown
/// zone may be hours older than it could be.
fn seen_at(time: Stamp, last: Nanos) -> Nanos {
    const EXACT: Nanos = 120 * SECOND;
    if time.hi.saturating_sub(time.lo) > EXACT {
        time.lo
    } else {
        last
    }
}

/// The cluster, where it is told by what identifies it: clouds and log stores call it by names of
/// their own.
pub(crate) fn cluster(event: &Event) -> &str {
    let cluster = event.entities.cluster.as_deref().unwrap_or_default();
    let is_uid = cluster.len() == 36 && cluster.bytes().filter(|byte| *byte == b'-').count() == 4;
    if is_uid { cluster } else { "" }
}

/// All of it, in order.
pub(crate) fn heard(db: &Connection) -> rusqlite::Result<Vec<Heard>> {
    let sum = sums::column(db, "entities")?;
    let mut statement = db.prepare_cached(&format!(
        "SELECT {ENTITY}, {sum} FROM entities
         WHERE uid >= 'heard/' AND uid < 'heard0' AND kind = 'Heard'"
    ))?;
    let read = |row: &Row<'_>| {
        // Of a source that is not known to have told, nobody says that it was silent.
        if !sums::is_whole(row)? {
            return Ok(None);
        }
        let (uid, name): (String, String) = (row.get("uid")?, row.get("name")?);
        let (from, to): (Nanos, Nanos) = (row.get("first")?, row.get("last")?);
        let mut parts = name.split('/');
        let source = parts.next().and_then(SourceKind::parse);
        let resource = parts.next();
        // A later version may know more sources.
        Ok(source.zip(resource).map(|(source, resource)| Heard {
            source,
            resource: resource.trim_end_matches(ROUGH).to_owned(),
            cluster: uid.trim_start_matches(KEY).to_owned(),
            from,
            to,
            is_dated: !resource.ends_with(ROUGH),
        }))
    };
    let rows = statement.query_map([], read)?;
    let mut all = rows
        .filter_map(Result::transpose)
        .collect::<rusqlite::Result<Vec<Heard>>>()?;
    all.retain(|one| one.from <= one.to);
    all.sort();
    Ok(all)
}
