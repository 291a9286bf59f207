//! The file format, as written.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::actor_kind::ActorKind;
use super::error::{SignalError, did_you_mean};
use super::values::{AnyOf, ExitCodes};

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    #[serde(default)]
    pub(super) signal: Vec<Signal>,
    #[serde(default)]
    pub(super) actor: Vec<ActorClass>,
    #[serde(default)]
    pub(super) family: Vec<Family>,
    /// By `log.line` and `node.log`: words of lines that count whether a signal knows them or not.
    #[serde(default)]
    pub(super) words: BTreeMap<String, Vec<String>>,
}

/// What holds for all signals whose names go on from this one.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Family {
    pub(super) name: String,
    pub(super) state_ends: Option<Vec<String>>,
    pub(super) lane: Option<String>,
    pub(super) enforced_by: Option<Enforcer>,
    pub(super) quoted_as_info: Option<bool>,
}

/// Who does what a signal says without being asked.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Enforcer {
    /// Its name: `kubelet`.
    pub name: String,
    /// What it is.
    #[serde(deserialize_with = "super::actor_kind::in_file")]
    pub kind: ActorKind,
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
    /// It begins a state: how the names of signals begin that end it.
    pub(super) state_ends: Option<Vec<String>>,
    /// What several depend on whose trouble this is, in words.
    pub(super) shared: Option<String>,
    /// Such troubles are alike only where they name one target.
    #[serde(default)]
    pub(super) shared_by_target: bool,
    /// Where it stands in a machine's history.
    pub(super) lane: Option<String>,
    /// It alone says little.
    #[serde(default)]
    pub(super) weak: bool,
    /// Who enforces it, where no record names anyone.
    pub(super) enforced_by: Option<Enforcer>,
    /// A program that writes it at the level of information did not die of it.
    pub(super) quoted_as_info: Option<bool>,
    /// A pod cannot start for it.
    pub(super) keeps_from_starting: Option<bool>,
    /// What became of a cloud instance.
    pub(super) instance: Option<String>,
    /// The classes that it is of.
    #[serde(default)]
    pub(super) is: Vec<String>,
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
    /// The texts one of which a line must hold, instead of the literals of the patterns.
    pub(super) words: Option<Vec<String>>,
    pub(super) object: Option<AnyOf>,
    pub(super) reason: Option<AnyOf>,
    pub(super) reason_match: Option<String>,
    pub(super) reason_not: Option<AnyOf>,
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
    pub(super) attributes_unlike: BTreeMap<String, String>,
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
            problem: nearest(error.message()),
        }
    })
}

/// An unknown field with the known one that is most like it, instead of with all of them.
fn nearest(message: &str) -> String {
    let mut quoted = message.split('`').skip(1).step_by(2);
    let Some(unknown) = quoted
        .next()
        .filter(|_| message.starts_with("unknown field"))
    else {
        return message.to_owned();
    };
    match did_you_mean(unknown, quoted) {
        near if near.is_empty() => message.to_owned(),
        near => format!("unknown field `{unknown}`{near}"),
    }
}
