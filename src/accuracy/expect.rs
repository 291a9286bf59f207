//! `expect.json`: what is right for a case.

use std::collections::BTreeMap;

use serde::Deserialize;

/// The whole file: one thing to ask, or several experiments of one recording.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum File {
    /// Several experiments, by name.
    Many {
        experiments: BTreeMap<String, Experiment>,
    },
    /// One thing.
    One(One),
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
