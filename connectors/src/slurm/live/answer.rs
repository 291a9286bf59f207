//! What Slurm says, to observations.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::event::Origin;
use crate::http::{Answer, Trouble};
use crate::logs::LogSource;
use crate::observation::{Observation, Rejection};
use crate::recording::{ForeignRecord, Found, TextReader, Told};
use crate::slurm::{happened, json, sacct, scontrol};

/// What was told, and how much of it was of no use.
#[derive(Debug, Default)]
pub(super) struct Heard {
    pub(super) observations: Vec<Observation>,
    /// Records, those of no use here among them.
    pub(super) records: u64,
    pub(super) rejected: u64,
}

impl Heard {
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
    pub(super) fn of(answer: &Answer) -> Result<Self, Trouble> {
        let page: Self = answer.json()?;
        if page.jobs.is_empty() && page.nodes.is_empty() && !page.errors.is_empty() {
            return Err(Trouble::Refused {
                code: 500,
                message: crate::http::words(&answer.body),
                wait: None,
            });
        }
        Ok(page)
    }

    /// Decodes what `keep` keeps.
    pub(super) fn hear(
        &self,
        origin: &Origin,
        keep: &dyn Fn(&Map<String, Value>) -> bool,
    ) -> Heard {
        let mut heard = Heard::default();
        let mut told = Told::default();
        for fields in self.jobs.iter().chain(&self.nodes).filter(|one| keep(one)) {
            heard.records += 1;
            let record = ForeignRecord {
                fields,
                within: "",
                origin,
            };
            if let Err(Rejection::Malformed(_)) = json::decode(record, &mut told) {
                heard.rejected += 1;
            }
        }
        heard.observations = told.observations;
        heard
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
    pub(super) fn hear(self, text: &[u8], place: &Arc<str>, max_line: usize) -> Heard {
        let source = Arc::new(LogSource {
            file: Arc::clone(place),
            ..LogSource::default()
        });
        let mut reader: Box<dyn TextReader> = match self {
            Self::Accounting => Box::new(sacct::Table::new(&source, max_line)),
            Self::Control => Box::new(scontrol::Records::new(&source)),
            Self::NodeEvents => Box::new(happened::Table::new(&source)),
        };
        let mut found = Found::default();
        reader.lines(text, 1, &mut found);
        reader.finish(&mut found);
        for one in &mut found.observations {
            if let Observation::Event(event) = one {
                event.attributes.remove("time_inferred");
            }
        }
        Heard {
            records: found.records,
            rejected: found.rejected.len() as u64,
            observations: found.observations,
        }
    }
}
