//! The one way to an answer.

use std::sync::{Arc, PoisonError};
use std::time::Instant;

use futures::FutureExt as _;
use futures::future::{BoxFuture, Shared};
use tokio::runtime::Handle;
use whathappened_core::resolve::Name;
use whathappened_model::connector::Window;
use whathappened_store::{Store, StoreVersion};

use super::{Service, kept, metrics, turns};
use crate::access::Access;
use crate::answer::Answer;
use crate::case::Case;
use crate::error::Error;
use crate::fetch::FetchOutcome;
use crate::report::{self, Question};
use crate::{fetch, history};

/// A question of somebody.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct CallerQuestion {
    /// What is asked.
    pub question: Question,
    /// What the caller may see.
    pub access: Access,
    /// Whether live sources are asked first; else only the store.
    pub fetch: bool,
}

/// What is told: shared, since several may have asked the same.
pub type SharedAnswer = Result<Arc<Answer>, Arc<Error>>;

/// The same with how far the store had come that it was found in, where that is known.
pub(super) type DatedAnswer = Result<(Arc<Answer>, Option<StoreVersion>), Arc<Error>>;

/// A question that is being answered.
pub(super) type PendingAnswer = Shared<BoxFuture<'static, DatedAnswer>>;

/// An answer, the store that it was found in, and about how many bytes it takes where it may be kept.
struct Found {
    answer: Answer,
    version: Option<StoreVersion>,
    bytes: Option<usize>,
}

impl Service {
    /// Answers somebody who asks through a face (`api`, `slack`). Who asks what is
    /// being answered already gets that answer, and who asks the store what was answered since
    /// it changed last gets that; an answer is found to its end even
    /// if nobody waits for it any more.
    ///
    /// # Errors
    /// As [`report::answer`], or when the store cannot be used.
    pub async fn answer(
        self: &Arc<Self>,
        face: &'static str,
        asking: CallerQuestion,
    ) -> SharedAnswer {
        let dated = self.dated_answer(face, asking).await;
        dated.map(|(answer, _)| answer)
    }

    /// The same with how far the store had come.
    pub(super) async fn dated_answer(
        self: &Arc<Self>,
        face: &'static str,
        asking: CallerQuestion,
    ) -> DatedAnswer {
        let began = Instant::now();
        let reported = match self.kept_answer(&asking).await {
            Some(kept) => Ok(kept),
            None => self.flight(asking).await,
        };
        let outcome = match &reported {
            Ok(_) => "answered",
            Err(error) => match **error {
                Error::UnknownName { .. } | Error::UnknownRun { .. } | Error::NoneLeft { .. } => {
                    "unknown_name"
                }
                Error::Usage(_) | Error::Misused { .. } | Error::NothingPiped => "not_understood",
                _ => "failed",
            },
        };
        metrics::answered(face, outcome, began);
        reported
    }

    /// How far the store has come; nothing where that is not known.
    pub(super) async fn version(self: &Arc<Self>) -> Option<StoreVersion> {
        let service = Arc::clone(self);
        let read = tokio::task::spawn_blocking(move || service.version_now()).await;
        read.ok().flatten()
    }

    fn version_now(&self) -> Option<StoreVersion> {
        let store = Store::open_to_read(&self.store).ok()?;
        store.version().ok().flatten()
    }

    /// What was found before, where live sources are not asked and the store says the same.
    async fn kept_answer(
        self: &Arc<Self>,
        asking: &CallerQuestion,
    ) -> Option<(Arc<Answer>, Option<StoreVersion>)> {
        if asking.fetch || self.kept.last(asking).is_none() {
            return None;
        }
        let version = self.version().await?;
        Some((self.kept.get(asking, version)?, Some(version)))
    }

    fn flight(self: &Arc<Self>, asking: CallerQuestion) -> PendingAnswer {
        let mut flights = self.flights.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(flight) = flights.get(&asking) {
            return flight.clone();
        }
        let (service, key) = (Arc::clone(self), asking.clone());
        let work = tokio::spawn(turns::carry(async move {
            let reported = service.find(key.clone()).await.map(|found| {
                let answer = Arc::new(found.answer);
                if let (Some(version), Some(bytes)) = (found.version, found.bytes) {
                    let kept = Arc::clone(&answer);
                    service.kept.put(key.clone(), version, kept, bytes);
                }
                (answer, found.version)
            });
            let mut flights = service.flights.lock();
            let flights = flights
                .as_mut()
                .unwrap_or_else(|poisoned| poisoned.get_mut());
            flights.remove(&key);
            reported
        }));
        let flight = work
            .map(|done| match done {
                Ok(reported) => reported.map_err(Arc::new),
                Err(panic) => Err(Arc::new(Error::Failed(format!(
                    "internal error while answering: {panic}"
                )))),
            })
            .boxed()
            .shared();
        flights.insert(asking, flight.clone());
        flight
    }

    async fn find(self: &Arc<Self>, asking: CallerQuestion) -> Result<Found, Error> {
        let live = self.fetched(&asking).await?;
        let handle = Handle::current();
        self.work(move |service| handle.block_on(service.find_here(&asking, live)))
            .await
    }

