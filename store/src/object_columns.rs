//! Versions of objects as Arrow columns, and back.

use std::sync::{Arc, LazyLock};

use arrow_array::{
    Array as _, ArrayRef, BooleanArray, Int32Array, RecordBatch, StringArray,
    TimestampNanosecondArray, UInt64Array,
};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef, TimeUnit};
use whathappened_model::object::{ObjectKey, ObjectVersion};
use whathappened_model::time::{Nanos, Stamp};

use crate::columns::{Reader, id, origin, source};
use crate::record::{Object, SortKey};

/// The columns of a segment of object versions; `body` is JSON.
#[must_use]
pub fn schema() -> SchemaRef {
    static SCHEMA: LazyLock<SchemaRef> = LazyLock::new(|| {
        let text = |name| Field::new(name, DataType::Utf8, true);
        let time = |name| {
            Field::new(
                name,
                DataType::Timestamp(TimeUnit::Nanosecond, Some("UTC".into())),
                true,
            )
        };
        Arc::new(Schema::new(vec![
            text("id"),
            text("kind"),
            text("namespace"),
            text("name"),
            text("uid"),
            Field::new("resource_version", DataType::UInt64, true),
            time("time_lo"),
            time("time_hi"),
            Field::new("deleted", DataType::Boolean, true),
            text("actor"),
            text("body"),
            text("source_kind"),
            text("origin"),
            Field::new("class", DataType::Int32, true),
            text("subject"),
        ]))
    });
    Arc::clone(&SCHEMA)
}

/// Some versions as columns.
pub(crate) fn batch(rows: &[&Object], places: &[SortKey]) -> Result<RecordBatch, ArrowError> {
    let key = |of: fn(&ObjectKey) -> &str| -> ArrayRef {
        Arc::new(
            rows.iter()
                .map(|row| Some(of(&row.version.key)))
                .collect::<StringArray>(),
        )
    };
    let made = |of: fn(&Object) -> Option<String>| -> ArrayRef {
        Arc::new(rows.iter().map(|row| of(row)).collect::<StringArray>())
    };
    let time = |of: fn(&Stamp) -> Nanos, open: Nanos| -> ArrayRef {
        let times: TimestampNanosecondArray = rows
            .iter()
            .map(|row| row.version.at.as_ref().map(of).filter(|at| *at != open))
            .collect();
        Arc::new(times.with_timezone("UTC"))
    };
    let columns: Vec<ArrayRef> = vec![
        made(|row| Some(format!("{:032x}", row.id))),
        key(|key| &key.kind),
        key(|key| &key.namespace),
        key(|key| &key.name),
        key(|key| &key.uid),
        Arc::new(
            rows.iter()
                .map(|row| row.version.revision)
                .collect::<UInt64Array>(),
        ),
        time(|at| at.lo, Nanos::MIN),
        time(|at| at.hi, Nanos::MAX),
        Arc::new(
            rows.iter()
                .map(|row| Some(row.version.deleted))
                .collect::<BooleanArray>(),
        ),
        made(|row| row.version.by.clone()),
        made(|row| serde_json::to_string(&row.version.body).ok()),
        made(|row| Some(row.version.source_kind.as_str().to_owned())),
        made(|row| Some(row.version.origin.to_string())),
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
    ];
    RecordBatch::try_new(schema(), columns)
}

/// The versions of a batch. Says which column is not what it should be.
pub(crate) fn objects(batch: &RecordBatch) -> Result<Vec<Object>, String> {
    let read = Reader(batch);
    let of = |name| read.text(name);
    let (ids, kind, namespace) = (of("id")?, of("kind")?, of("namespace")?);
    let (name, uid, by) = (of("name")?, of("uid")?, of("actor")?);
    let (body, sources, origins) = (of("body")?, of("source_kind")?, of("origin")?);
    let (lo, hi) = (read.times("time_lo")?, read.times("time_hi")?);
    let revision: &UInt64Array = batch
        .column_by_name("resource_version")
        .and_then(|column| column.as_any().downcast_ref())
        .ok_or("no column resource_version")?;
    let deleted: &BooleanArray = batch
        .column_by_name("deleted")
        .and_then(|column| column.as_any().downcast_ref())
        .ok_or("no column deleted")?;
    let mut objects = Vec::with_capacity(batch.num_rows());
    for row in 0..batch.num_rows() {
        let text =
            |column: crate::columns::TextColumn<'_>| column.get(row).unwrap_or_default().to_owned();
        let at = (lo.get(row).is_some() || hi.get(row).is_some()).then(|| Stamp {
            lo: lo.get(row).unwrap_or(Nanos::MIN),
            hi: hi.get(row).unwrap_or(Nanos::MAX),
        });
        objects.push(Object {
            id: id(ids.get(row).unwrap_or_default())?,
            version: ObjectVersion {
                key: ObjectKey {
                    kind: text(kind),
                    namespace: text(namespace),
                    name: text(name),
                    uid: text(uid),
                },
                revision: revision.is_valid(row).then(|| revision.value(row)),
                at,
                deleted: deleted.is_valid(row) && deleted.value(row),
                by: by.get(row).map(str::to_owned),
                body: serde_json::from_str(body.get(row).unwrap_or("{}"))
                    .map_err(|error| error.to_string())?,
                source_kind: source(sources.get(row).unwrap_or_default())?,
                origin: origin(origins.get(row).unwrap_or_default()),
            },
        });
    }
    Ok(objects)
}
