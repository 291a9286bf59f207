//! Facts as Arrow columns, and back. The columns are those of the SQL table
//! `events`, so the files can be read by anything that reads Parquet.

use std::sync::{Arc, LazyLock};

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Int32Array, Int64Array, ListArray, RecordBatch, StringArray,
    TimestampNanosecondArray,
};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef, TimeUnit};
use whathappened_model::event::{Entities, Event, EventId, Origin, SourceKind};
use whathappened_model::time::{Nanos, Stamp, TimeKind};

use crate::record::{Fact, SortKey};

/// The columns of a segment of facts: those of `events`, then the order of the
/// segment (`class`, `subject`) and the width of the end.
#[must_use]
pub fn schema() -> SchemaRef {
    static SCHEMA: LazyLock<SchemaRef> = LazyLock::new(|| {
        let text = |name| Field::new(name, DataType::Utf8, true);
        let texts = |name| {
            Field::new(
                name,
                DataType::List(Arc::new(Field::new_list_field(DataType::Utf8, true))),
                true,
            )
        };
        let time = |name| {
            Field::new(
                name,
                DataType::Timestamp(TimeUnit::Nanosecond, Some("UTC".into())),
                true,
            )
        };
        let int = |name| Field::new(name, DataType::Int32, true);
        Arc::new(Schema::new(vec![
            text("id"),
            text("fact"),
            texts("seen_by"),
            time("time"),
            time("time_lo"),
            time("time_hi"),
            time("end_time"),
            text("time_kind"),
            time("observed_time"),
            text("source"),
            text("source_kind"),
            texts("signals"),
            text("severity"),
            text("reason"),
            text("message"),
            text("actor"),
            Field::new("count", DataType::Int64, true),
            Field::new("count_is_lower_bound", DataType::Boolean, true),
            text("object_kind"),
            text("object_uid"),
            text("cluster"),
            text("namespace"),
            text("workload_kind"),
            text("workload"),
            text("pod"),
            text("pod_uid"),
            text("container"),
            text("node"),
            text("instance"),
            text("host"),
            text("zone"),
            text("experiment"),
            int("exit_code"),
            int("rank"),
            int("gpu"),
            text("attributes"),
            text("raw"),
            text("origin"),
            int("class"),
            text("subject"),
            time("end_hi"),
        ]))
    });
    Arc::clone(&SCHEMA)
}

fn text<'a>(rows: &[&'a Fact], of: impl Fn(&'a Fact) -> Option<&'a str>) -> ArrayRef {
    Arc::new(
        rows.iter()
            .map(|row| of(row).filter(|text| !text.is_empty()))
            .collect::<StringArray>(),
    )
}

fn made(rows: &[&Fact], of: impl Fn(&Fact) -> String) -> ArrayRef {
    let texts = rows
        .iter()
        .map(|row| Some(of(row)).filter(|text| !text.is_empty()));
    Arc::new(texts.collect::<StringArray>())
}

