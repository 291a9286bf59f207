//! The tables of a lake beside facts and objects: who there is, what sources could not
//! show, and what was explained. Their files are small, and an index takes them in whole.

use std::sync::{Arc, LazyLock};

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{
    Array as _, ArrayRef, Int32Array, Int64Array, RecordBatch, StringArray,
    TimestampMicrosecondArray,
};
use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};
use bytes::Bytes;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use rusqlite::{Connection, params};

use super::shared_incidents;
use crate::catalogue::{CatalogueUpdate, Entity};
use crate::incidents::{StoredIncident, replace};
use crate::metadata::put_coverage_text;

/// Their names.
pub(super) const TABLES: [&str; 3] = [CATALOGUE, COVERAGE, INCIDENTS];
pub(super) const CATALOGUE: &str = "catalogue";
pub(super) const COVERAGE: &str = "coverage";
pub(super) const INCIDENTS: &str = "incidents";

/// The columns of the files of a table.
pub(super) fn schema(table: &str) -> SchemaRef {
    static ALL: LazyLock<[SchemaRef; 3]> = LazyLock::new(|| {
        let text = |name: &str| Field::new(name, DataType::Utf8, true);
        let long = |name: &str| Field::new(name, DataType::Int64, true);
        let time = |name: &str| {
            let kind = DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
            Field::new(name, kind, true)
        };
        let catalogue = vec![
            text("kind"),
            text("namespace"),
            text("name"),
            text("uid"),
            text("owner"),
            text("node"),
            long("first_ns"),
            long("last_ns"),
            Field::new("tier", DataType::Int32, true),
            text("bearer"),
        ];
        let coverage = vec![text("key"), time("at"), long("at_ns"), text("row")];
        let incidents = vec![
            text("id"),
            text("experiment"),
            text("run_id"),
            text("cause"),
            time("time"),
            long("time_ns"),
            long("explained_at_ns"),
            text("ruleset"),
            text("machines"),
            text("answer"),
            text("verdict"),
        ];
        [catalogue, coverage, incidents].map(|fields| Arc::new(Schema::new(fields)))
    });
    let [catalogue, coverage, incidents] = &*ALL;
    Arc::clone(match table {
        COVERAGE => coverage,
        INCIDENTS => incidents,
        _ => catalogue,
    })
}

fn texts<'a>(of: impl Iterator<Item = Option<&'a str>>) -> ArrayRef {
    Arc::new(of.collect::<StringArray>())
}

fn longs(of: impl Iterator<Item = Option<i64>>) -> ArrayRef {
    Arc::new(of.collect::<Int64Array>())
}

fn times(of: impl Iterator<Item = Option<i64>>) -> ArrayRef {
    let times: TimestampMicrosecondArray = of.map(|at| at.map(|at| at.div_euclid(1_000))).collect();
    Arc::new(times.with_timezone("UTC"))
}

/// What a catalogue has to tell; nothing where that is nothing.
pub(super) fn of_catalogue(update: &CatalogueUpdate) -> Option<RecordBatch> {
    let entities: Vec<Entity> = update.entities().collect();
    let names: Vec<_> = update.names().collect();
    let none = || std::iter::repeat_n(None, names.len());
    let of = |field: fn(&Entity) -> &str| {
        texts(entities.iter().map(|one| Some(field(one))).chain(none()))
    };
    let columns: Vec<ArrayRef> = vec![
        of(|one| &one.kind),
        of(|one| &one.namespace),
        texts(
            entities
                .iter()
                .map(|one| one.name.as_str())
                .chain(names.iter().map(|(name, _, _)| name.as_str()))
                .map(Some),
        ),
        of(|one| &one.uid),
        of(|one| &one.owner),
        of(|one| &one.node),
        longs(
            entities
                .iter()
                .map(|one| Some(one.first))
                .chain(names.iter().map(|_| None)),
        ),
        longs(
            entities
                .iter()
                .map(|one| Some(one.last))
                .chain(names.iter().map(|_| None)),
        ),
        Arc::new(
            entities
                .iter()
                .map(|_| None)
                .chain(names.iter().map(|(_, tier, _)| i32::try_from(*tier).ok()))
                .collect::<Int32Array>(),
        ),
        texts(
            entities
                .iter()
                .map(|_| None)
                .chain(names.iter().map(|(_, _, bearer)| Some(bearer.as_str()))),
        ),
    ];
    let batch = RecordBatch::try_new(schema(CATALOGUE), columns).ok()?;
    (batch.num_rows() > 0).then_some(batch)
}

