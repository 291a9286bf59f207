//! `expect.json`: what is right for a case.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde::de::IgnoredAny;
use whathappened_core::resolve::rank_names;

use crate::explain::{Rule, misspelt};

/// The whole file: one thing to ask, or several experiments of one recording.
#[derive(Clone, Debug)]
pub(super) enum File {
    /// Several experiments, by name.
    Many(BTreeMap<String, Experiment>),
    /// One thing.
    One(Expectation),
}

/// Several experiments of one recording.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseSet {
    experiments: BTreeMap<String, Experiment>,
    /// Where it comes from and what happened, for people.
    #[serde(default, rename = "recorded_from")]
    _recorded_from: IgnoredAny,
    #[serde(default, rename = "story")]
    _story: IgnoredAny,
}

impl File {
    /// Reads the file; what is wrong is told with its field and line.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let read = || -> serde_json::Result<Self> {
            let any: serde_json::Value = serde_json::from_str(text)?;
            if any.get("experiments").is_some() {
                serde_json::from_str(text).map(|many: CaseSet| Self::Many(many.experiments))
            } else {
                serde_json::from_str(text).map(Self::One)
            }
        };
        read().map_err(|error| {
            let why = error.to_string();
            match field_before(text, error.line(), error.column()) {
                // What is missing or unknown has a name already.
                Some(field)
                    if error.is_data()
                        && !why.starts_with("missing")
                        && !why.starts_with("unknown") =>
                {
                    format!("field `{field}`: {why}")
                }
                _ => misspelt(&why),
            }
        })
    }

    /// What is wrong with the causes that it names: one that no rule and no state of a run
    /// has, with its line and the nearest there is.
    pub(super) fn unknown_cause(&self, text: &str, rules: &[Rule]) -> Option<String> {
        const STATES: [&str; 3] = ["none.completed", "none.running", "unknown"];
        let rules = rules.iter().map(|rule| rule.cause.as_str());
        let known: BTreeSet<&str> = rules.chain(STATES).collect();
        let unknown = self.causes().find(|cause| !known.contains(cause))?;
        let quoted = format!("{unknown:?}");
        let line = text.lines().position(|line| line.contains(&quoted));
        let near = rank_names(unknown, known.iter().map(|one| (*one).to_owned()));
        let near = near
            .first()
            .map_or_else(|| ";".to_owned(), |near| format!("; did you mean {near}?"));
        Some(format!(
            "line {}: there is no cause {quoted}{near} `whathappened rules list` lists them",
            line.unwrap_or(0) + 1
        ))
    }

    /// Every cause that it names, the right ones and those that must not be named.
    fn causes(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        match self {
            Self::Many(all) => Box::new(
                all.values()
                    .flat_map(|one| one.cause.iter().chain(&one.must_not))
                    .map(String::as_str),
            ),
            Self::One(one) => Box::new(
                one.cause
                    .iter()
                    .chain(&one.also_acceptable)
                    .chain(&one.must_not)
                    .map(String::as_str),
            ),
        }
    }
}

/// The field whose value stands before a place in a JSON text.
fn field_before(text: &str, line: usize, column: usize) -> Option<&str> {
    let before: usize = text
        .split_inclusive('\n')
        .take(line.saturating_sub(1))
        .map(str::len)
        .sum();
    let head = text.get(..before + column)?;
    let (head, _) = head.rsplit_once("\":")?;
    head.rsplit_once('"').map(|(_, field)| field)
}

/// What is right for one thing.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Expectation {
    /// `kind/name` to ask for.
    pub(super) object: String,
    /// `pod`, `job`, `app`, `incident`, `record` or `cluster`.
    pub(super) level: String,
    /// Any of these is right.
    pub(super) cause: Vec<String>,
    /// These as well.
    #[serde(default)]
    pub(super) also_acceptable: Vec<String>,
    /// Naming one of these is false blame.
    #[serde(default)]
    pub(super) must_not: Vec<String>,
    /// Strings that stand in the record that proves it.
    #[serde(default)]
    pub(super) evidence: Vec<String>,
    /// Where it comes from, and why this is right, for people.
    #[serde(default, rename = "label_from")]
    _label_from: IgnoredAny,
    #[serde(default, rename = "origin")]
    _origin: IgnoredAny,
    #[serde(default, rename = "notes")]
    _notes: IgnoredAny,
}

/// What is right for one experiment of a recording. What is not there is not checked.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Experiment {
    /// Any of these is right.
    pub(super) cause: Vec<String>,
    /// Any of these names is right.
    pub(super) actor: Option<Vec<String>>,
    /// The pod that died first.
    pub(super) first_victim: Option<String>,
    /// Exactly these.
    pub(super) victims: Option<Vec<String>>,
    /// Exactly these.
    pub(super) collateral: Option<Vec<String>>,
    /// The summary names it.
    pub(super) preemptor: Option<String>,
    /// Naming one of these is false blame.
    #[serde(default)]
    pub(super) must_not: Vec<String>,
    /// What happened, for people.
    #[serde(default, rename = "story")]
    _story: IgnoredAny,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_told_with_its_field_and_line() {
        for (text, reported) in [
            (
                "{\n \"level\": \"pod\",\n \"cause\": []\n}",
                "missing field `object`",
            ),
            (
                "{\"object\": \"pod/a\",\n \"level\": \"pod\",\n \"cause\": \"x.y\"\n}",
                "field `cause`: invalid type: string \"x.y\", expected a sequence at line 3",
            ),
            ("{\"experiments\": {\n \"a\": {}}}", "missing field `cause`"),
            (
                "{\"experiments\": {\"a\": {\"cause\": [],\n \"frist_victim\": \"p\"}}}",
                "there is no field `frist_victim` at line 2 column 15; did you mean `first_victim`?",
            ),
            (
                "{\"object\": \"pod/a\",\n \"levl\": \"pod\",\n \"cause\": []\n}",
                "there is no field `levl` at line 2",
            ),
        ] {
            let error = File::parse(text).unwrap_err();
            assert!(
                error.contains(reported) && error.contains("line"),
                "{error}"
            );
        }
    }

    #[test]
    fn a_cause_that_there_is_not_is_told_with_the_nearest() {
        let rules = crate::explain::built_in().unwrap();
        let reported = |text: &str| File::parse(text).unwrap().unknown_cause(text, &rules);
        let text = "{\"experiments\": {\"a\": {\"cause\": [\"none.running\"],\n \"must_not\": [\"code.host_om\"]}}}";
        let why = reported(text).unwrap();
        assert!(
            why.starts_with(
                "line 2: there is no cause \"code.host_om\"; did you mean code.host_oom?"
            ),
            "{why}"
        );
        assert_eq!(reported(&text.replace("host_om", "host_oom")), None);
    }
}
