//! Slack: how it is reached, and what is shown where.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, SeqAccess, Visitor};

use crate::access::Access;

/// Slack: how it is reached, and what is shown where. The environment goes before
/// the file.
#[derive(Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Slack {
    /// Whether it is served; it is where a secret or token is there.
    pub enabled: Option<bool>,
    /// `SLACK_SIGNING_SECRET`, for requests over HTTP.
    pub signing_secret: Option<String>,
    /// `SLACK_BOT_TOKEN`, to write.
    pub bot_token: Option<String>,
    /// `SLACK_APP_TOKEN`, for Socket Mode.
    pub app_token: Option<String>,
    /// `SLACK_API_URL`: Slack's Web API, where it is not `https://slack.com/api/`.
    pub api_url: Option<String>,
    /// What is shown where nothing else is said.
    pub default: NamespaceScope,
    /// What is shown in a channel, by its id.
    pub channels: BTreeMap<String, NamespaceScope>,
    /// What a person may ask about, by their id.
    pub users: BTreeMap<String, NamespaceScope>,
    /// What is done in channels that people of other firms are in.
    pub shared_channels: SharedChannels,
    /// The address of a page about a name, which stands in it as `{name}`.
    pub page: Option<String>,
    /// Whether a question also asks live sources, not the store alone.
    pub fetch: Option<bool>,
    /// Seconds between two looks at what channels subscribed to.
    pub look_every_s: Option<u64>,
}

// Some of the values are secret.
impl fmt::Debug for Slack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slack")
            .field("enabled", &self.enabled)
            .field("default", &self.default)
            .field("channels", &self.channels)
            .field("users", &self.users)
            .field("shared_channels", &self.shared_channels)
            .finish_non_exhaustive()
    }
}

/// Namespaces that may be seen: `"none"`, `"all"`, or a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum NamespaceScope {
    /// Nothing.
    #[default]
    Nothing,
    /// Everything.
    All,
    /// These namespaces.
    Namespaces(BTreeSet<String>),
}

/// What is done in channels that people of other firms are in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SharedChannels {
    /// Nothing is told.
    #[default]
    Refuse,
    /// Causes are told, without a name of anything.
    Redact,
    /// They are channels like others.
    Answer,
}

impl NamespaceScope {
    /// What both may see.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::Nothing, _) | (_, Self::Nothing) => Self::Nothing,
            (Self::All, both) | (both, Self::All) => both.clone(),
            (Self::Namespaces(one), Self::Namespaces(other)) => {
                let both: BTreeSet<String> = one.intersection(other).cloned().collect();
                if both.is_empty() {
                    return Self::Nothing;
                }
                Self::Namespaces(both)
            }
        }
    }

    /// As what a question may see; none where it may see nothing.
    #[must_use]
    pub fn access(&self) -> Option<Access> {
        match self {
            Self::Nothing => None,
            Self::All => Some(Access::default()),
            Self::Namespaces(names) => Some(Access {
                namespaces: Some(names.clone()),
                sources: None,
            }),
        }
    }
}

impl<'de> Deserialize<'de> for NamespaceScope {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Words;

        impl<'de> Visitor<'de> for Words {
            type Value = NamespaceScope;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("\"all\", \"none\" or a list of namespaces")
            }

            fn visit_str<E: serde::de::Error>(self, word: &str) -> Result<NamespaceScope, E> {
                match word {
                    "all" => Ok(NamespaceScope::All),
                    "none" => Ok(NamespaceScope::Nothing),
                    other => Err(E::custom(format!(
                        "{other:?} is neither \"all\" nor \"none\"; write [{other:?}] for a namespace"
                    ))),
                }
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<NamespaceScope, A::Error> {
                let mut names = BTreeSet::new();
                while let Some(name) = seq.next_element::<String>()? {
                    if name.is_empty() {
                        return Err(A::Error::custom("a namespace has no name"));
                    }
                    names.insert(name);
                }
                Ok(if names.is_empty() {
                    NamespaceScope::Nothing
                } else {
                    NamespaceScope::Namespaces(names)
                })
            }
        }

        from.deserialize_any(Words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reach(text: &str) -> Result<NamespaceScope, toml::de::Error> {
        let slack: Slack = toml::from_str(&format!("default = {text}"))?;
        Ok(slack.default)
    }

    #[test]
    fn reach_is_a_word_or_a_list() {
        let names = |names: &[&str]| {
            NamespaceScope::Namespaces(names.iter().map(|name| (*name).to_owned()).collect())
        };
        assert_eq!(reach("\"all\"").unwrap(), NamespaceScope::All);
        assert_eq!(reach("\"none\"").unwrap(), NamespaceScope::Nothing);
        assert_eq!(reach("[]").unwrap(), NamespaceScope::Nothing);
        assert_eq!(reach("['b', 'a']").unwrap(), names(&["a", "b"]));
        assert!(
            reach("'team-a'")
                .unwrap_err()
                .to_string()
                .contains("[\"team-a\"]")
        );
        assert_eq!(Slack::default().default, NamespaceScope::Nothing);
        assert_eq!(names(&["a", "b"]).and(&names(&["b", "c"])), names(&["b"]));
        assert_eq!(names(&["a"]).and(&names(&["c"])), NamespaceScope::Nothing);
        assert_eq!(names(&["a"]).and(&NamespaceScope::All), names(&["a"]));
        assert_eq!(
            NamespaceScope::All.and(&NamespaceScope::Nothing),
            NamespaceScope::Nothing
        );
        assert_eq!(NamespaceScope::Nothing.access(), None);
        assert_eq!(NamespaceScope::All.access(), Some(Access::default()));
    }

    #[test]
    fn secrets_are_not_shown() {
        let slack: Slack = toml::from_str("bot_token = 'xoxb-1'\nsigning_secret = 's3'").unwrap();
        let shown = format!("{slack:?}");
        assert!(!shown.contains("xoxb") && !shown.contains("s3"), "{shown}");
    }
}
