//! What damaged inputs are given to.

use whathappened_connectors::log_store::look_for;
use whathappened_connectors::recording::{self, Input, Options};
use whathappened_core::evidence::Evidence;
use whathappened_core::graph::EntityGraph;
use whathappened_core::lifecycle::ends;
use whathappened_core::resolve::runs;
use whathappened_core::signals::Ruleset;
use whathappened_model::observation::Observation;
use whathappened_model::redact::redact;
use whathappened_model::sink::Sink;
use whathappened_slack::{Command, EventRequest, Interaction, Wording};

/// Everything that reads what others wrote.
#[derive(Debug)]
pub(crate) struct Targets {
    signals: Ruleset,
    options: Options,
}

struct Taker<'a> {
    evidence: Evidence,
    signals: &'a Ruleset,
}

impl Sink for Taker<'_> {
    fn observe(&mut self, observations: Vec<Observation>) {
        for observation in observations {
            // A full disk is no finding.
            let _full = self.evidence.observe(observation, self.signals);
        }
    }
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

    /// Reads an input with all that may get such a thing.
    pub(crate) fn read(&self, name: &str, bytes: &[u8]) {
        if name.starts_with("slack/") {
            slack(bytes);
        }
        let _redacted = redact(&String::from_utf8_lossy(bytes));
        let mut taker = Taker {
            evidence: Evidence::default(),
            signals: &self.signals,
        };
        let input = Input::Bytes(name.into(), recording::Bytes::copy_from_slice(bytes));
        recording::read(&[input], &self.options, &mut taker);
        // What was read is tied together: times, names and numbers are used there.
        if let Ok(graph) = EntityGraph::build(taker.evidence, &self.signals) {
            let ends = ends(&graph);
            let _runs = runs(&graph, &ends);
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
