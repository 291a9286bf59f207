//! Runs the examples that every signal carries.

use std::fmt;

use serde_json::Value;
use whathappened_model::event::{Event, EventId, SourceKind};
use whathappened_model::time::Stamp;

use super::file::Example;
use super::ruleset::{Rule, Ruleset, SignalInfo};

/// What became of all examples.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckReport {
    /// How many examples and counter-examples were run.
    pub checked: usize,
    /// Those that did not come out as written.
    pub failures: Vec<Failure>,
}

/// An example that did not come out as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The file it is in.
    pub file: String,
    /// The signal.
    pub signal: String,
    /// Which one: `example 2`, `counter-example 1`.
    pub example: String,
    /// What happened instead.
    pub problem: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {}: {}: {}",
            self.file, self.signal, self.example, self.problem
        )
    }
}

impl Ruleset {
    /// Runs every example of every file.
    #[must_use]
    pub fn test(&self) -> CheckReport {
        self.test_of(&mut |_| true)
    }

    /// Runs the examples of the signals that are wanted.
    pub fn test_of(&self, wanted: &mut dyn FnMut(&SignalInfo) -> bool) -> CheckReport {
        let mut report = CheckReport::default();
        for rule in self.rules.iter().filter(|rule| wanted(&rule.info)) {
            for (number, example) in rule.examples.iter().enumerate() {
                report.add(
                    rule,
                    format!("example {}", number + 1),
                    self.misses(rule, example),
                );
            }
            for (number, example) in rule.counter_examples.iter().enumerate() {
                report.add(
                    rule,
                    format!("counter-example {}", number + 1),
                    self.claims(rule, example),
                );
            }
        }
        report
    }

    fn misses(&self, rule: &Rule, example: &Example) -> Option<String> {
        let mut event = match event(example) {
            Ok(event) => event,
            Err(problem) => return Some(problem),
        };
        self.classify(&mut event);
        if !event.signals.contains(&rule.info.name) {
            return Some(format!(
                "does not match; its signals are {:?}",
                event.signals
            ));
        }
        for (key, wanted) in &example.captures {
            let have = event.attribute(key);
            if have != Some(wanted) {
                return Some(format!("captured {key} = {have:?}, not {wanted:?}"));
            }
        }
        None
    }

    fn claims(&self, rule: &Rule, example: &Example) -> Option<String> {
        let mut event = match event(example) {
            Ok(event) => event,
            Err(problem) => return Some(problem),
        };
        self.classify(&mut event);
        event
            .signals
            .contains(&rule.info.name)
            .then(|| "matches, but must not".to_owned())
    }
}

impl CheckReport {
    fn add(&mut self, rule: &Rule, example: String, problem: Option<String>) {
        self.checked += 1;
        if let Some(problem) = problem {
            let (file, signal) = (rule.info.file.clone(), rule.info.name.clone());
            self.failures.push(Failure {
                file,
                signal,
                example,
                problem,
            });
        }
    }
}

fn event(example: &Example) -> Result<Event, String> {
    let source_kind = match &example.source_kind {
        None => SourceKind::Kubernetes,
        Some(name) => SourceKind::ALL
            .into_iter()
            .find(|kind| kind.as_str() == name)
            .ok_or_else(|| format!("there is no source_kind {name:?}"))?,
    };
    let mut event = Event::new(EventId(0), &example.fact, Stamp::exact(0), source_kind);
    event.object_kind.clone_from(&example.object);
    event.reason.clone_from(&example.reason);
    event.message.clone_from(&example.message);
    event.actor.clone_from(&example.actor);
    event.severity.clone_from(&example.severity);
    event.exit_code = example.exit_code;
    for (key, value) in &example.attributes {
        event
            .attributes
            .insert(key.clone(), Value::String(value.clone()));
    }
    Ok(event)
}
