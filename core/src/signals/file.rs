//! The file format, as written.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::error::SignalError;
use super::values::{AnyOf, ExitCodes};

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    #[serde(default)]
    pub(super) signal: Vec<Signal>,
    #[serde(default)]
    pub(super) actor: Vec<ActorClass>,
}

/// A kind of actor; the first whose patterns match is an actor's class.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ActorClass {
    pub(super) name: String,
    pub(super) title: String,
    #[serde(default)]
    pub(super) user: AnyOf,
    #[serde(default)]
    pub(super) user_agent: AnyOf,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Signal {
    pub(super) name: String,
    pub(super) title: String,
    /// What it tells of began up to this many seconds before its own time.
    #[serde(default)]
    pub(super) reported_within_s: u32,
    #[serde(default)]
    pub(super) when: Vec<When>,
    #[serde(default)]
    pub(super) example: Vec<Example>,
    #[serde(default)]
    pub(super) counter_example: Vec<Example>,
}

/// Conditions that must all hold; a field left out always holds.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct When {
    pub(super) fact: AnyOf,
    pub(super) object: Option<AnyOf>,
    pub(super) reason: Option<AnyOf>,
    pub(super) reason_match: Option<String>,
    pub(super) message: Option<AnyOf>,
    pub(super) message_not: Option<AnyOf>,
    pub(super) actor: Option<AnyOf>,
    pub(super) actor_class: Option<AnyOf>,
    pub(super) severity: Option<AnyOf>,
    pub(super) exit_code: Option<ExitCodes>,
    pub(super) source_kind: Option<AnyOf>,
    #[serde(default)]
    pub(super) attributes: BTreeMap<String, AnyOf>,
    #[serde(default)]
    pub(super) attributes_not: BTreeMap<String, AnyOf>,
    #[serde(default)]
    pub(super) attributes_match: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) absent: AnyOf,
}

/// The fields of a minimal event.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Example {
    pub(super) fact: String,
    pub(super) object: Option<String>,
    pub(super) reason: Option<String>,
    pub(super) message: Option<String>,
    pub(super) actor: Option<String>,
    pub(super) severity: Option<String>,
    pub(super) exit_code: Option<i32>,
    pub(super) source_kind: Option<String>,
    #[serde(default)]
    pub(super) attributes: BTreeMap<String, String>,
    /// Attributes that the event must have after classification.
    #[serde(default)]
    pub(super) captures: BTreeMap<String, String>,
    /// In a signal for every kind of actor: which one this is an example of.
    pub(super) as_actor: Option<String>,
}

pub(super) fn parse(name: &str, text: &str) -> Result<File, SignalError> {
    toml::from_str(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start.min(text.len()));
        let before = text.get(..at).unwrap_or(text);
        let rule = before.lines().rev().find_map(|line| {
            let value = line
                .trim_start()
                .strip_prefix("name")?
                .trim_start()
                .strip_prefix('=')?;
            Some(value.trim().trim_matches(['"', '\'']).to_owned())
        });
        SignalError::Syntax {
            file: name.to_owned(),
            line: before.matches('\n').count() + 1,
            rule,
            problem: error.message().to_owned(),
        }
    })
}
