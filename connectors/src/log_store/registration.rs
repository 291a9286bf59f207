//! What the folder of a log store says of itself; all that others know of a store.

use std::fmt;
use std::sync::Arc;

use futures::future::BoxFuture;

use super::contract::LogStore;
use crate::connector::Clock;
use crate::contract::{AnswerFormat, ForeignDecoder, LabelNames, Table};
use crate::http::{HttpError, Secret};

/// What the environment and the configuration say of one store.
pub trait Settings: Sync {
    /// The source's name in coverage rows.
    fn name(&self) -> &str;

    /// The value of a variable.
    fn get(&self, variable: &str) -> Option<String>;

    /// A list separated by commas.
    fn list(&self, variable: &str) -> Vec<String>;

    /// The names of labels that the store is known for, after those of one's own.
    ///
    /// # Errors
    /// Where names are given for what is no entity.
    fn labels(&self, known: LabelNames) -> Result<LabelNames, HttpError>;

    /// Headers that gateways ask for.
    fn headers(&self) -> Vec<(String, Secret)>;
}

/// A store that was opened, or why it was not.
pub type Opened = Result<Arc<dyn LogStore>, HttpError>;

/// A log store: how it is opened, configured and recognised in files.
pub struct Registration {
    /// The product's name as it writes itself.
    pub product: &'static str,
    /// Variables without any of which the environment alone configures no such store: one of each group.
    pub needed: &'static [&'static [&'static str]],
    /// Opens what is configured.
    pub open: for<'s> fn(&'s dyn Settings, Clock) -> BoxFuture<'s, Opened>,
    /// The key that a first configuration sets, and its variable.
    pub key: (&'static str, &'static str),
    /// Its commented section in a new configuration file.
    pub sample: &'static str,
    /// The names under which its files tell whose line it is.
    pub(crate) names: fn() -> LabelNames,
    /// Records of its answers and exports.
    pub(crate) decoders: &'static [ForeignDecoder],
    /// Tables that it exports.
    pub(crate) tables: &'static [Table],
    /// Its answers that are taken apart while they are read.
    pub(crate) answer: Option<&'static AnswerFormat>,
}

impl fmt::Debug for Registration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registration")
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}
