//! What damaged inputs are given to.

use std::collections::BTreeMap;

use whathappened_connectors::log_store::look_for;
use whathappened_connectors::recording::{self, Bytes, Input, Options};
use whathappened_core::evidence::Evidence;
use whathappened_core::graph::EntityGraph;
use whathappened_core::lifecycle::ends;
use whathappened_core::resolve::runs;
use whathappened_core::signals::Ruleset;
use whathappened_model::observation::Observation;
use whathappened_model::redact::redact;
use whathappened_model::sink::Sink;
use whathappened_slack::{Command, EventRequest, Interaction, Wording};

/// How many inputs were read as what.
pub(crate) type Counts = BTreeMap<String, u64>;

/// An input, under the name of the recording that it was.
#[derive(Clone, Debug)]
pub(crate) struct Damaged<'c> {
    pub(crate) name: &'c str,
    pub(crate) bytes: Vec<u8>,
}

/// Everything that reads what others wrote.
#[derive(Debug)]
pub(crate) struct Targets {
    signals: Ruleset,
    options: Options,
}

struct Taker<'a> {
    evidence: Evidence,
    signals: &'a Ruleset,
    counts: &'a mut Counts,
}

impl Sink for Taker<'_> {
    fn observe(&mut self, observations: Vec<Observation>) {
        for observation in observations {
            let what = match &observation {
                Observation::Event(event) => event.source_kind.as_str(),
                Observation::Object(_) => "objects",
                Observation::EventGrew { .. } => "updates",
            };
            count(self.counts, &["told: ", what]);
            // A full disk is no finding.
            let _full = self.evidence.observe(observation, self.signals);
        }
    }
}

fn count(counts: &mut Counts, what: &[&str]) {
    let what = what.concat();
    *counts.entry(what).or_default() += 1;
}

impl Targets {
    pub(crate) fn new() -> Result<Self, String> {
        let signals = Ruleset::built_in().map_err(|error| error.to_string())?;
        look_for(signals.machine_words(), signals.program_words())?;
        let options = Options {
            workers: 1,
            ..Options::default()
        };
        Ok(Self { signals, options })
    }

    /// Reads inputs with all that may get such a thing, as the files of one folder. What
    /// they tell is tied together where that is asked for: it takes longer than reading.
    pub(crate) fn read(&self, inputs: &[Damaged<'_>], is_tied: bool, counts: &mut Counts) {
        let mut files = Vec::with_capacity(inputs.len());
        for input in inputs {
            if input.name.starts_with("slack/") {
                slack(&input.bytes);
                count(counts, &["slack"]);
            }
            let _redacted = redact(&String::from_utf8_lossy(&input.bytes));
            count(counts, &["redaction"]);
            let bytes = Bytes::copy_from_slice(&input.bytes);
            files.push(Input::Bytes(input.name.into(), bytes));
        }
        let mut taker = Taker {
            evidence: Evidence::default(),
            signals: &self.signals,
            counts,
        };
        let summary = recording::read(&files, &self.options, &mut taker);
        let evidence = taker.evidence;
        for file in &summary.files {
            count(counts, &["read as ", file.form.as_str()]);
        }
        // Times, names and numbers are used there.
        if is_tied && let Ok(graph) = EntityGraph::build(evidence, &self.signals) {
            let ends = ends(&graph);
            let _runs = runs(&graph, &ends);
            count(counts, &["graphs"]);
        }
    }
}

fn slack(bytes: &[u8]) {
    // What cannot be read is refused; that is told, and no finding.
    let _refused = Command::from_form(bytes);
    let _refused = EventRequest::from_body(bytes);
    let _refused = Interaction::from_form(bytes);
    let _words = Wording::new(&String::from_utf8_lossy(bytes)).after_mention(Some("U0"));
}