fn texts<'a, T: AsRef<str>>(
    rows: &[&'a Fact],
    of: impl Fn(&'a Fact) -> Box<dyn Iterator<Item = T> + 'a>,
) -> ArrayRef {
    let mut lists = ListBuilder::new(StringBuilder::new());
    for row in rows {
        for one in of(row) {
            lists.values().append_value(one);
        }
        lists.append(true);
    }
    Arc::new(lists.finish())
}

fn time(rows: &[&Fact], of: impl Fn(&Fact) -> Option<Nanos>) -> ArrayRef {
    let times: TimestampNanosecondArray = rows.iter().map(|row| of(row)).collect();
    Arc::new(times.with_timezone("UTC"))
}

fn int(rows: &[&Fact], of: impl Fn(&Fact) -> Option<i32>) -> ArrayRef {
    Arc::new(rows.iter().map(|row| of(row)).collect::<Int32Array>())
}

fn since(at: Nanos) -> Option<Nanos> {
    (at != Nanos::MIN).then_some(at)
}

fn until(at: Nanos) -> Option<Nanos> {
    (at != Nanos::MAX).then_some(at)
}

/// Some facts as columns.
pub(crate) fn batch(rows: &[&Fact], places: &[SortKey]) -> Result<RecordBatch, ArrowError> {
    let reported = |stamp: Stamp| since(stamp.lo).filter(|_| stamp.hi != Nanos::MAX);
    let entity = |of: fn(&Entities) -> &Option<String>| {
        text(rows, move |row| of(&row.event.entities).as_deref())
    };
    let columns: Vec<ArrayRef> = vec![
        made(rows, |row| row.event.id.to_string()),
        text(rows, |row| Some(&row.event.fact)),
        texts(rows, |row| {
            Box::new(row.seen_by.iter().map(|kind| kind.as_str()))
        }),
        time(rows, |row| reported(row.event.time)),
        time(rows, |row| since(row.event.time.lo)),
        time(rows, |row| until(row.event.time.hi)),
        time(rows, |row| row.event.end.and_then(|end| since(end.lo))),
        text(rows, |row| Some(row.event.time_kind.as_str())),
        time(rows, |row| row.event.observed),
        text(rows, |row| Some(row.event.source_kind.as_str())),
        text(rows, |row| Some(row.event.source_kind.as_str())),
        texts(rows, |row| Box::new(row.event.signals.iter())),
        text(rows, |row| row.event.severity.as_deref()),
        text(rows, |row| row.event.reason.as_deref()),
        text(rows, |row| row.event.message.as_deref()),
        text(rows, |row| row.event.actor.as_deref()),
        Arc::new(
            rows.iter()
                .map(|row| row.event.count.and_then(|count| i64::try_from(count).ok()))
                .collect::<Int64Array>(),
        ),
        Arc::new(
            rows.iter()
                .map(|row| Some(row.event.count_is_lower_bound))
                .collect::<BooleanArray>(),
        ),
        text(rows, |row| row.event.object_kind.as_deref()),
        text(rows, |row| row.event.object_uid.as_deref()),
        entity(|of| &of.cluster),
        entity(|of| &of.namespace),
        entity(|of| &of.workload_kind),
        entity(|of| &of.workload),
        entity(|of| &of.pod),
        entity(|of| &of.pod_uid),
        entity(|of| &of.container),
        entity(|of| &of.node),
        entity(|of| &of.instance),
        entity(|of| &of.host),
        entity(|of| &of.zone),
        entity(|of| &of.experiment),
        int(rows, |row| row.event.exit_code),
        int(rows, |row| row.event.rank),
        int(rows, |row| row.event.gpu),
        made(rows, |row| {
            serde_json::to_string(&row.event.attributes).unwrap_or_default()
        }),
        text(rows, |row| Some(&row.event.raw)),
        made(rows, |row| row.event.origin.to_string()),
        Arc::new(
            places
                .iter()
                .map(|place| Some(place.class.number()))
                .collect::<Int32Array>(),
        ),
        Arc::new(
            places
                .iter()
                .map(|place| Some(place.subject.as_str()))
                .collect::<StringArray>(),
        ),
        time(rows, |row| row.event.end.and_then(|end| until(end.hi))),
    ];
    RecordBatch::try_new(schema(), columns)
}

/// Reads columns by name.
pub(crate) struct Reader<'a>(pub(crate) &'a RecordBatch);

impl<'a> Reader<'a> {
    pub(crate) fn column<T: Array + 'static>(&self, name: &str) -> Result<&'a T, String> {
        self.0
            .column_by_name(name)
            .ok_or_else(|| format!("no column {name}"))?
            .as_any()
            .downcast_ref()
            .ok_or_else(|| format!("the column {name} has another type"))
    }

    pub(crate) fn text(&self, name: &str) -> Result<TextColumn<'a>, String> {
        self.column(name).map(TextColumn)
    }

    pub(crate) fn times(&self, name: &str) -> Result<TimeColumn<'a>, String> {
        self.column(name).map(TimeColumn)
    }

    pub(crate) fn ints(&self, name: &str) -> Result<&'a Int32Array, String> {
        self.column(name)
    }
}

/// A column of texts.
#[derive(Clone, Copy)]
pub(crate) struct TextColumn<'a>(&'a StringArray);

impl<'a> TextColumn<'a> {
    pub(crate) fn get(self, row: usize) -> Option<&'a str> {
        self.0.is_valid(row).then(|| self.0.value(row))
    }

    fn owned(self, row: usize) -> Option<String> {
        self.get(row).map(str::to_owned)
    }
}

/// A column of times.
#[derive(Clone, Copy)]
pub(crate) struct TimeColumn<'a>(&'a TimestampNanosecondArray);

impl TimeColumn<'_> {
    pub(crate) fn get(self, row: usize) -> Option<Nanos> {
        self.0.is_valid(row).then(|| self.0.value(row))
    }
}

pub(crate) fn list(array: &ListArray, row: usize) -> Vec<String> {
    let values = array.value(row);
    let Some(values) = values.as_any().downcast_ref::<StringArray>() else {
        return Vec::new();
    };
    values.iter().flatten().map(str::to_owned).collect()
}

fn optional_int(array: &Int32Array, row: usize) -> Option<i32> {
    array.is_valid(row).then(|| array.value(row))
}

fn time_kind(text: Option<&str>) -> TimeKind {
    match text {
        Some("first_seen") => TimeKind::FirstSeen,
        Some("last_seen") => TimeKind::LastSeen,
        Some("received") => TimeKind::Received,
        Some("ingested") => TimeKind::Ingested,
        _ => TimeKind::Occurred,
    }
}

