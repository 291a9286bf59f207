//! One moment of a store: what is read of it fits together.

mod outside_faults;
mod rows;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use rusqlite::Transaction;
use whathappened_core::resolve::{Name, rank_names};
use whathappened_model::coverage::{Coverage, Status};
use whathappened_model::time::Nanos;

use crate::access::Access;
use crate::access_filter::{AccessFilter, in_value};
use crate::catalogue::{self, CatalogueView, Entity, Heard, Root, kept_roots};
use crate::damage::DamagedSegment;
use crate::elsewhere::FilterOf;
use crate::error::StoreError;
use crate::incidents::{self, StoredIncident, StoredVerdict};
use crate::record::{Class, Fact, Object, Record as _, Table};
use crate::scope::{MatchTier, ScopedRows};
use crate::segment::{self, Filter, Segment, SubjectKey};
use crate::store::Store;
use crate::{damage, hot, scope, version};

/// A moment of a store. While it is held, writers go on unseen.
#[derive(Debug)]
pub struct Snapshot<'a> {
    store: &'a Store,
    tx: Transaction<'a>,
    events: Vec<Segment>,
    objects: Vec<Segment>,
    access_filter: AccessFilter,
    /// Segments that turned out to be unreadable, by file.
    noted: RefCell<BTreeMap<String, (DamagedSegment, Coverage)>>,
    /// Segments about which the list turned out to be wrong, by file: none of their rows
    /// is missing.
    doubted: RefCell<BTreeMap<String, Coverage>>,
    /// How often a row of the catalogue was not what was written.
    wrong_entities: Cell<u64>,
}

impl<'a> Snapshot<'a> {
    pub(crate) fn take(store: &'a Store, access: &Access) -> Result<Self, StoreError> {
        let take = || {
            let tx = store.db.unchecked_transaction()?;
            let mut events = segment::live(&tx, Table::Events, None)?;
            let mut objects = segment::live(&tx, Table::Objects, None)?;
            let mut doubted = BTreeMap::new();
            for one in events.iter_mut().chain(&mut objects) {
                if one.is_doubtful
                    && let Some(what) = segment::wrong(&tx, one)?
                {
                    // Whoever reads it needs to know how long it is.
                    let found = one.path(&store.root).metadata();
                    one.bytes = found.map_or(one.bytes, |file| file.len());
                    doubted.insert(one.file.clone(), damage::index_row(one, what));
                }
            }
            let access_filter = AccessFilter::new(&tx, access)?;
            Ok(Self {
                store,
                access_filter,
                tx,
                events,
                objects,
                noted: RefCell::default(),
                doubted: RefCell::new(doubted),
                wrong_entities: Cell::new(0),
            })
        };
        take().map_err(StoreError::database(&store.db_path))
    }

