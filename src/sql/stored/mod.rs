//! Tables over a store: facts straight from its segments, the rest from its
//! catalogue and what it keeps beside.

mod events;
mod objects;
mod pruning;
#[cfg(all(feature = "object-store", not(feature = "lake")))]
pub(super) mod remote;
mod restricted;
mod shared;
#[cfg(feature = "distributed")]
mod spread;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use datafusion::catalog::TableProvider;
use datafusion::error::Result as DataFusionResult;
use futures::future::BoxFuture;
use whathappened_core::resolve::Name;
use whathappened_model::connector::Window;
use whathappened_model::coverage::Coverage;
use whathappened_model::time::{Nanos, SECOND};
use whathappened_store::{Segment, Snapshot, Store, Table};

use super::functions::AnswerSource;
use super::links::Cases;
use super::planned::Planned;
use super::rows::{RowSource, table};
use super::{collateral, coverage, experiments, incidents, runs, tenures};
use crate::access::Access;
use crate::answer::{Answer, ListedRun};
use crate::case::{Case, Rules};
use crate::error::Error;
use crate::fetch;
use crate::report::{self, Question};

#[cfg(all(feature = "object-store", not(feature = "lake")))]
pub(super) use events::Events as EventsOf;
#[cfg(feature = "distributed")]
pub(super) use spread::{LakeRead, Lakes, Reading, Spread};

/// A store that statements are run over, as far as one caller may see it.
#[derive(Debug)]
pub struct StoredTables {
    root: PathBuf,
    rules: Arc<Rules>,
    access: Access,
    /// Its runs, where somebody has listed them.
    listed: Option<Vec<ListedRun>>,
    /// Segments that were compared with their checksums, and whether they are whole.
    compared: Mutex<BTreeMap<String, bool>>,
    /// Segments that were looked at, and whether their texts were redacted under fewer rules than now.
    outdated: Mutex<BTreeMap<String, bool>>,
    /// What is damaged, as far as statements came upon it.
    damage: Mutex<BTreeSet<Coverage>>,
    /// Its large tables are read by executors of Ballista.
    #[cfg(feature = "distributed")]
    spread: Option<Spread>,
}

impl StoredTables {
    /// The store in a folder, and the rules that explain what is in it.
    #[must_use]
    pub fn new(root: PathBuf, rules: Arc<Rules>) -> Self {
        Self {
            root,
            rules,
            access: Access::default(),
            listed: None,
            compared: Mutex::default(),
            outdated: Mutex::default(),
            damage: Mutex::default(),
            #[cfg(feature = "distributed")]
            spread: None,
        }
    }

    /// The same for statements that executors read a lake for.
    ///
    /// # Errors
    /// When the store is none.
    #[cfg(feature = "distributed")]
    pub(super) fn spread(self, timeout: std::time::Duration) -> Result<Self, Error> {
        let lake = whathappened_store::lake::of(&self.root).ok_or_else(|| {
            Error::misused(
                "Ballista works on a lake only",
                "name one with --store, such as s3://bucket/folder",
            )
        })?;
        let spread = Some(Spread { lake, timeout });
        Ok(Self { spread, ..self })
    }

    /// The same as far as a caller may see it.
    #[must_use]
    pub fn seen_by(self, access: Access) -> Self {
        Self { access, ..self }
    }

    /// The same with all of its runs, as whoever may see them lists them: statements of one moment need
    /// not do so again, which takes seconds where there are a million pods.
    #[must_use]
    pub fn with_runs(self, runs: Vec<ListedRun>) -> Self {
        Self {
            listed: Some(runs),
            ..self
        }
    }

    /// All runs, oldest first.
    pub(super) fn runs(&self) -> Result<Vec<ListedRun>, Error> {
        let mut runs = match &self.listed {
            Some(runs) => runs.clone(),
            None => self.look(|snapshot| fetch::listed(snapshot, (Nanos::MIN, Nanos::MAX)))?,
        };
        runs.reverse();
        Ok(runs)
    }

