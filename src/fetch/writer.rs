//! Takes in what sources say: classified, and straight into the store.

use std::sync::{Mutex, PoisonError};

use whathappened_core::signals::Ruleset;
use whathappened_model::observation::Observation;
use whathappened_model::redact;
use whathappened_model::sink::Sink;
use whathappened_model::time::Nanos;
use whathappened_store::{BulkImport, Store, StoreError};

use crate::error::Error;

/// What several sources write to at once.
pub(super) struct StoreWriter<'a> {
    state: Mutex<State<'a>>,
    signals: &'a Ruleset,
}

struct State<'a> {
    bulk: BulkImport<'a>,
    failed: Option<StoreError>,
}

impl<'a> StoreWriter<'a> {
    pub(super) fn new(store: &'a mut Store, signals: &'a Ruleset, now: Nanos) -> Self {
        let state = State {
            bulk: store.bulk(now),
            failed: None,
        };
        Self {
            state: Mutex::new(state),
            signals,
        }
    }

    /// One source's way in.
    pub(super) fn hand(&self) -> SourceSink<'_, 'a> {
        SourceSink(self)
    }

    /// Writes the rest; says how many facts and versions are new.
    pub(super) fn finish(self) -> Result<u64, Error> {
        let state = self.state.into_inner();
        let mut state = state.unwrap_or_else(PoisonError::into_inner);
        match state.failed {
            Some(error) => Err(error.into()),
            None => Ok(state.bulk.flush()?.new),
        }
    }
}

/// One source's way in. What the store holds does not depend on who comes first.
pub(super) struct SourceSink<'k, 'a>(&'k StoreWriter<'a>);

impl Sink for SourceSink<'_, '_> {
    fn observe(&mut self, mut observations: Vec<Observation>) {
        for observation in &mut observations {
            redact::observation(observation);
            if let Observation::Event(event) = observation {
                self.0.signals.classify(event);
            }
        }
        let mut state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        for observation in observations {
            if state.failed.is_none() {
                state.failed = state.bulk.push(observation).err();
            }
        }
    }
}
