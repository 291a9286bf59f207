//! Writes one segment: beside its place, to the disk, then renamed.

use std::collections::HashSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;
use whathappened_model::redact;
use whathappened_model::time::Nanos;

use super::bounds::Bounds;
use super::checksums::ChecksumWriter;
use super::filter::{Filter, filter_key};
use super::shared_path::{in_path, times_in_name};
use crate::day::Day;
use crate::error::StoreError;
use crate::permissions;
use crate::record::{Class, Record, SortKey, Table};
use crate::shared_columns::{CLUSTER, shared, to_shared};

/// Rows of a page: what one experiment's day costs to read.
const PAGE_ROWS: usize = 1_024;
/// Rows of a row group. What the rows of a column chunk share is lost with one byte
/// of it, so the first group is small and each is twice the one before, up to this:
/// a small segment loses little, and a large one has few groups.
const GROUP_ROWS: usize = 16_384;
/// Rows of the first row group.
const FIRST_ROWS: usize = 256;
/// Columns by whose pages a question finds its rows.
const KEYS: [&str; 15] = [
    "class",
    "experiment",
    "host",
    "instance",
    "kind",
    "name",
    "namespace",
    "node",
    "pod",
    "pod_uid",
    "subject",
    "time",
    "time_hi",
    "time_lo",
    "workload",
];
/// What a segment says that it was made by.
pub(super) const MADE_BY: &str = "whathappened ";
/// Under which rules its texts were redacted, in a segment's own words.
pub(super) const RULES: &str = "whathappened.redaction";
/// Columns whose values rarely repeat.
const UNIQUE: [&str; 5] = ["attributes", "body", "id", "origin", "raw"];

/// A segment that was written and is not yet in the list.
#[derive(Debug)]
pub(crate) struct Draft {
    pub(crate) table: Table,
    pub(crate) day: Day,
    pub(crate) file: String,
    pub(crate) rows: u64,
    pub(crate) bytes: u64,
    pub(crate) time_from: Nanos,
    pub(crate) time_to: Nanos,
    pub(crate) words: Vec<u8>,
    pub(crate) ids: Vec<u8>,
    /// Checksums of its blocks; see [`super::VerifiedFile`].
    pub(crate) sums: Vec<u8>,
    /// Of a shared segment, where it waits to be uploaded, and what it is like.
    pub(crate) shared: Option<SharedDraft>,
}

/// What is told of a segment to those who share it.
#[derive(Clone, Debug)]
#[cfg_attr(
    not(feature = "lake"),
    allow(dead_code, reason = "only a lake makes or reads it")
)]
pub(crate) struct SharedDraft {
    /// Its file on this machine.
    pub(crate) staged: PathBuf,
    /// Its least and greatest times, by column.
    pub(crate) bounds: Bounds,
}

/// For whom a segment is written.
#[derive(Clone, Debug)]
pub(crate) enum Shape {
    /// For the store in this folder.
    Own,
    /// For all who share a store: in their columns, under a name that nobody else takes.
    Shared {
        cluster: Option<String>,
        writer: String,
    },
}

/// Takes rows in order.
pub(crate) struct Writer<R: Record> {
    root: PathBuf,
    day: Day,
    shape: Shape,
    bounds: Bounds,
    draft_path: PathBuf,
    writer: ArrowWriter<ChecksumWriter>,
    rows: Vec<Box<R>>,
    places: Vec<SortKey>,
    class: Option<Class>,
    /// Rows in the open row group, and how many it gets.
    group: (usize, usize),
    written: u64,
    time_from: Nanos,
    time_to: Nanos,
    words: HashSet<i64>,
    ids: HashSet<i64>,
    name: blake3::Hasher,
}