    /// What live sources say, where the question wants them asked. Whoever waits for
    /// sources holds no place of those who read the store.
    ///
    /// # Errors
    /// When nothing can bear the name, or the store cannot be written.
    pub(super) async fn fetched(
        self: &Arc<Self>,
        asking: &CallerQuestion,
    ) -> Result<Option<FetchOutcome>, Error> {
        if let Some(flaw) = Name::flaw(&asking.question.name) {
            return Err(Error::Usage(flaw.to_owned()));
        }
        if !asking.fetch {
            return Ok(None);
        }
        let Ok(_place) = self.fetches.acquire().await else {
            return Err(Error::Failed("the service is shutting down".to_owned()));
        };
        let now = (self.clock)();
        let window = Window {
            from: asking.question.since,
            to: asking.question.until,
        };
        let ask = fetch::Question {
            name: Some(Name::parse(&asking.question.name)),
            window,
            now,
            deadline: Instant::now() + self.config.kubernetes.timeout,
        };
        let (service, handle) = (Arc::clone(self), Handle::current());
        // What is said is decoded and written between waits, which must not hold up others.
        let work = move || {
            let mut store = Store::open(&service.store, service.config.limits())?;
            handle.block_on(fetch::fetch(
                &mut store,
                &service.asked,
                &ask,
                &service.rules,
            ))
        };
        match tokio::task::spawn_blocking(work).await {
            Ok(live) => live.map(Some),
            Err(panic) => Err(Error::Failed(format!(
                "internal error while querying: {panic}"
            ))),
        }
    }

    /// Does work that takes a thread of its own and memory, a few at once.
    ///
    /// # Errors
    /// Those of the work, or when it broke.
    pub(super) async fn work<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let _turn = self.turns.turn().await;
        let Ok(_place) = self.places.acquire().await else {
            return Err(Error::Failed("the service is shutting down".to_owned()));
        };
        let service = Arc::clone(self);
        // A case is read and tied without a pause, which must not hold up the others' threads.
        match tokio::task::spawn_blocking(move || work(&service)).await {
            Ok(done) => done,
            Err(panic) => Err(Error::Failed(format!(
                "internal error while answering: {panic}"
            ))),
        }
    }

    /// Answers on this thread.
    async fn find_here(
        &self,
        asking: &CallerQuestion,
        live: Option<FetchOutcome>,
    ) -> Result<Found, Error> {
        // Before anything is read: what changes meanwhile makes this answer an old one.
        let before = self.version_now();
        let case = self.case(asking, live)?;
        let mut answer = report::answer(&case, &asking.question).await?;
        self.keep(asking, &case, &answer);
        let store = Store::open_to_read(&self.store)?;
        // What this answer itself changed is the verdicts, which are read from here on.
        let after = store.version()?;
        let snapshot = store.snapshot_for(&asking.access)?;
        history::remember(&mut answer, &case, Some(&snapshot))?;
        fetch::name_incidents(&mut answer, &snapshot)?;
        self.addresses().mark(&mut answer, &asking.question);
        let version = before.zip(after).map(|(before, after)| StoreVersion {
            verdicts: after.verdicts,
            ..before
        });
        let is_keepable = version.is_some() && !asking.fetch;
        let bytes = is_keepable.then(|| kept::size(&answer, self.kept.most()));
        Ok(Found {
            answer,
            version,
            bytes: bytes.flatten(),
        })
    }

    /// Keeps the incidents for those who ask later, as the command line does: of a question
    /// about whole runs by somebody who may see everything.
    fn keep(&self, asking: &CallerQuestion, case: &Case, answer: &Answer) {
        let whole = Question {
            name: asking.question.name.clone(),
            ..Question::default()
        };
        if asking.access != Access::default() || asking.question != whole {
            return;
        }
        let stored = Store::open(&self.store, self.config.limits())
            .map_err(Error::from)
            .and_then(|mut store| fetch::store_incidents(&mut store, case, answer, (self.clock)()));
        if let Err(error) = stored {
            tracing::warn!("the incidents could not be stored: {error}");
        }
    }

    /// The case of what is asked, as far as the caller may see it, after live sources
    /// were asked ([`Service::fetched`]) where they are wanted. Reads and ties
    /// without a pause: for a thread of its own.
    ///
    /// # Errors
    /// When nothing that the caller may see bears the name, or the store cannot be used.
    pub(super) fn case(
        &self,
        asking: &CallerQuestion,
        live: Option<FetchOutcome>,
    ) -> Result<Case, Error> {
        let now = (self.clock)();
        let name = Name::parse(&asking.question.name);
        let store = Store::open_to_read(&self.store)?;
        // What a collector missed is missing whoever is asked now.
        let mut coverage = match &live {
            Some(live) => live.coverage.clone(),
            None => Vec::new(),
        };
        if live.is_none() || self.asked.followed {
            coverage.extend(store.coverage()?);
        }
        let snapshot = store.snapshot_for(&asking.access)?;
        let window = Window {
            from: asking.question.since,
            to: asking.question.until.or(asking.question.at),
        };
        let mut case = fetch::case(&snapshot, &name, window, coverage, Arc::clone(&self.rules))?;
        drop(snapshot);
        if live.is_some_and(|live| live.clusters > 0) {
            case.graph.now = Some(now);
        }
        Ok(case)
    }
}