/// A row of coverage: its key in the lake, when it was kept, and the row in JSON; nothing
/// for one that is forgotten.
pub(super) type CoverageRow = (String, i64, Option<String>);

/// Rows of coverage; nothing where there are none.
pub(super) fn of_coverage(rows: &[CoverageRow]) -> Option<RecordBatch> {
    let columns = vec![
        texts(rows.iter().map(|(key, _, _)| Some(key.as_str()))),
        times(rows.iter().map(|(_, at, _)| Some(*at))),
        longs(rows.iter().map(|(_, at, _)| Some(*at))),
        texts(rows.iter().map(|(_, _, row)| row.as_deref())),
    ];
    let batch = RecordBatch::try_new(schema(COVERAGE), columns).ok()?;
    (batch.num_rows() > 0).then_some(batch)
}

/// Incidents; nothing where there are none.
pub(super) fn of_incidents(rows: &[StoredIncident]) -> Option<RecordBatch> {
    let text = |field: fn(&StoredIncident) -> &str| texts(rows.iter().map(|one| Some(field(one))));
    let causes: Vec<Option<String>> = rows.iter().map(|one| cause(&one.answer)).collect();
    let machines: Vec<String> = rows
        .iter()
        .map(|one| serde_json::to_string(&one.machines).unwrap_or_default())
        .collect();
    let columns = vec![
        text(|one| &one.id),
        text(|one| &one.experiment),
        text(|one| &one.run_id),
        texts(causes.iter().map(Option::as_deref)),
        times(rows.iter().map(|one| one.time)),
        longs(rows.iter().map(|one| one.time)),
        longs(rows.iter().map(|one| Some(one.explained_at))),
        text(|one| &one.ruleset),
        texts(machines.iter().map(|text| Some(text.as_str()))),
        text(|one| &one.answer),
        text(|one| &one.verdict),
    ];
    let batch = RecordBatch::try_new(schema(INCIDENTS), columns).ok()?;
    (batch.num_rows() > 0).then_some(batch)
}

fn cause(answer: &str) -> Option<String> {
    let answer: serde_json::Value = serde_json::from_str(answer).ok()?;
    Some(answer.pointer("/incident/cause")?.as_str()?.to_owned())
}

/// A batch as a file.
pub(super) fn to_file(batch: &RecordBatch) -> Result<Vec<u8>, String> {
    let zstd = ZstdLevel::try_new(1).map_or(Compression::SNAPPY, Compression::ZSTD);
    let properties = WriterProperties::builder()
        .set_created_by(format!("whathappened {}", env!("CARGO_PKG_VERSION")))
        .set_compression(zstd)
        .build();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties))
        .map_err(|error| error.to_string())?;
    writer
        .write(batch)
        .and_then(|()| writer.close())
        .map_err(|error| error.to_string())?;
    Ok(bytes)
}

/// Takes a file of a table into the database of an index. Says what of it is not what it
/// should be.
pub(super) fn take_in(db: &Connection, table: &str, file: Vec<u8>) -> Result<(), String> {
    let reader = ParquetRecordBatchReaderBuilder::try_new(Bytes::from(file))
        .and_then(ParquetRecordBatchReaderBuilder::build)
        .map_err(|error| error.to_string())?;
    for batch in reader {
        let batch = batch.map_err(|error| error.to_string())?;
        match table {
            CATALOGUE => catalogue(db, &batch),
            COVERAGE => coverage(db, &batch),
            _ => incidents(db, &batch),
        }?;
    }
    Ok(())
}

/// Forgets all that an index has of a table.
pub(super) fn forget(db: &Connection, table: &str) -> rusqlite::Result<()> {
    let sql = match table {
        CATALOGUE => "DELETE FROM entities; DELETE FROM names;",
        COVERAGE => "DELETE FROM coverage;",
        _ => {
            "DELETE FROM incidents; DELETE FROM incident_machines; DELETE FROM verdicts; DELETE FROM lake_incidents;"
        }
    };
    db.execute_batch(sql)
}

