//! What Slurm says, to observations.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::contract::{ForeignOutput, ForeignRecord, FormatOutput, TextReader};
use crate::event::Origin;
use crate::http::{Answer, HttpError};
use crate::logs::LogSource;
use crate::observation::{Observation, Rejection};
use crate::slurm::{events, json, sacct, scontrol};

/// What was told, and how much of it was of no use.
#[derive(Debug, Default)]
pub(super) struct DecodedAnswer {
    pub(super) observations: Vec<Observation>,
    /// Records, those of no use here among them.
    pub(super) records: u64,
    pub(super) rejected: u64,
}

impl DecodedAnswer {
    pub(super) fn and(&mut self, other: Self) {
        self.observations.extend(other.observations);
        self.records += other.records;
        self.rejected += other.rejected;
    }
}

/// An answer of the REST daemon, of any version.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Page {
    #[serde(default)]
    pub(super) jobs: Vec<Map<String, Value>>,
    #[serde(default)]
    pub(super) nodes: Vec<Map<String, Value>>,
    #[serde(default)]
    errors: Vec<Value>,
}

impl Page {
    /// Takes an answer apart; one with nothing but errors is none.
    pub(super) fn of(answer: &Answer) -> Result<Self, HttpError> {
        let page: Self = answer.json()?;
        if page.jobs.is_empty() && page.nodes.is_empty() && !page.errors.is_empty() {
            return Err(HttpError::Refused {
                code: 500,
                message: crate::http::words(&answer.body),
                wait: None,
            });
        }
        Ok(page)
    }

    /// Decodes what `keep` keeps.
    pub(super) fn receive(
        &self,
        origin: &Origin,
        keep: &dyn Fn(&Map<String, Value>) -> bool,
    ) -> DecodedAnswer {
        let mut received = DecodedAnswer::default();
        let mut emitted = ForeignOutput::default();
        for fields in self.jobs.iter().chain(&self.nodes).filter(|one| keep(one)) {
            received.records += 1;
            let record = ForeignRecord {
                fields,
                within: "",
                origin,
            };
            if let Err(Rejection::Malformed(_)) = json::decode(record, &mut emitted) {
                received.rejected += 1;
            }
        }
        received.observations = emitted.observations;
        received
    }
}

/// A table that a tool prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Table {
    /// `sacct -P`
    Accounting,
    /// `scontrol -o show …`
    Control,
    /// `sacctmgr -P show event`
    NodeEvents,
}

impl Table {
    /// Decodes what a tool printed. Its times are UTC: it was told so.
    pub(super) fn receive(self, text: &[u8], place: &Arc<str>, max_line: usize) -> DecodedAnswer {
        let source = Arc::new(LogSource {
            file: Arc::clone(place),
            ..LogSource::default()
        });
        let mut reader: Box<dyn TextReader> = match self {
            Self::Accounting => Box::new(sacct::Table::new(&source, max_line)),
            Self::Control => Box::new(scontrol::Records::new(&source)),
            Self::NodeEvents => Box::new(events::Table::new(&source)),
        };
        let mut found = FormatOutput::default();
        reader.lines(text, 1, &mut found);
        reader.finish(&mut found);
        for one in &mut found.observations {
            match one {
                Observation::Event(event) => drop(event.attributes.remove("time_inferred")),
                Observation::Object(object) => drop(object.body.annotations.remove("times")),
                _ => {}
            }
        }
        DecodedAnswer {
            records: found.records,
            rejected: found.rejected.len() as u64,
            observations: found.observations,
        }
    }
}
