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

mod ask;
pub mod audit;
mod callers;
pub mod listen;
pub mod slack;

pub use ask::{Asking, Told};
pub use callers::{Caller, Callers};

/// Questions that are worked on at once; others wait. Each holds a case in memory.
const AT_ONCE: usize = 4;

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
    places: Semaphore,
    flights: Mutex<HashMap<Asking, ask::Flight>>,
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
            callers: Callers::default(),
            audit: Audit::of(&store),
            config,
            rules,
            store,
            clock,
            asked,
            places: Semaphore::new(AT_ONCE),
            flights: Mutex::default(),
        }
    }
    /// The same with those who may ask over HTTP; without, nobody may.
    #[must_use]
    pub fn for_callers(self, callers: Callers) -> Self {
        Self { callers, ..self }
    }
}