/// A source as the files write it.
pub(crate) fn source(text: &str) -> Result<SourceKind, String> {
    SourceKind::ALL
        .into_iter()
        .find(|kind| kind.as_str() == text)
        .ok_or_else(|| format!("{text:?} is not a known source"))
}

/// A place of origin as the files write it.
pub(crate) fn origin(text: &str) -> Origin {
    let (file, line) = text.rsplit_once(':').unwrap_or((text, "0"));
    Origin {
        file: file.into(),
        line: line.parse().unwrap_or_default(),
    }
}

/// An id as the files write it.
pub(crate) fn id(text: &str) -> Result<u128, String> {
    u128::from_str_radix(text, 16).map_err(|_| format!("{text:?} is not an ID"))
}

/// The facts of a batch. Says which column is not what it should be.
pub(crate) fn facts(batch: &RecordBatch) -> Result<Vec<Fact>, String> {
    let read = Reader(batch);
    let of = |name| read.text(name);
    let (ids, fact, kind) = (of("id")?, of("fact")?, of("source_kind")?);
    let (lo, hi) = (read.times("time_lo")?, read.times("time_hi")?);
    let (end_lo, end_hi) = (read.times("end_time")?, read.times("end_hi")?);
    let (observed, clock) = (read.times("observed_time")?, of("time_kind")?);
    let (severity, reason) = (of("severity")?, of("reason")?);
    let (message, actor) = (of("message")?, of("actor")?);
    let (object_kind, object_uid) = (of("object_kind")?, of("object_uid")?);
    let (cluster, namespace) = (of("cluster")?, of("namespace")?);
    let (workload_kind, workload) = (of("workload_kind")?, of("workload")?);
    let (pod, pod_uid, container) = (of("pod")?, of("pod_uid")?, of("container")?);
    let (node, instance, host) = (of("node")?, of("instance")?, of("host")?);
    let (zone, experiment) = (of("zone")?, of("experiment")?);
    let (attributes, raw, origins) = (of("attributes")?, of("raw")?, of("origin")?);
    let seen_by: &ListArray = read.column("seen_by")?;
    let signals: &ListArray = read.column("signals")?;
    let count: &Int64Array = read.column("count")?;
    let lower: &BooleanArray = read.column("count_is_lower_bound")?;
    let exit_code: &Int32Array = read.column("exit_code")?;
    let rank: &Int32Array = read.column("rank")?;
    let gpu: &Int32Array = read.column("gpu")?;
    let mut facts = Vec::with_capacity(batch.num_rows());
    for row in 0..batch.num_rows() {
        let stamp = Stamp {
            lo: lo.get(row).unwrap_or(Nanos::MIN),
            hi: hi.get(row).unwrap_or(Nanos::MAX),
        };
        let end = (end_lo.get(row).is_some() || end_hi.get(row).is_some()).then(|| Stamp {
            lo: end_lo.get(row).unwrap_or(Nanos::MIN),
            hi: end_hi.get(row).unwrap_or(Nanos::MAX),
        });
        let mut event = Event::new(
            EventId(id(ids.get(row).unwrap_or_default())?),
            fact.get(row).unwrap_or_default(),
            stamp,
            source(kind.get(row).unwrap_or_default())?,
        );
        event.end = end;
        event.time_kind = time_kind(clock.get(row));
        event.observed = observed.get(row);
        event.severity = severity.owned(row);
        event.reason = reason.owned(row);
        event.message = message.owned(row);
        event.actor = actor.owned(row);
        event.count = count
            .is_valid(row)
            .then(|| count.value(row))
            .and_then(|count| u64::try_from(count).ok());
        event.count_is_lower_bound = lower.is_valid(row) && lower.value(row);
        event.object_kind = object_kind.owned(row);
        event.object_uid = object_uid.owned(row);
        event.entities = Entities {
            cluster: cluster.owned(row),
            namespace: namespace.owned(row),
            workload_kind: workload_kind.owned(row),
            workload: workload.owned(row),
            pod: pod.owned(row),
            pod_uid: pod_uid.owned(row),
            container: container.owned(row),
            node: node.owned(row),
            instance: instance.owned(row),
            host: host.owned(row),
            zone: zone.owned(row),
            experiment: experiment.owned(row),
        };
        event.exit_code = optional_int(exit_code, row);
        event.rank = optional_int(rank, row);
        event.gpu = optional_int(gpu, row);
        event.signals = list(signals, row);
        event.attributes = match attributes.get(row) {
            Some(text) => serde_json::from_str(text).map_err(|error| error.to_string())?,
            None => serde_json::Map::new(),
        };
        raw.get(row).unwrap_or_default().clone_into(&mut event.raw);
        event.origin = origin(origins.get(row).unwrap_or_default());
        let seen_by = list(seen_by, row)
            .iter()
            .map(|text| source(text))
            .collect::<Result<_, _>>()?;
        facts.push(Fact {
            event,
            seen_by,
            redacted: false,
        });
    }
    Ok(facts)
}