    pub(crate) fn look(&self) -> CatalogueView<'_> {
        CatalogueView {
            db: &self.tx,
            access_filter: &self.access_filter,
            wrong: &self.wrong_entities,
        }
    }

    /// Whether some of the store may not be seen.
    #[must_use]
    pub fn is_restricted(&self) -> bool {
        !self.access_filter.is_whole()
    }

    /// Whether what is of a namespace may be seen.
    #[must_use]
    pub fn permits_namespace(&self, namespace: &str) -> bool {
        self.access_filter.permits_namespace(namespace)
    }

    /// Whether what any source told may be seen.
    #[must_use]
    pub fn permits_every_source(&self) -> bool {
        self.access_filter.permits_every_source()
    }

    /// Whether a machine of this name may be named.
    pub(crate) fn permits_machine(&self, name: &str) -> bool {
        self.access_filter.permits_machine(name)
    }

    /// Hides the names of what others own in every text of a value.
    pub fn redact(&self, value: &mut serde_json::Value) {
        in_value(value, &|text| self.access_filter.text(text));
    }

    /// Hides what names a pod or a namespace of others in every text of a value of
    /// the caller's own.
    pub fn redact_own(&self, value: &mut serde_json::Value) {
        self.access_filter.hide_in_own(value);
    }

    /// What of some rows of coverage may be seen, and a row for each segment that
    /// turned out to be unreadable so far, or about which the list is wrong.
    #[must_use]
    pub fn coverage_of(&self, mut rows: Vec<Coverage>) -> Vec<Coverage> {
        let (noted, doubted) = (self.noted.borrow(), self.doubted.borrow());
        let new: Vec<Coverage> = noted
            .values()
            .map(|(_, row)| row)
            .chain(doubted.values())
            .cloned()
            .chain((self.wrong_entities.get() > 0).then(damage::catalogue_row))
            .filter(|row| !rows.contains(row))
            .collect();
        rows.extend(new);
        let seen = rows
            .into_iter()
            .filter_map(|row| self.access_filter.coverage(row));
        seen.collect()
    }

    /// Segments whose rows are missing here, in order of their files: those that were
    /// set aside and not saved whole, and those that turned out to be unreadable so far.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn damaged(&self) -> Result<Vec<DamagedSegment>, StoreError> {
        let aside = damage::all(&self.tx).map_err(self.failed())?;
        let aside = aside.iter().map(damage::QuarantinedSegment::reported);
        let noted = self.noted.borrow();
        let noted = noted.values().map(|(damaged, _)| damaged.clone());
        let all: BTreeMap<String, DamagedSegment> = aside
            .chain(noted)
            .map(|one| (one.file.clone(), one))
            .collect();
        let missing = |one: &DamagedSegment| one.lost() > 0 || one.rows == 0;
        Ok(all.into_values().filter(missing).collect())
    }

    /// Rows of coverage for everything that is damaged, as far as is known so far: what
    /// was in it is in no answer.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn missing(&self) -> Result<Vec<Coverage>, StoreError> {
        let mut rows = damage::rows(&self.tx).map_err(self.failed())?;
        rows.extend(hot::coverage(&self.tx).map_err(self.failed())?);
        rows.extend(self.store.unlisted_coverage()?);
        rows.extend(self.store.problem_row()?);
        let mut rows = self.coverage_of(rows);
        // What was saved whole is not missing.
        rows.retain(|row| row.status == Status::Failed);
        Ok(rows)
    }

    /// All kept coverage that may be seen, in order.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn coverage(&self) -> Result<Vec<Coverage>, StoreError> {
        Ok(self.coverage_of(self.store.coverage()?))
    }

    /// Compares a whole segment with its checksums. Where it is not what was written,
    /// that is noted, for [`Snapshot::coverage`], and `false`.
    ///
    /// # Errors
    /// When the system cannot read it now.
    pub fn is_whole(&self, segment: &Segment) -> Result<bool, StoreError> {
        // Object stores look after their own.
        if self.store.is_shared() {
            return Ok(true);
        }
        let compared = self
            .store
            .open_segment(segment)
            .and_then(|file| segment::compare(&file).map(|()| true));
        self.or_noted(segment, compared)
    }

    /// Whether the texts of a segment were redacted under fewer rules than now: whoever reads the file
    /// itself has to redact them.
    ///
    /// # Errors
    /// When the system cannot read it now.
    pub fn is_outdated(&self, segment: &Segment) -> Result<bool, StoreError> {
        let footer = self.store.open_segment(segment);
        let outdated = footer.and_then(|file| segment::footer(&file));
        self.or_noted(segment, outdated)
    }

    /// What was read of a segment; nothing and a note where it is damaged.
    fn or_noted<T: Default>(
        &self,
        segment: &Segment,
        read: Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        match read {
            Err(error) if error.is_unreadable() => {
                let why = damage::why(&error);
                let note = (
                    DamagedSegment::of(segment, &why, None),
                    damage::row(segment, &why, None),
                );
                self.noted.borrow_mut().insert(segment.file.clone(), note);
                Ok(T::default())
            }
            read => read,
        }
    }

    /// All kept incidents, in order of (time, id), whoever may see them.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn incidents(&self) -> Result<Vec<StoredIncident>, StoreError> {
        self.store.incidents()
    }

    /// The kept incident of an id, whoever may see it.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn incident(&self, id: &str) -> Result<Option<StoredIncident>, StoreError> {
        let found = incidents::read(&self.tx, "id = ?1", &[&id]);
        Ok(found.map_err(self.failed())?.whole.pop())
    }

    /// The verdicts on an incident that were reached one after another, the first one first,
    /// whoever may see them.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn verdicts(&self, incident: &str) -> Result<Vec<StoredVerdict>, StoreError> {
        incidents::verdicts(&self.tx, incident).map_err(self.failed())
    }

    pub(crate) fn failed(&self) -> impl FnOnce(rusqlite::Error) -> StoreError + '_ {
        StoreError::database(&self.store.db_path)
    }

    /// The live segments of a table, in order of (day, id).
    #[must_use]
    pub fn segments(&self, table: Table) -> &[Segment] {
        match table {
            Table::Events => &self.events,
            Table::Objects => &self.objects,
        }
    }

    /// Where a segment is.
    #[must_use]
    pub fn path(&self, segment: &Segment) -> PathBuf {
        segment.path(&self.store.root)
    }

    /// Whether a segment may hold any of some words, as [`segment::filter_key`] keys them.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn may_hold(&self, segment: &Segment, keys: &[i64]) -> Result<bool, StoreError> {
        let filter = self.words(segment)?;
        Ok(keys.iter().any(|key| filter.may_hold(*key)))
    }

    /// The filter of a segment's words; where the list is wrong about it, that is noted.
    fn words(&self, segment: &Segment) -> Result<Filter, StoreError> {
        let listed = segment::filter(&self.tx, self.store.origin(), segment, FilterOf::Words)?;
        if !listed.is_whole {
            let row = damage::index_row(segment, "which words are in it");
            self.doubted
                .borrow_mut()
                .entry(segment.file.clone())
                .or_insert(row);
        }
        Ok(listed.filter)
    }

    /// Fetches the filters of what touches a window, all at once, where they are kept
    /// elsewhere: [`Snapshot::may_hold`] would fetch one after the other.
    ///
    /// # Errors
    /// When they cannot be fetched.
    pub fn prefetch_filters(&self, table: Table, window: (Nanos, Nanos)) -> Result<(), StoreError> {
        let Some(keeper) = self.store.origin().keeper else {
            return Ok(());
        };
        let asked = self.segments(table).iter();
        let asked = asked.filter(|segment| segment.touches(window));
        let files: Vec<&str> = asked.map(|segment| segment.file.as_str()).collect();
        keeper
            .prefetch_filters(&files, FilterOf::Words)
            .map_err(|error| StoreError::elsewhere(table.as_str(), error))
    }

    /// All hot facts, in order of id.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn hot_facts(&self) -> Result<Vec<Fact>, StoreError> {
        let rows = hot::all::<Fact>(&self.tx).map_err(self.failed())?;
        let seen = rows
            .into_iter()
            .filter_map(|hot| hot.row.seen(&self.access_filter));
        Ok(seen.collect())
    }

    /// Rows of segments that a hot row stands in for: (segment, id).
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn replaced(&self, table: Table) -> Result<Vec<(i64, u128)>, StoreError> {
        let replaced = match table {
            Table::Events => hot::replaced::<Fact>(&self.tx),
            Table::Objects => hot::replaced::<Object>(&self.tx),
        };
        replaced.map_err(self.failed())
    }

    /// Everything that may be needed to tell what happened to what bears a name.
    /// `None` where nothing does.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn find(&self, name: &Name) -> Result<Option<ScopedRows>, StoreError> {
        scope::find(self, name)
    }

    /// All logs of which nobody says whose they are, where there are some.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn lone_logs(&self) -> Result<Option<ScopedRows>, StoreError> {
        if !catalogue::has_lone_logs(self.look()).map_err(self.failed())? {
            return Ok(None);
        }
        let found = scope::lone_logs(self, MatchTier::Workload, ALWAYS)?;
        // Beside anything else that is known, whose a tracker's files are is told by that.
        let is_log = |fact: &Fact| catalogue::lone_log(&fact.event).is_some();
        let others = || catalogue::has_others(self.look()).map_err(self.failed());
        Ok((found.facts.iter().any(is_log) || !others()?).then_some(found))
    }

    /// What each source that may be seen told on each day, in order.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn heard(&self) -> Result<Vec<Heard>, StoreError> {
        let mut all = catalogue::heard(&self.tx).map_err(self.failed())?;
        all.retain(|one| self.access_filter.permits_source(one.source.as_str()));
        Ok(all)
    }

    /// Whether a root is one still: a log may turn out to be of a run of several.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn is_root(&self, root: &Root) -> Result<bool, StoreError> {
        catalogue::is_on_top(self.look(), root).map_err(self.failed())
    }

    /// Whether anything is told of a machine of a name.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn knows_machine(&self, name: &str) -> Result<bool, StoreError> {
        let wanted = BTreeSet::from([machine(name)]);
        Ok(!self.places::<Fact>(&wanted, ALWAYS)?.is_empty())
    }

    /// Objects on top of their owner chains that lived in a window, the latest last.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn roots(&self, from: Nanos, to: Nanos) -> Result<Vec<Root>, StoreError> {
        let read = || {
            let Some(mut kept) = self.kept_roots()? else {
                return catalogue::roots(self.look(), from, to);
            };
            kept.retain(|root| root.last >= from && root.first <= to);
            Ok(kept)
        };
        read().map_err(self.failed())
    }

    /// Those of all times, where they are kept and all of them may be seen.
    fn kept_roots(&self) -> rusqlite::Result<Option<Vec<Root>>> {
        if self.is_restricted() {
            return Ok(None);
        }
        match version::of_catalogue(&self.tx)? {
            Some(catalogue) => kept_roots::read(&self.tx, catalogue),
            None => Ok(None),
        }
    }

    /// Every pod and workload there is.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn entities(&self) -> Result<Vec<Entity>, StoreError> {
        catalogue::all(self.look()).map_err(self.failed())
    }

    /// Up to five names that are nearest to what was typed.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn nearest(&self, typed: &str) -> Result<Vec<String>, StoreError> {
        Ok(rank_names(typed, self.run_names()?))
    }

    /// Names of all workloads, and values of the labels that name experiments, as far as they
    /// may be seen, in order.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn run_names(&self) -> Result<Vec<String>, StoreError> {
        catalogue::nearest(self.look()).map_err(self.failed())
    }
}

/// Any time at all.
pub(crate) const ALWAYS: (Nanos, Nanos) = (Nanos::MIN, Nanos::MAX);

/// Where a class keeps its rows.
pub(crate) fn machine(name: &str) -> SubjectKey {
    (Class::Machine, String::new(), name.to_owned())
}
