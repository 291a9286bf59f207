//! The rows that a snapshot reads, of segments and of the hot tier.

use std::collections::{BTreeSet, HashSet};
use std::ops::ControlFlow;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use whathappened_model::time::Nanos;

use super::{ALWAYS, Snapshot};
use crate::catalogue::Root;
use crate::error::StoreError;
use crate::record::{Class, Fact, Object, Record, SortKey, Table, is_machine};
use crate::segment::{self, Rows, Segment, SubjectKey, subject_key};
use crate::{hot, scope};

impl Snapshot<'_> {
    /// Versions of all objects, or of those of some names.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn objects_named(
        &self,
        kinds: Option<&[String]>,
        names: Option<&[String]>,
        take: &mut dyn FnMut(Object),
    ) -> Result<(), StoreError> {
        let keys = |names: &[String]| -> Vec<i64> {
            let keys = names.iter().map(|name| segment::filter_key("name", name));
            keys.collect()
        };
        // Filters of whole segments know names, statistics of pages kinds as well.
        let keys: Vec<Vec<i64>> = names.map(keys).into_iter().collect();
        let words = [("kind", kinds), ("name", names)];
        let words: Vec<(String, Vec<String>)> = words
            .into_iter()
            .filter_map(|(column, values)| Some((column.to_owned(), values?.to_vec())))
            .collect();
        let is_one = |values: Option<&[String]>, own: &String| {
            values.is_none_or(|values| values.contains(own))
        };
        let mut each = |row: Object| {
            let key = &row.version.key;
            if is_one(kinds, &key.kind)
                && is_one(names, &key.name)
                && let Some(row) = row.seen(&self.access_filter)
            {
                take(row);
            }
            ControlFlow::Continue(())
        };
        self.unguarded_some(ALWAYS, &keys, &words, &mut each)
    }

    /// The rows of some places whose segments touch a window.
    pub(crate) fn places<R: Record>(
        &self,
        wanted: &BTreeSet<SubjectKey>,
        window: (Nanos, Nanos),
    ) -> Result<Vec<R>, StoreError> {
        let mut rows = Vec::new();
        if wanted.is_empty() {
            return Ok(rows);
        }
        let keys: Vec<(i64, &SubjectKey)> =
            wanted.iter().map(|wanted| (key(wanted), wanted)).collect();
        self.prefetch_filters(R::TABLE, window)?;
        for segment in self.segments(R::TABLE) {
            if !segment.touches(window) {
                continue;
            }
            let filter = self.words(segment)?;
            let here: BTreeSet<SubjectKey> = keys
                .iter()
                .filter(|(key, _)| filter.may_hold(*key))
                .map(|(_, wanted)| (*wanted).clone())
                .collect();
            if here.is_empty() {
                continue;
            }
            let Some(cache) = &self.store.places else {
                let before = rows.len();
                let read = self.store.open_segment(segment).and_then(|file| {
                    segment::places::<R>(file, &here, &mut |_, row| {
                        if inside(&row, window) {
                            rows.push(row);
                        }
                    })
                });
                if read.is_err() {
                    // A damaged one costs itself.
                    rows.truncate(before);
                }
                self.or_noted(segment, read)?;
                continue;
            };
            let unknown = cache.known(&segment.file, here, &mut rows);
            if unknown.is_empty() {
                continue;
            }
            let found = self.store.open_segment(segment);
            let found = found
                .and_then(|file| segment::places_of_few::<R>(file, &unknown, usize::MAX))
                .map(Option::unwrap_or_default);
            // A damaged one is read again, so that it is told of again.
            if let Ok(found) = &found {
                cache.keep(&segment.file, unknown, found);
            }
            let found = self.or_noted(segment, found)?;
            rows.extend(found.into_iter().map(|(_, row)| row));
        }
        let hot = hot::of_places::<R>(&self.tx, wanted).map_err(self.failed())?;
        rows.extend(hot.into_iter().map(|hot| hot.row));
        rows.retain(|row| inside(row, window));
        let seen = rows
            .into_iter()
            .filter_map(|row: R| row.seen(&self.access_filter));
        Ok(seen.collect())
    }

    /// Reads the rows of some places into memory. What is too much for that, or cannot be
    /// read, is left to whoever asks for it.
    pub(crate) fn warm<R: Record>(
        &self,
        wanted: &BTreeSet<SubjectKey>,
        window: (Nanos, Nanos),
    ) -> Result<(), StoreError> {
        /// Rows of a segment that are looked at for some places.
        const MOST: usize = 1 << 16;
        let Some(cache) = &self.store.places else {
            return Ok(());
        };
        for segment in self.segments(R::TABLE) {
            if !segment.touches(window) {
                continue;
            }
            let filter = self.words(segment)?;
            let held = wanted.iter().filter(|wanted| filter.may_hold(key(wanted)));
            let unknown = cache.unknown::<R>(&segment.file, held.cloned().collect());
            if unknown.is_empty() {
                continue;
            }
            let file = self.store.open_segment(segment);
            let found = file.and_then(|file| segment::places_of_few::<R>(file, &unknown, MOST));
            if let Ok(Some(found)) = found {
                cache.keep(&segment.file, unknown, &found);
            }
        }
        Ok(())
    }

    /// Reads what some roots are told by, for who asks for one after the other.
    pub(crate) fn read_ahead(&self, roots: &[&Root]) -> Result<(), StoreError> {
        scope::read_ahead(self, roots)
    }

    /// Everything in a window, or of all times, row by row.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn everything(
        &self,
        window: Option<(Nanos, Nanos)>,
        facts: &mut dyn FnMut(Fact),
        objects: &mut dyn FnMut(Object),
    ) -> Result<(), StoreError> {
        self.all_of::<Fact>(window.unwrap_or(ALWAYS), &[], &mut |fact| {
            facts(fact);
            ControlFlow::Continue(())
        })?;
        // Which objects a window concerns is not known beforehand.
        self.all_of::<Object>(ALWAYS, &[], &mut |object| {
            objects(object);
            ControlFlow::Continue(())
        })
    }

    /// Facts in a window until `take` has enough. Of each list of `keys`, as
    /// [`segment::filter_key`] keys words, a segment must hold one to be read.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn facts(
        &self,
        window: (Nanos, Nanos),
        keys: &[Vec<i64>],
        take: &mut dyn FnMut(Fact) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        self.all_of(window, keys, take)
    }

    /// Columns of the facts of some segments of a lake, for an engine: those of `schema`, which
    /// are some of [`crate::event_schema`]. Of each of `words`, a column and its values, whole
    /// pages that cannot have one are left out. Until `take` has enough.
    ///
    /// # Errors
    /// When a segment cannot be read.
    pub fn event_columns(
        &self,
        segments: &[Segment],
        schema: &SchemaRef,
        words: &[(String, Vec<String>)],
        take: &mut dyn FnMut(RecordBatch) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        for segment in segments {
            let read = self
                .store
                .open_segment(segment)
                .and_then(|file| segment::columns::<Fact>(file, schema, words, take).map(Some));
            if let Some(ControlFlow::Break(())) = self.or_noted(segment, read)? {
                break;
            }
        }
        Ok(())
    }

    /// The facts of some segments of a lake that this caller may see, of a window: what
    /// [`Self::facts`] gives of them. Until `take` has enough.
    ///
    /// # Errors
    /// When a segment cannot be read.
    pub fn facts_of(
        &self,
        segments: &[Segment],
        window: (Nanos, Nanos),
        take: &mut dyn FnMut(Fact) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let mut seen = |row: Fact| match row.seen(&self.access_filter) {
            Some(row) => take(row),
            None => ControlFlow::Continue(()),
        };
        for segment in segments {
            if segment.touches(window)
                && self
                    .rows_of(segment, window, &HashSet::new(), &[], &mut seen)?
                    .is_break()
            {
                break;
            }
        }
        Ok(())
    }

    /// The version of a table of the lake that this is the index of; -1 where it is none.
    #[must_use]
    pub fn lake_version(&self, table: Table) -> i64 {
        crate::lake::version(&self.tx, table.as_str()).unwrap_or(-1)
    }

    fn all_of<R: Record>(
        &self,
        window: (Nanos, Nanos),
        keys: &[Vec<i64>],
        take: &mut dyn FnMut(R) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        self.unguarded(
            window,
            keys,
            &mut |row: R| match row.seen(&self.access_filter) {
                Some(row) => take(row),
                None => ControlFlow::Continue(()),
            },
        )
    }

    /// All rows, whoever may see them: nothing of one may leave the store as it is.
    pub(crate) fn unguarded<R: Record>(
        &self,
        window: (Nanos, Nanos),
        keys: &[Vec<i64>],
        take: &mut dyn FnMut(R) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        self.unguarded_some(window, keys, &[], take)
    }

    /// The same, without the pages of segments that cannot have one of the values of each of `words`.
    fn unguarded_some<R: Record>(
        &self,
        window: (Nanos, Nanos),
        keys: &[Vec<i64>],
        words: &[(String, Vec<String>)],
        take: &mut dyn FnMut(R) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let replaced: HashSet<(i64, u128)> = self.replaced(R::TABLE)?.into_iter().collect();
        if !keys.is_empty() {
            self.prefetch_filters(R::TABLE, window)?;
        }
        for segment in self.segments(R::TABLE) {
            if !segment.touches(window) {
                continue;
            }
            let mut may_hold = true;
            for keys in keys {
                may_hold = may_hold && self.may_hold(segment, keys)?;
            }
            if !may_hold {
                continue;
            }
            if self
                .rows_of(segment, window, &replaced, words, take)?
                .is_break()
            {
                return Ok(());
            }
        }
        for hot in hot::all::<R>(&self.tx).map_err(self.failed())? {
            if inside(&hot.row, window) && take(hot.row).is_break() {
                return Ok(());
            }
        }
        Ok(())
    }

    /// The rows of one segment, but for those of which a newer copy stands elsewhere and for the
    /// pages that cannot have one of the values of each of `words`.
    fn rows_of<R: Record>(
        &self,
        segment: &Segment,
        window: (Nanos, Nanos),
        replaced: &HashSet<(i64, u128)>,
        words: &[(String, Vec<String>)],
        take: &mut dyn FnMut(R) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, StoreError> {
        let opened = self.store.open_segment(segment);
        let opened =
            opened.and_then(|file| Rows::<R>::open_some(file, words, class_of::<R>(words)));
        let opened = self.or_noted(segment, opened.map(Some))?;
        for row in opened.into_iter().flatten() {
            // What was read before is right; behind it nothing can be read.
            let Some(row) = self.or_noted(segment, row.map(Some))? else {
                break;
            };
            if inside(&row, window)
                && !replaced.contains(&(segment.id, row.place().id))
                && take(row).is_break()
            {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// The class of all rows that have one of the values of each column, where there is one: kinds of pods and of machines
/// stand in each other's way in the statistics of a page.
fn class_of<R: Record>(words: &[(String, Vec<String>)]) -> Option<Class> {
    let (_, kinds) = words.iter().find(|(column, _)| column == "kind")?;
    let is_all = R::TABLE == Table::Objects && kinds.iter().all(|kind| is_machine(kind));
    is_all.then_some(Class::Machine)
}

/// Whether a row may be of a window; one without a time is of every one.
pub(super) fn inside<R: Record>(row: &R, (from, to): (Nanos, Nanos)) -> bool {
    row.place().time <= to && (row.last() >= from || row.last() == Nanos::MIN)
}

fn key((class, namespace, subject): &SubjectKey) -> i64 {
    subject_key(&SortKey {
        class: *class,
        namespace: namespace.clone(),
        subject: subject.clone(),
        time: 0,
        id: 0,
    })
}