impl<R: Record> Writer<R> {
    pub(crate) fn new(root: &Path, day: Day, shape: Shape) -> Result<Self, StoreError> {
        let folder = match &shape {
            Shape::Own => folder(root, R::TABLE, day),
            Shape::Shared { .. } => root.join(STAGING),
        };
        permissions::folder(&folder).map_err(StoreError::io(&folder))?;
        let (name, schema) = match &shape {
            Shape::Own => (std::process::id().to_string(), R::schema()),
            Shape::Shared { cluster, .. } => (
                format!("{}-{}", std::process::id(), in_path(cluster.as_deref())),
                shared(&R::schema()),
            ),
        };
        let draft_path = folder.join(format!("{name}.writing"));
        let file = permissions::private_file()
            .create(true)
            .truncate(true)
            .write(true)
            .open(&draft_path)
            .map_err(StoreError::io(&draft_path))?;
        let writer = ArrowWriter::try_new(ChecksumWriter::new(file), schema, Some(properties()))
            .map_err(StoreError::segment(&draft_path))?;
        Ok(Self {
            root: root.to_owned(),
            day,
            shape,
            bounds: Bounds::default(),
            draft_path,
            writer,
            rows: Vec::with_capacity(PAGE_ROWS),
            places: Vec::with_capacity(PAGE_ROWS),
            class: None,
            group: (0, FIRST_ROWS),
            written: 0,
            time_from: Nanos::MAX,
            time_to: Nanos::MIN,
            words: HashSet::new(),
            ids: HashSet::new(),
            name: blake3::Hasher::new(),
        })
    }

    pub(crate) fn push(&mut self, row: Box<R>, place: SortKey) -> Result<(), StoreError> {
        // Machines lie in row groups of their own, whose statistics are narrow then.
        if self.class.is_some_and(|class| class != place.class) {
            self.write()?;
            self.end_group()?;
        }
        self.class = Some(place.class);
        self.time_from = self.time_from.min(place.time);
        self.time_to = self.time_to.max(row.last());
        self.words.insert(subject_key(&place));
        row.words(&mut |column, value| {
            self.words.insert(filter_key(column, value));
        });
        self.ids.insert(id_key(place.id));
        self.name.update(&place.id.to_le_bytes());
        self.rows.push(row);
        self.places.push(place);
        let (there, most) = self.group;
        if self.rows.len() >= PAGE_ROWS.min(most - there) {
            self.write()?;
        }
        if self.group.0 >= most {
            self.group.1 = GROUP_ROWS.min(most * 2);
            self.end_group()?;
        }
        Ok(())
    }

    fn end_group(&mut self) -> Result<(), StoreError> {
        self.group.0 = 0;
        self.writer
            .flush()
            .map_err(StoreError::segment(&self.draft_path))
    }

    fn write(&mut self) -> Result<(), StoreError> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let rows: Vec<&R> = self.rows.iter().map(|row| &**row).collect();
        let damaged = |error| StoreError::damaged(&self.draft_path, error);
        let mut batch = R::batch(&rows, &self.places).map_err(damaged)?;
        if let Shape::Shared { .. } = self.shape {
            batch = to_shared(&batch).map_err(damaged)?;
            self.bounds.see(&batch);
        }
        self.writer
            .write(&batch)
            .map_err(StoreError::segment(&self.draft_path))?;
        self.written += self.rows.len() as u64;
        self.group.0 += self.rows.len();
        self.rows.clear();
        self.places.clear();
        Ok(())
    }

    /// Ends the segment: it is on the disk under its name, and in no list yet.
    /// `announce` is told its name before there is a file of that name.
    pub(crate) fn finish(
        mut self,
        number: i64,
        announce: impl FnOnce(&str) -> Result<(), StoreError>,
    ) -> Result<Draft, StoreError> {
        self.write()?;
        self.writer
            .finish()
            .map_err(StoreError::segment(&self.draft_path))?;
        let written = self.writer.inner();
        let (file, sums) = (written.file(), written.sums());
        file.sync_all().map_err(StoreError::io(&self.draft_path))?;
        let bytes = file
            .metadata()
            .map_err(StoreError::io(&self.draft_path))?
            .len();
        if let Shape::Shared { cluster, writer } = &self.shape {
            let name = self.name.finalize().to_hex();
            let times = times_in_name(self.time_from, self.time_to);
            let name = format!("{writer}-{number:08}-{}-{times}.parquet", &name[..16]);
            let file = format!(
                "{}/{CLUSTER}={}/day={}/{name}",
                R::TABLE.as_str(),
                in_path(cluster.as_deref()),
                self.day
            );
            let staged = self.draft_path.with_file_name(name);
            fs::rename(&self.draft_path, &staged).map_err(StoreError::io(&staged))?;
            let shared = SharedDraft {
                staged,
                bounds: self.bounds.clone(),
            };
            return Ok(self.draft(file, bytes, Vec::new(), Some(shared)));
        }
        // A name of its own for each writing: readers may still hold an older file of equal rows.
        let name = format!(
            "{number:08}-{}.parquet",
            &self.name.finalize().to_hex()[..16]
        );
        let folder = folder(&self.root, R::TABLE, self.day);
        let path = folder.join(&name);
        let file = format!("{}/day={}/{name}", R::TABLE.as_str(), self.day);
        announce(&file)?;
        fs::rename(&self.draft_path, &path).map_err(StoreError::io(&path))?;
        sync_folder(&folder)?;
        Ok(self.draft(file, bytes, sums, None))
    }

    fn draft(&self, file: String, bytes: u64, sums: Vec<u8>, shared: Option<SharedDraft>) -> Draft {
        Draft {
            table: R::TABLE,
            day: self.day,
            file,
            rows: self.written,
            bytes,
            time_from: self.time_from,
            time_to: self.time_to,
            words: Filter::of(&self.words).to_bytes(),
            ids: Filter::of(&self.ids).to_bytes(),
            sums,
            shared,
        }
    }

    /// Removes what was written so far.
    pub(crate) fn discard(self) {
        // What stays is removed with the orphans.
        let _left = fs::remove_file(&self.draft_path);
    }
}