/// A column of a batch as a type; other programs write texts in several.
fn column(batch: &RecordBatch, name: &str, kind: &DataType) -> Result<ArrayRef, String> {
    let column = batch
        .column_by_name(name)
        .ok_or_else(|| format!("no column {name}"))?;
    arrow_cast::cast(column, kind).map_err(|error| format!("the column {name}: {error}"))
}

fn strings(batch: &RecordBatch, name: &str) -> Result<StringArray, String> {
    Ok(column(batch, name, &DataType::Utf8)?
        .as_string::<i32>()
        .clone())
}

fn numbers(batch: &RecordBatch, name: &str) -> Result<Int64Array, String> {
    Ok(column(batch, name, &DataType::Int64)?
        .as_primitive::<Int64Type>()
        .clone())
}

#[expect(clippy::needless_pass_by_value, reason = "errors are mapped by it")]
fn error_text(error: rusqlite::Error) -> String {
    error.to_string()
}

fn catalogue(db: &Connection, batch: &RecordBatch) -> Result<(), String> {
    let of = |name| strings(batch, name);
    let (kind, namespace, name) = (of("kind")?, of("namespace")?, of("name")?);
    let (uid, owner, node, bearer) = (of("uid")?, of("owner")?, of("node")?, of("bearer")?);
    let (first, last) = (numbers(batch, "first_ns")?, numbers(batch, "last_ns")?);
    let tier = column(batch, "tier", &DataType::Int32)?;
    let tier = tier.as_primitive::<Int32Type>();
    let mut update = CatalogueUpdate::default();
    for row in 0..batch.num_rows() {
        let text = |of: &StringArray| match of.is_valid(row) {
            true => of.value(row).to_owned(),
            false => String::new(),
        };
        if tier.is_valid(row) {
            let tier = usize::try_from(tier.value(row)).unwrap_or(0);
            update.named(text(&name), tier, text(&bearer));
            continue;
        }
        update.known(&Entity {
            kind: text(&kind),
            namespace: text(&namespace),
            name: text(&name),
            uid: text(&uid),
            owner: text(&owner),
            node: text(&node),
            first: first.value(row),
            last: last.value(row),
        });
    }
    update.write(db).map_err(error_text)
}

fn coverage(db: &Connection, batch: &RecordBatch) -> Result<(), String> {
    let (key, text) = (strings(batch, "key")?, strings(batch, "row")?);
    let at = numbers(batch, "at_ns")?;
    for row in 0..batch.num_rows() {
        let key = key.value(row);
        if text.is_valid(row) {
            put_coverage_text(db, key, text.value(row), at.value(row)).map_err(error_text)?;
        } else {
            db.prepare_cached("DELETE FROM coverage WHERE key = ?1")
                .and_then(|mut forget| forget.execute(params![key]))
                .map_err(error_text)?;
        }
    }
    Ok(())
}

fn incidents(db: &Connection, batch: &RecordBatch) -> Result<(), String> {
    let of = |name| strings(batch, name);
    let (id, experiment, run_id) = (of("id")?, of("experiment")?, of("run_id")?);
    let (ruleset, machines) = (of("ruleset")?, of("machines")?);
    let (answer, verdict) = (of("answer")?, of("verdict")?);
    let (time, explained) = (
        numbers(batch, "time_ns")?,
        numbers(batch, "explained_at_ns")?,
    );
    let mut rows: Vec<StoredIncident> = (0..batch.num_rows())
        .map(|row| StoredIncident {
            time: time.is_valid(row).then(|| time.value(row)),
            id: id.value(row).to_owned(),
            experiment: experiment.value(row).to_owned(),
            run_id: run_id.value(row).to_owned(),
            explained_at: explained.value(row),
            ruleset: ruleset.value(row).to_owned(),
            machines: serde_json::from_str(machines.value(row)).unwrap_or_default(),
            answer: answer.value(row).to_owned(),
            verdict: verdict.value(row).to_owned(),
        })
        .collect();
    rows.sort_by(|a, b| a.run_id.cmp(&b.run_id));
    for of_run in rows.chunk_by(|a, b| a.run_id == b.run_id) {
        let run = of_run.first().map(|one| one.run_id.clone());
        replace(db, run.as_slice(), of_run).map_err(error_text)?;
        if let Some(run) = &run {
            shared_incidents::remember(db, run, of_run).map_err(error_text)?;
        }
    }
    Ok(())
}
