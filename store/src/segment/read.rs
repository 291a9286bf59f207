//! Reads segments: whole, by place, or only their ids.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use arrow_array::RecordBatch;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder, RowSelection, RowSelector,
};
use parquet::file::metadata::{PageIndexPolicy, ParquetMetaData};
use parquet::file::reader::Length as _;
use whathappened_model::redact;

use super::VerifiedFile;
use super::pages::{class_of, column_of, pages, read_of};
use super::scan::select as select_words;
use super::write::{MADE_BY, RULES};
use crate::columns::{Reader, id};
use crate::error::StoreError;
use crate::record::{Class, Record};
use crate::shared_columns::from_shared;

pub(super) const BATCH: usize = 1_024;

/// A class, a namespace and a subject.
pub(crate) type SubjectKey = (Class, String, String);

/// All rows of a segment, in order.
pub(crate) struct Rows<R> {
    decoder: Decoder,
    path: PathBuf,
    /// None where no page can have what is wanted.
    reader: Option<ParquetRecordBatchReader>,
    ready: std::vec::IntoIter<R>,
}

impl<R: Record> Rows<R> {
    /// Rows of the pages that may have one of the values of each of `words`, a column and its values.
    /// Which of them do have one is for the caller to see. Where a class is named, only rows of it are wanted.
    pub(crate) fn open_some(
        file: VerifiedFile,
        words: &[(String, Vec<String>)],
        class: Option<Class>,
    ) -> Result<Self, StoreError> {
        if words.is_empty() {
            return Self::open(file);
        }
        let path = &file.path().to_owned();
        let options = ArrowReaderOptions::new().with_page_index_policy(PageIndexPolicy::Optional);
        let metadata =
            ArrowReaderMetadata::load(&file, options).map_err(StoreError::segment(path))?;
        let decoder = Decoder::of(&file, metadata.metadata());
        // Others that rewrite a shared segment put its rows in an order of their own.
        let class = class.filter(|_| file.shared().is_none());
        let (groups, selection) =
            select_words(metadata.metadata(), words, class.map(Class::number));
        if file.shared().is_some() {
            let all = ProjectionMask::all();
            file.prefetch(read_of(metadata.metadata(), &groups, &selection, &all))?;
        }
        let reader = match groups.is_empty() {
            true => None,
            false => Some(
                ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata)
                    .with_row_groups(groups)
                    .with_row_selection(selection)
                    .with_batch_size(BATCH)
                    .build()
                    .map_err(StoreError::segment(path))?,
            ),
        };
        Ok(Self {
            decoder,
            path: path.to_owned(),
            reader,
            ready: Vec::new().into_iter(),
        })
    }

    pub(crate) fn open(file: VerifiedFile) -> Result<Self, StoreError> {
        let path = &file.path().to_owned();
        file.prefetch(std::iter::once(0..file.len()).collect())?;
        let of = file.clone();
        let builder =
            ParquetRecordBatchReaderBuilder::try_new(file).map_err(StoreError::segment(path))?;
        let decoder = Decoder::of(&of, builder.metadata());
        let reader = builder
            .with_batch_size(BATCH)
            .build()
            .map_err(StoreError::segment(path))?;
        Ok(Self {
            decoder,
            path: path.to_owned(),
            reader: Some(reader),
            ready: Vec::new().into_iter(),
        })
    }
}

impl<R: Record> Iterator for Rows<R> {
    type Item = Result<R, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(row) = self.ready.next() {
                return Some(Ok(row));
            }
            let batch = match self.reader.as_mut()?.next()? {
                Ok(batch) => batch,
                Err(error) => return Some(Err(StoreError::damaged(&self.path, error))),
            };
            match self.decoder.rows::<R>(&batch) {
                Ok(rows) => self.ready = rows.into_iter(),
                Err(why) => return Some(Err(StoreError::damaged(&self.path, why))),
            }
        }
    }
}

/// Reads the footer; says whether the texts were redacted under fewer rules than now.
pub(crate) fn footer(file: &VerifiedFile) -> Result<bool, StoreError> {
    ArrowReaderMetadata::load(file, ArrowReaderOptions::new())
        .map(|metadata| is_old(metadata.metadata()))
        .map_err(StoreError::segment(file.path()))
}

fn is_old(metadata: &ParquetMetaData) -> bool {
    let words = metadata.file_metadata().key_value_metadata();
    let rules = words
        .into_iter()
        .flatten()
        .find(|word| word.key == RULES)
        .and_then(|word| word.value.as_ref()?.parse::<i64>().ok());
    rules.is_none_or(|rules| rules < redact::RULES)
}

/// Makes rows of the batches of a segment.
#[derive(Clone, Debug)]
pub(super) struct Decoder {
    /// Its texts were redacted under fewer rules than now.
    is_old: bool,
    /// Of a shared segment, the cluster that its rows are of.
    shared: Option<Option<String>>,
}