/// Where shared segments wait to be uploaded.
pub(crate) const STAGING: &str = "staging";

fn folder(root: &Path, table: Table, day: Day) -> PathBuf {
    root.join(table.as_str()).join(format!("day={day}"))
}

/// Makes a rename durable.
fn sync_folder(folder: &Path) -> Result<(), StoreError> {
    File::open(folder)
        .and_then(|folder| folder.sync_all())
        .map_err(StoreError::io(folder))
}

/// The key under which the filter of a segment knows a place.
pub(crate) fn subject_key(place: &SortKey) -> i64 {
    filter_key(
        "",
        &format!(
            "{}\0{}\0{}",
            place.class.number(),
            place.namespace,
            place.subject
        ),
    )
}

/// The key under which the filter of a segment knows an id.
pub(crate) fn id_key(id: u128) -> i64 {
    // An id is a hash already.
    let bytes = id.to_le_bytes();
    let mut key = [0; 8];
    key.copy_from_slice(&bytes[..8]);
    i64::from_le_bytes(key)
}

fn properties() -> WriterProperties {
    let zstd = ZstdLevel::try_new(1).map_or(Compression::SNAPPY, Compression::ZSTD);
    let mut properties = WriterProperties::builder()
        .set_created_by(format!("{MADE_BY}{}", env!("CARGO_PKG_VERSION")))
        .set_key_value_metadata(Some(vec![KeyValue::new(
            RULES.to_owned(),
            redact::RULES.to_string(),
        )]))
        .set_compression(zstd)
        .set_max_row_group_row_count(Some(GROUP_ROWS))
        .set_data_page_row_count_limit(PAGE_ROWS)
        .set_write_batch_size(PAGE_ROWS)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_column_index_truncate_length(Some(64));
    for name in KEYS {
        properties = properties
            .set_column_statistics_enabled(ColumnPath::from(name), EnabledStatistics::Page);
    }
    for name in UNIQUE {
        properties = properties.set_column_dictionary_enabled(ColumnPath::from(name), false);
    }
    for name in [
        "time",
        "time_lo",
        "time_hi",
        "end_time",
        "end_hi",
        "observed_time",
    ] {
        properties = properties
            .set_column_dictionary_enabled(ColumnPath::from(name), false)
            .set_column_encoding(ColumnPath::from(name), Encoding::DELTA_BINARY_PACKED);
    }
    properties =
        properties.set_column_encoding(ColumnPath::from("origin"), Encoding::DELTA_BYTE_ARRAY);
    properties.build()
}