    /// Looks at the store as it is now, as far as the caller may see it. Each scan
    /// does so anew, so that a long session sees what is written meanwhile.
    pub(super) fn look<T>(
        &self,
        at: impl FnOnce(&Snapshot<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let store = Store::open_to_read(&self.root)?;
        let snapshot = store.snapshot_for(&self.access)?;
        let seen = at(&snapshot)?;
        // Rows that cannot be read are missing from every statement, whichever table it
        // names: none may pass for whole.
        let mut damage = self.damage.lock().unwrap_or_else(PoisonError::into_inner);
        damage.extend(snapshot.missing()?);
        Ok(seen)
    }

    /// Whether a segment is what was written. One that is not costs its own rows:
    /// it is left out, which is said beside the rows and in the table `coverage`.
    fn is_whole(&self, snapshot: &Snapshot<'_>, segment: &Segment) -> Result<bool, Error> {
        once(&self.compared, segment, || Ok(snapshot.is_whole(segment)?))
    }

    /// Whether the texts of a segment have to be redacted on their way out.
    fn is_outdated(&self, snapshot: &Snapshot<'_>, segment: &Segment) -> Result<bool, Error> {
        once(&self.outdated, segment, || {
            Ok(snapshot.is_outdated(segment)?)
        })
    }

    /// Compares every segment of a table.
    pub(super) fn look_at(&self, snapshot: &Snapshot<'_>, table: Table) -> Result<(), Error> {
        for segment in snapshot.segments(table) {
            self.is_whole(snapshot, segment)?;
        }
        Ok(())
    }

    /// Rows of coverage for the damage that statements came upon.
    pub(super) fn damage(&self) -> Vec<Coverage> {
        let damage = self.damage.lock().unwrap_or_else(PoisonError::into_inner);
        damage.iter().cloned().collect()
    }

    /// The folder of the store.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// The time of the latest record.
    pub(super) fn latest(&self) -> Result<Option<Nanos>, Error> {
        Ok(Store::open_to_read(&self.root)?.latest()?)
    }

    /// Names that `timeline` and `why` take.
    pub(super) fn experiments(&self) -> Result<Vec<String>, Error> {
        let roots = self.look(|snapshot| Ok(snapshot.roots(Nanos::MIN, Nanos::MAX)?))?;
        let name = |root: whathappened_store::Root| root.experiment.unwrap_or(root.name);
        Ok(roots.into_iter().map(name).collect())
    }

    async fn answer(&self, name: String) -> Result<Answer, Error> {
        let case = self.look(|snapshot| {
            let (coverage, rules) = (snapshot.coverage()?, Arc::clone(&self.rules));
            let always = Window::default();
            fetch::case(snapshot, &Name::parse(&name), always, coverage, rules)
        })?;
        let question = Question {
            name,
            ..Question::default()
        };
        report::answer(&case, &question).await
    }
}

/// What is to be known of a segment, looked at once.
fn once(
    known: &Mutex<BTreeMap<String, bool>>,
    segment: &Segment,
    look: impl FnOnce() -> Result<bool, Error>,
) -> Result<bool, Error> {
    let known = || known.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(seen) = known().get(&segment.file) {
        return Ok(*seen);
    }
    let seen = look()?;
    known().insert(segment.file.clone(), seen);
    Ok(seen)
}

/// How much of a store the tables over deaths are made of: its last day. Older runs are
/// told by `why` and `timeline` one by one.
pub const LAST_DAY: Nanos = 86_400 * SECOND;

impl Cases for StoredTables {
    fn case(&self) -> Result<Arc<Case>, Error> {
        let latest = self.latest()?.unwrap_or(Nanos::MAX);
        let window = Some((latest.saturating_sub(LAST_DAY), Nanos::MAX));
        self.look(|snapshot| {
            let (coverage, rules) = (snapshot.coverage()?, Arc::clone(&self.rules));
            Ok(Arc::new(fetch::all_of_window(
                snapshot, window, coverage, rules,
            )?))
        })
    }
}

impl AnswerSource for StoredTables {
    fn about(self: Arc<Self>, name: String) -> BoxFuture<'static, Result<Answer, Error>> {
        Box::pin(async move { self.answer(name).await })
    }
}

/// Every table, by name.
pub(super) fn tables(
    stored: &Arc<StoredTables>,
) -> DataFusionResult<Vec<(&'static str, Arc<dyn TableProvider>)>> {
    let events: Arc<dyn TableProvider> = if !stored.access.is_whole() {
        Arc::new(Planned(restricted::Events::new(stored)))
    } else if whathappened_store::lake::is_index(&stored.root) {
        // They are no files of this machine.
        Arc::new(Planned(shared::Events::new(stored)))
    } else {
        let segments = Arc::<StoredTables>::clone(stored);
        let redacting = restricted::Events::new(stored);
        Arc::new(Planned(
            events::Events::new(segments).redacted_by(redacting),
        ))
    };
    let objects: Arc<dyn TableProvider> = Arc::new(Planned(objects::Objects::new(stored)));
    #[cfg(feature = "distributed")]
    let (events, objects) = match &stored.spread {
        None => (events, objects),
        Some(spread) => {
            let table = |table| -> Arc<dyn TableProvider> {
                Arc::new(Planned(spread::LakeTable::new(stored, spread, table)))
            };
            (table(Table::Events), table(Table::Objects))
        }
    };
    Ok(vec![
        ("events", events),
        ("objects", objects),
        (
            "tenures",
            table(tenures::COLUMNS, stored, RowSource::Load(tenures::stored))?,
        ),
        (
            "experiments",
            table(
                experiments::COLUMNS,
                stored,
                RowSource::Load(experiments::stored),
            )?,
        ),
        (
            "runs",
            table(runs::COLUMNS, stored, RowSource::Load(runs::stored))?,
        ),
        (
            "coverage",
            table(coverage::COLUMNS, stored, RowSource::Load(coverage::stored))?,
        ),
        (
            "incidents",
            table(
                incidents::COLUMNS,
                stored,
                RowSource::Load(incidents::stored),
            )?,
        ),
        (
            "collateral",
            table(
                collateral::COLUMNS,
                stored,
                RowSource::Load(collateral::stored),
            )?,
        ),
    ])
}