impl Decoder {
    pub(super) fn of(file: &VerifiedFile, metadata: &ParquetMetaData) -> Self {
        Self {
            is_old: is_old(metadata),
            shared: file.shared().map(|cluster| cluster.map(str::to_owned)),
        }
    }

    /// Whether texts have to be redacted on their way out.
    pub(super) fn is_old(&self) -> bool {
        self.is_old
    }

    /// The rows of a batch; those of old segments are redacted on their way out.
    pub(super) fn rows<R: Record>(&self, batch: &RecordBatch) -> Result<Vec<R>, String> {
        let mut rows = match &self.shared {
            Some(cluster) => R::rows(&from_shared(batch, cluster.as_deref(), &R::schema())?)?,
            None => R::rows(batch)?,
        };
        if self.is_old {
            rows.iter_mut().for_each(R::redact);
        }
        Ok(rows)
    }
}

/// Calls `take` with every id of a segment and its row number.
pub(crate) fn ids(file: VerifiedFile, take: &mut dyn FnMut(u128)) -> Result<(), StoreError> {
    let path = &file.path().to_owned();
    let of = file.clone();
    let builder =
        ParquetRecordBatchReaderBuilder::try_new(file).map_err(StoreError::segment(path))?;
    let mask = ProjectionMask::columns(builder.parquet_schema(), ["id"]);
    let chunks = builder.metadata().row_groups().iter();
    let chunks = chunks.flat_map(parquet::file::metadata::RowGroupMetaData::columns);
    let ids = chunks.filter(|chunk| chunk.column_path().string() == "id");
    of.prefetch(
        ids.map(parquet::file::metadata::ColumnChunkMetaData::byte_range)
            .map(|(start, len)| start..start + len)
            .collect(),
    )?;
    let reader = builder
        .with_projection(mask)
        .with_batch_size(8_192)
        .build()
        .map_err(StoreError::segment(path))?;
    for batch in reader {
        let batch = batch.map_err(|error| StoreError::damaged(path, error))?;
        let texts = Reader(&batch)
            .text("id")
            .map_err(|why| StoreError::damaged(path, why))?;
        for row in 0..batch.num_rows() {
            take(
                id(texts.get(row).unwrap_or_default())
                    .map_err(|why| StoreError::damaged(path, why))?,
            );
        }
    }
    Ok(())
}

/// The rows of some numbers, which ascend.
pub(crate) fn at<R: Record>(file: VerifiedFile, numbers: &[usize]) -> Result<Vec<R>, StoreError> {
    let path = &file.path().to_owned();
    let options = ArrowReaderOptions::new().with_page_index_policy(PageIndexPolicy::Optional);
    let of = file.clone();
    let builder = ParquetRecordBatchReaderBuilder::try_new_with_options(file, options)
        .map_err(StoreError::segment(path))?;
    let decoder = Decoder::of(&of, builder.metadata());
    let total = usize::try_from(builder.metadata().file_metadata().num_rows()).unwrap_or(0);
    let runs = numbers.iter().map(|number| *number..*number + 1);
    let selection = RowSelection::from_consecutive_ranges(runs, total);
    let reader = builder
        .with_row_selection(selection)
        .with_batch_size(BATCH)
        .build()
        .map_err(StoreError::segment(path))?;
    let mut rows = Vec::with_capacity(numbers.len());
    for batch in reader {
        let batch = batch.map_err(|error| StoreError::damaged(path, error))?;
        rows.extend(
            decoder
                .rows::<R>(&batch)
                .map_err(|why| StoreError::damaged(path, why))?,
        );
    }
    Ok(rows)
}

/// Gives the rows of some places, each with its place: opens only the pages that may hold them.
pub(crate) fn places<R: Record>(
    file: VerifiedFile,
    wanted: &BTreeSet<SubjectKey>,
    take: &mut dyn FnMut(&SubjectKey, R),
) -> Result<(), StoreError> {
    read_places(file, wanted, usize::MAX, take).map(|_| ())
}

/// The rows of some places, unless more rows would have to be looked at than `most`.
pub(crate) fn places_of_few<R: Record>(
    file: VerifiedFile,
    wanted: &BTreeSet<SubjectKey>,
    most: usize,
) -> Result<Option<Vec<(SubjectKey, R)>>, StoreError> {
    let mut rows = Vec::new();
    let is_read = read_places(file, wanted, most, &mut |place, row| {
        rows.push((place.clone(), row));
    })?;
    Ok(is_read.then_some(rows))
}

