//! The examples beside cause rules: what each rule must find and what it must
//! leave alone, as records that the API would write.

use serde::Deserialize;
use serde_json::Value;
use whathappened_connectors::recording::read_yaml;

mod template;

use super::misspelt::misspelt;
use crate::answer::Level;

// `EXAMPLES`: name and text of each `.yaml` file in `queries/causes/`.
include!(concat!(env!("OUT_DIR"), "/examples.rs"));

/// A file of examples that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{file}: {why}")]
pub struct ExamplesError {
    /// The file.
    pub file: String,
    /// What is wrong.
    pub why: String,
}

/// All examples of one file.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Examples {
    /// The rule's cause must lead the answer.
    #[serde(default)]
    pub fires: Vec<Example>,
    /// The rule's cause must not be in the answer.
    #[serde(default)]
    pub silent: Vec<Example>,
}

/// Some records, a question, and what the answer must be.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Example {
    /// What it shows, in a few words.
    pub name: String,
    /// Why the answer is right.
    pub why: String,
    /// What is asked for, such as `job/run-1`.
    pub ask: String,
    /// The level that the rule reaches; only where it fires.
    pub level: Option<String>,
    /// Who did it; only where it fires.
    pub actor: Option<String>,
    /// The pod that died first; only where it fires.
    pub first_victim: Option<String>,
    /// The cause that leads instead; only where it is silent.
    pub cause: Option<String>,
    /// Objects, Events, watch lines and audit records; jobs and pods from their templates.
    pub input: Vec<Value>,
    /// Container logs.
    #[serde(default)]
    pub logs: Vec<Log>,
    /// Logs of machines.
    #[serde(default)]
    pub hosts: Vec<HostLog>,
}

/// The log of one machine.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostLog {
    /// Its name.
    pub host: String,
    /// Its lines as syslog writes them, each with time and host in front.
    pub lines: Vec<String>,
}

/// The log of one container.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Log {
    /// Its namespace.
    pub namespace: String,
    /// Its pod.
    pub pod: String,
    /// Its container.
    pub container: String,
    /// Its lines, each with its time in front.
    pub lines: Vec<String>,
}

/// The built-in files and some more, by (name, text) in order of names. A file
/// of a built-in's name replaces it.
#[must_use]
pub fn files(more: impl IntoIterator<Item = (String, String)>) -> Vec<(String, String)> {
    let built_in = EXAMPLES
        .iter()
        .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
    let mut files: std::collections::BTreeMap<String, String> = built_in.collect();
    files.extend(more);
    files.into_iter().collect()
}

impl Examples {
    /// Parses a file.
    ///
    /// # Errors
    /// Says what is wrong with it.
    pub fn parse(file: &str, text: &str) -> Result<Self, ExamplesError> {
        let fail = |why: String| ExamplesError {
            file: file.to_owned(),
            why,
        };
        let mut found: Self = read_yaml(text).map_err(|why| fail(misspelt(&why)))?;
        for (list, fires) in [(&mut found.fires, true), (&mut found.silent, false)] {
            for example in list {
                let checked = example.check(fires).and_then(|()| example.expand());
                checked.map_err(|why| fail(format!("{}: {why}", example.name)))?;
            }
        }
        Ok(found)
    }

    /// Every example, and whether the rule must fire.
    pub fn all(&self) -> impl Iterator<Item = (&Example, bool)> {
        let fires = self.fires.iter().map(|example| (example, true));
        fires.chain(self.silent.iter().map(|example| (example, false)))
    }
}

impl Example {
    /// Puts the whole objects where the input has templates.
    fn expand(&mut self) -> Result<(), String> {
        for (number, item) in (1..).zip(&mut self.input) {
            let record = template::expand(item.take());
            *item = record.map_err(|why| format!("input {number}: {why}"))?;
        }
        Ok(())
    }

    /// What is expected must fit the list it stands in.
    fn check(&self, fires: bool) -> Result<(), String> {
        let level = self.level.as_deref();
        if fires {
            if level.and_then(Level::parse).is_none() {
                return Err("level is missing; write established, supported or hypothesis".into());
            }
            if self.cause.is_some() {
                return Err("cause is the file's own where the rule fires; leave it out".into());
            }
        } else if level.is_some() || self.actor.is_some() || self.first_victim.is_some() {
            return Err("only cause can be expected where the rule is silent".into());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "fires:\n  - {name: one, why: w, ask: job/a, level: supported, input: [{kind: Pod}]}\nsilent: []\n";

    #[test]
    fn files_are_read_and_mistakes_named() {
        let found = Examples::parse("a.yaml", GOOD).unwrap();
        assert_eq!(found.all().count(), 1);
        let cases = [
            (
                GOOD.replace("supported", "sure"),
                "a.yaml: one: level is missing",
            ),
            (
                GOOD.replace("why: w", "what: w"),
                "a.yaml: there is no field `what` at line 2",
            ),
            (
                GOOD.replace("{kind: Pod}", "{kind: Pod}, {job: {nam: a}}"),
                "a.yaml: one: input 2: job: there is no field `nam`; did you mean `name`?",
            ),
        ];
        for (text, wanted) in cases {
            let error = Examples::parse("a.yaml", &text).unwrap_err().to_string();
            assert!(error.starts_with(wanted), "{error}");
        }
        let broken = GOOD.replace("silent: []", "silent: [");
        let error = Examples::parse("a.yaml", &broken).unwrap_err().to_string();
        assert!(
            error.starts_with("a.yaml: ") && error.contains(" line "),
            "{error}"
        );
    }
}
