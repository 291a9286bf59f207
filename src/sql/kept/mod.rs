//! Tables over a store: facts straight from its segments, the rest from its
//! catalogue and what it keeps beside.

mod events;
mod objects;
#[cfg(feature = "object-store")]
pub(super) mod remote;
mod words;

use std::path::PathBuf;
use std::sync::Arc;

use datafusion::catalog::TableProvider;
use datafusion::error::Result as DataFusionResult;
use futures::future::BoxFuture;
use whathappened_connectors::time::Nanos;
use whathappened_core::resolve::Name;
use whathappened_store::Store;

use super::functions::Asked;
use super::rows::{Fill, table};
use super::{collateral, coverage, experiments, incidents, runs, tenures};
use crate::answer::Answer;
use crate::assemble::{self, Question};
use crate::case::Rules;
use crate::error::Error;
use crate::gather;

#[cfg(feature = "object-store")]
pub(super) use events::Events as EventsOf;

/// A store that statements are run over.
#[derive(Debug)]
pub struct Kept {
    root: PathBuf,
    rules: Arc<Rules>,
}

impl Kept {
    /// The store in a folder, and the rules that explain what is in it.
    #[must_use]
    pub fn new(root: PathBuf, rules: Arc<Rules>) -> Self {
        Self { root, rules }
    }

    /// The store as it is now. Each scan opens it anew, so that a long session
    /// sees what is written meanwhile.
    pub(super) fn open(&self) -> Result<Store, Error> {
        Ok(Store::open_to_read(&self.root)?)
    }

    /// Names that `timeline` and `why` take.
    pub(super) fn experiments(&self) -> Result<Vec<String>, Error> {
        let roots = self.open()?.snapshot()?.roots(Nanos::MIN, Nanos::MAX)?;
        let name = |root: whathappened_store::Root| root.experiment.unwrap_or(root.name);
        Ok(roots.into_iter().map(name).collect())
    }

    async fn answer(&self, name: String) -> Result<Answer, Error> {
        let case = {
            let store = self.open()?;
            let parsed = Name::parse(&name);
            let coverage = store.coverage()?;
            let snapshot = store.snapshot()?;
            let rules = Arc::clone(&self.rules);
            match gather::case_of(&snapshot, &parsed, coverage, rules)? {
                Some(case) => case,
                None => {
                    return Err(Error::UnknownName {
                        nearest: snapshot.nearest(&parsed.name)?,
                        name,
                    });
                }
            }
        };
        let question = Question {
            name,
            ..Question::default()
        };
        assemble::answer(&case, &question).await
    }
}

impl Asked for Kept {
    fn about(self: Arc<Self>, name: String) -> BoxFuture<'static, Result<Answer, Error>> {
        Box::pin(async move { self.answer(name).await })
    }
}

/// Every table, by name.
pub(super) fn tables(
    kept: &Arc<Kept>,
) -> DataFusionResult<Vec<(&'static str, Arc<dyn TableProvider>)>> {
    Ok(vec![
        (
            "events",
            Arc::new(events::Events::new(Arc::<Kept>::clone(kept))),
        ),
        ("objects", Arc::new(objects::Objects::new(kept))),
        (
            "tenures",
            table(tenures::COLUMNS, kept, Fill::Load(tenures::kept))?,
        ),
        (
            "experiments",
            table(experiments::COLUMNS, kept, Fill::Load(experiments::kept))?,
        ),
        ("runs", table(runs::COLUMNS, kept, Fill::Load(runs::kept))?),
        (
            "coverage",
            table(coverage::COLUMNS, kept, Fill::Load(coverage::kept))?,
        ),
        (
            "incidents",
            table(incidents::COLUMNS, kept, Fill::Load(incidents::kept))?,
        ),
        (
            "collateral",
            table(collateral::COLUMNS, kept, Fill::Load(collateral::kept))?,
        ),
    ])
}