/// Gives the rows of some places; `false` where more would have to be looked at than `most`.
fn read_places<R: Record>(
    file: VerifiedFile,
    wanted: &BTreeSet<SubjectKey>,
    most: usize,
    take: &mut dyn FnMut(&SubjectKey, R),
) -> Result<bool, StoreError> {
    let path = &file.path().to_owned();
    let options = ArrowReaderOptions::new().with_page_index_policy(PageIndexPolicy::Optional);
    let metadata = ArrowReaderMetadata::load(&file, options).map_err(StoreError::segment(path))?;
    let decoder = Decoder::of(&file, metadata.metadata());
    let mut by_class: BTreeMap<i32, BTreeSet<&str>> = BTreeMap::new();
    for (class, _, subject) in wanted {
        by_class
            .entry(class.number())
            .or_default()
            .insert(subject.as_str());
    }
    let (groups, selection) = select(&file, metadata.metadata(), &by_class);
    if groups.is_empty() {
        return Ok(true);
    }
    if selection.row_count() > most {
        return Ok(false);
    }
    if file.shared().is_some() {
        file.prefetch(read_of(
            metadata.metadata(),
            &groups,
            &selection,
            &ProjectionMask::all(),
        ))?;
    }
    let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata)
        .with_row_groups(groups)
        .with_row_selection(selection)
        .with_batch_size(BATCH)
        .build()
        .map_err(StoreError::segment(path))?;
    for batch in reader {
        let batch = batch.map_err(|error| StoreError::damaged(path, error))?;
        let damaged = |why| StoreError::damaged(path, why);
        // Runs of neighbours are cut out before anything is decoded.
        for run in hits(&batch, wanted).map_err(damaged)? {
            let found = decoder.rows::<R>(&batch.slice(run.first, run.rows));
            for row in found.map_err(damaged)? {
                take(&run.place, row);
            }
        }
    }
    Ok(true)
}

/// Neighbours of one place.
struct RunOfRows {
    place: SubjectKey,
    first: usize,
    rows: usize,
}

/// Runs of rows that are of a wanted place.
fn hits(batch: &RecordBatch, wanted: &BTreeSet<SubjectKey>) -> Result<Vec<RunOfRows>, String> {
    let read = Reader(batch);
    let (class, namespace) = (read.ints("class")?, read.text("namespace")?);
    let subject = read.text("subject")?;
    let mut runs: Vec<RunOfRows> = Vec::new();
    // Rows of one place are neighbours: what held for the one before holds for most.
    let mut before: Option<(SubjectKey, bool)> = None;
    for row in 0..batch.num_rows() {
        let class = match class.value(row) {
            0 => Class::Subject,
            1 => Class::Machine,
            _ => Class::Other,
        };
        let namespace = match class {
            Class::Subject => namespace.get(row).unwrap_or_default(),
            _ => "",
        };
        let subject = match class {
            Class::Other => "",
            _ => subject.get(row).unwrap_or_default(),
        };
        let is_same = |(known, _): &(SubjectKey, bool)| {
            known.0 == class && known.1 == namespace && known.2 == subject
        };
        if !before.as_ref().is_some_and(is_same) {
            let key = (class, namespace.to_owned(), subject.to_owned());
            let is_wanted = wanted.contains(&key);
            before = Some((key, is_wanted));
        }
        let Some((key, true)) = &before else {
            continue;
        };
        match runs.last_mut() {
            Some(run) if run.first + run.rows == row && run.place == *key => run.rows += 1,
            _ => runs.push(RunOfRows {
                place: key.clone(),
                first: row,
                rows: 1,
            }),
        }
    }
    Ok(runs)
}

/// Row groups and rows that may hold a wanted subject, by the pages' statistics.
fn select(
    file: &VerifiedFile,
    metadata: &ParquetMetaData,
    wanted: &BTreeMap<i32, BTreeSet<&str>>,
) -> (Vec<usize>, RowSelection) {
    let column = |name: &str| column_of(metadata, name);
    let all = || (0..metadata.num_row_groups()).collect::<Vec<_>>();
    let whole = || {
        let rows = usize::try_from(metadata.file_metadata().num_rows()).unwrap_or(0);
        (all(), RowSelection::from(vec![RowSelector::select(rows)]))
    };
    // Others that rewrite a shared segment put its rows in an order of their own.
    let made_by = metadata.file_metadata().created_by();
    let is_ours = made_by.is_some_and(|made_by| made_by.starts_with(MADE_BY));
    if file.shared().is_some() && !is_ours {
        return whole();
    }
    let (Some(subject), Some(class)) = (column("subject"), column("class")) else {
        return whole();
    };
    let (mut groups, mut selectors) = (Vec::new(), Vec::new());
    for number in all() {
        let group = metadata.row_group(number);
        let rows = usize::try_from(group.num_rows()).unwrap_or(0);
        let Some(subjects) = class_of(metadata, number, class).and_then(|one| wanted.get(&one))
        else {
            continue;
        };
        let kept = pages(metadata, number, subject, subjects, rows);
        if kept.iter().any(|(_, keep)| *keep) {
            groups.push(number);
            selectors.extend(kept.into_iter().map(|(count, keep)| {
                if keep {
                    RowSelector::select(count)
                } else {
                    RowSelector::skip(count)
                }
            }));
        }
    }
    (groups, RowSelection::from(selectors))
}
