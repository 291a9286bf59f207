//! The service: keeps collecting, and answers where people already are.
//!
//! All faces share one [`Service`], and [`Service::answer`] is the one way to
//! an answer, so that all say the same and none shows more than it may.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use tokio::sync::Semaphore;
use whathappened_connectors::connector::Clock;

use self::audit::Audit;
use crate::case::Rules;
use crate::config::Config;
use crate::gather::Asked;

pub mod api;
mod ask;
pub mod audit;
mod callers;
pub mod collect;
mod connections;
mod front;
pub mod listen;
mod metrics;
pub mod slack;
pub(crate) mod statement;
pub mod syslog;
pub mod webhooks;

pub use ask::{Asking, Told};
pub use callers::{Caller, Callers};
use collect::{Board, Intake};
use webhooks::Hooks;

/// Questions that are worked on at once; others wait. Each holds a case in memory.
const AT_ONCE: usize = 4;
/// Questions that live sources are asked for at once; others wait, and hold up nobody
/// who asks the store alone.
const FETCHES: usize = 16;

/// What takes in what is pushed, and how the sources are doing.
#[derive(Debug)]
pub struct Collecting {
    /// The way into the store.
    pub intake: Intake,
    /// How the sources are doing.
    pub board: Arc<Board>,
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
    pub asked: Asked,
    /// Who may ask over HTTP.
    pub callers: Callers,
    /// Who asked what.
    pub audit: Audit,
    /// What takes in and keeps, where something does.
    pub collecting: Option<Collecting>,
    doors: Doors,
    places: Semaphore,
    fetches: Semaphore,
    statements: Semaphore,
    flights: Mutex<HashMap<Asking, ask::Flight>>,
}

/// Requests that are under way at once; more are sent away. Who pushes does not
/// stand in the way of who asks.
struct Doors {
    pushing: Arc<Semaphore>,
    asking: Arc<Semaphore>,
}

impl Doors {
    fn of(at_once: usize) -> Self {
        let places = || Arc::new(Semaphore::new(at_once));
        Self {
            pushing: places(),
            asking: places(),
        }
    }

    /// Whom the next request would be sent away with, if anybody.
    fn full(&self) -> Option<&'static str> {
        if self.asking.available_permits() == 0 {
            return Some("as many questions as may be are under way; more are sent away");
        }
        let none = self.pushing.available_permits() == 0;
        none.then_some("as many pushed bodies as may be are under way; more are sent away")
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
        asked: Asked,
        clock: Clock,
    ) -> Self {
        Self {
            doors: Doors::of(config.serve.limits.at_once),
            statements: Semaphore::new(config.serve.sql.at_once.max(1)),
            callers: Callers::default(),
            audit: Audit::of(&store),
            config,
            rules,
            store,
            clock,
            asked,
            collecting: None,
            places: Semaphore::new(AT_ONCE),
            fetches: Semaphore::new(FETCHES),
            flights: Mutex::default(),
        }
    }
    /// The same with those who may ask over HTTP; without, nobody may.
    #[must_use]
    pub fn for_callers(self, callers: Callers) -> Self {
        Self { callers, ..self }
    }
}
