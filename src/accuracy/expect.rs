//! `expect.json`: what is right for a case.

use std::collections::BTreeMap;

use serde::Deserialize;

/// The whole file: one thing to ask, or several experiments of one recording.
#[derive(Clone, Debug)]
pub(super) enum File {
    /// Several experiments, by name.
    Many(BTreeMap<String, Experiment>),
    /// One thing.
    One(One),
}

/// Several experiments of one recording.
#[derive(Deserialize)]
struct Many {
    experiments: BTreeMap<String, Experiment>,
}

impl File {
    /// Reads the file; what is wrong is told with its field and line.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let read = || -> serde_json::Result<Self> {
            let any: serde_json::Value = serde_json::from_str(text)?;
            if any.get("experiments").is_some() {
                serde_json::from_str(text).map(|Many { experiments }| Self::Many(experiments))
            } else {
                serde_json::from_str(text).map(Self::One)
            }
        };
        read().map_err(
            |error| match field_before(text, error.line(), error.column()) {
                // What is missing has a name already.
                Some(field) if error.is_data() && !error.to_string().starts_with("missing") => {
                    format!("field `{field}`: {error}")
                }
                _ => error.to_string(),
            },
        )
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
pub(super) struct One {
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
}

/// What is right for one experiment of a recording. What is not there is not checked.
#[derive(Clone, Debug, Default, Deserialize)]
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_told_with_its_field_and_line() {
        for (text, told) in [
            (
                "{\n \"level\": \"pod\",\n \"cause\": []\n}",
                "missing field `object`",
            ),
            (
                "{\"object\": \"pod/a\",\n \"level\": \"pod\",\n \"cause\": \"x.y\"\n}",
                "field `cause`: invalid type: string \"x.y\", expected a sequence at line 3",
            ),
            ("{\"experiments\": {\n \"a\": {}}}", "missing field `cause`"),
        ] {
            let error = File::parse(text).unwrap_err();
            assert!(error.contains(told) && error.contains("line"), "{error}");
        }
    }
}
