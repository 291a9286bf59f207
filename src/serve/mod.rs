//! The service: keeps collecting, and answers where people already are.
//!
//! All faces share one [`Service`], and [`Service::answer`] is the one way to
//! an answer, so that all say the same and none shows more than it may.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use axum::http::StatusCode;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use whathappened_model::connector::Clock;

use self::api::Problem;
use self::audit::Audit;
use self::kept::Kept;
use self::own_places::OwnPlaces;
use self::statement::StatementPlaces;
use self::turns::Turns;
use self::unsent::Unsent;
use crate::answer::Answer;
use crate::case::Rules;
use crate::config::{Config, Serve};
use crate::error::Error;
use crate::fetch::FetchTargets;

mod addresses;
mod answering;
pub mod api;
pub mod audit;
mod body;
mod callers;
pub mod collect;
mod connections;
mod kept;
pub mod listen;
mod metrics;
mod own_places;
mod pages;
pub mod slack;
pub(crate) mod statement;
pub mod syslog;
mod turns;
mod unsent;
pub mod webhooks;
mod wires;

pub use answering::{CallerQuestion, SharedAnswer};
pub use callers::{Caller, Callers};
use collect::{CollectorStatus, Intake};
pub use pages::{Pages, Secrets};
use webhooks::Hooks;
pub use wires::Wires;

/// Whether people can sign in with the identity provider of a configuration, where there is one.
///
/// # Errors
/// When it cannot be asked, or is not the one that the configuration names.
pub async fn check_provider(serve: &Serve) -> Result<(), Error> {
    let Some(oidc) = &serve.oidc else {
        return Ok(());
    };
    pages::check_provider(oidc).await.map_err(|why| {
        Error::misused(
            format!("[serve.oidc]: signing in with the identity provider does not work: {why}"),
            "issuer is the provider's address exactly as its tokens write it, and this machine must be able to reach it",
        )
    })
}

/// Questions that are worked on at once; others wait. Each holds a case in memory.
const AT_ONCE: usize = 4;
/// Questions that live sources are asked for at once; others wait, and hold up nobody
/// who asks the store alone.
const FETCHES: usize = 16;

/// Bytes of answers that are kept until the store is another.
const KEPT: usize = 64 << 20;

/// What takes in what is pushed, and how the sources are doing.
#[derive(Debug)]
pub struct CollectorHandle {
    /// The way into the store.
    pub intake: Intake,
    /// How the sources are doing.
    pub collector_status: Arc<CollectorStatus>,
    /// What may be pushed, and by whom.
    pub hooks: Hooks,
}

/// What all faces share.
pub struct Service {
    /// The configuration.
    pub config: Config,
    /// What explains.
    pub rules: Arc<Rules>,
    /// The folder of the store.
    pub store: PathBuf,
    /// The present.
    pub clock: Clock,
    /// Who is asked when somebody asks.
    pub asked: FetchTargets,
    /// Who may ask over HTTP.
    pub callers: Callers,
    /// Who asked what.
    pub audit: Audit,
    /// What takes in and keeps, where something does.
    pub collecting: Option<CollectorHandle>,
    /// What the pages share.
    pub pages: Pages,
    doors: RequestLimits,
    places: Semaphore,
    turns: Turns,
    unsent: Unsent,
    fetches: Semaphore,
    statements: StatementPlaces,
    flights: Mutex<HashMap<CallerQuestion, answering::PendingAnswer>>,
    kept: Kept<CallerQuestion, Arc<Answer>>,
}

/// Requests that are under way at once; more are sent away. Who pushes does not
/// stand in the way of who asks.
struct RequestLimits {
    pushing: Arc<Semaphore>,
    asking: Arc<Semaphore>,
    /// Of those who ask, each caller's own.
    of_callers: OwnPlaces,
}

impl RequestLimits {
    fn of(at_once: usize) -> Self {
        let places = || Arc::new(Semaphore::new(at_once));
        Self {
            pushing: places(),
            asking: places(),
            of_callers: OwnPlaces::half_of(at_once),
        }
    }

    /// Whom the next request would be sent away with, if anybody.
    fn full(&self) -> Option<&'static str> {
        if self.asking.available_permits() == 0 {
            return Some(
                "the maximum number of questions is in progress; further ones are refused",
            );
        }
        let none = self.pushing.available_permits() == 0;
        none.then_some(
            "the maximum number of pushed bodies is in progress; further ones are refused",
        )
    }
}

impl std::fmt::Debug for Service {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Service")
            .field("store", &self.store)
            .field("asked", &self.asked)
            .finish_non_exhaustive()
    }
}

impl Service {
    /// A service over a store that is there.
    #[must_use]
    pub fn new(
        config: Config,
        rules: Arc<Rules>,
        store: PathBuf,
        asked: FetchTargets,
        clock: Clock,
    ) -> Self {
        Self {
            doors: RequestLimits::of(config.serve.limits.at_once),
            statements: StatementPlaces::of(config.serve.sql.at_once),
            callers: Callers::default(),
            audit: Audit::of(&store),
            config,
            rules,
            store,
            clock,
            asked,
            collecting: None,
            pages: Pages::default(),
            places: Semaphore::new(AT_ONCE),
            turns: Turns::of(AT_ONCE),
            unsent: Unsent::default(),
            fetches: Semaphore::new(FETCHES),
            flights: Mutex::default(),
            kept: Kept::in_bytes(KEPT),
        }
    }

    /// A place among those of a caller's own, for one request. Where no callers are configured, all are one.
    fn place_of(&self, caller: &str) -> Result<Option<OwnedSemaphorePermit>, Problem> {
        if self.callers.is_open() {
            return Ok(None);
        }
        let place = self.doors.of_callers.of(caller).try_acquire_owned();
        place.map(Some).map_err(|_| {
            let status = StatusCode::SERVICE_UNAVAILABLE;
            Problem::new(
                status,
                format!("too many requests of {caller} are in progress"),
            )
            .hint("wait for some of them, then try again")
        })
    }

    /// The same with those who may ask over HTTP; without, nobody may.
    #[must_use]
    pub fn for_callers(self, callers: Callers) -> Self {
        Self { callers, ..self }
    }
}
