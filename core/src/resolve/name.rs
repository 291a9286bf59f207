//! What a person may type: `kind/[namespace/]name`, a bare name, or `*`.

use std::fmt;

use super::tier::LABELS;

/// Short words for kinds, as kubectl has them.
const ALIASES: &[(&str, &str)] = &[
    ("cj", "CronJob"),
    ("deploy", "Deployment"),
    ("ds", "DaemonSet"),
    ("ns", "Namespace"),
    ("lws", "LeaderWorkerSet"),
    ("po", "Pod"),
    ("rc", "ReplicationController"),
    ("rs", "ReplicaSet"),
    ("sts", "StatefulSet"),
    ("slurm", "SlurmJob"),
    ("vcjob", "VolcanoJob"),
    ("vj", "VolcanoJob"),
    ("vjob", "VolcanoJob"),
    ("vm", "Instance"),
    ("wf", "Workflow"),
];

/// Characters of a kind, a namespace and a name together, and room to spare.
const LONGEST: usize = 512;

/// A parsed name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The kind asked for, as written or the kind an alias stands for.
    pub kind: Option<String>,
    /// The namespace asked for.
    pub namespace: Option<String>,
    /// The name, possibly with `*` in it.
    pub name: String,
}

impl fmt::Display for Name {
    /// As it can be typed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for word in self.kind.iter().chain(&self.namespace) {
            write!(f, "{word}/")?;
        }
        f.write_str(&self.name)
    }
}

impl Name {
    /// Parses what was typed.
    #[must_use]
    pub fn parse(typed: &str) -> Self {
        let typed = typed.trim();
        // A label as kubectl takes it: `experiment=NAME`.
        if let Some((label, name)) = typed.split_once('=')
            && LABELS.contains(&label)
            && !name.is_empty()
        {
            return Self {
                kind: None,
                namespace: None,
                name: name.to_owned(),
            };
        }
        let parts: Vec<&str> = typed.split('/').collect();
        let kind = |word: &str| {
            // kubectl prints the group as well: `jobs.batch`.
            let word = word.split_once('.').map_or(word, |(kind, _)| kind);
            let alias = ALIASES
                .iter()
                .find(|(alias, _)| *alias == word.to_lowercase());
            alias.map_or_else(|| word.to_owned(), |(_, kind)| (*kind).to_owned())
        };
        match parts.as_slice() {
            [first, name] if !first.is_empty() && !name.is_empty() => Self {
                kind: Some(kind(first)),
                namespace: None,
                name: (*name).to_owned(),
            },
            [first, namespace, name] if !first.is_empty() && !name.is_empty() => Self {
                kind: Some(kind(first)),
                namespace: Some((*namespace).to_owned()).filter(|namespace| !namespace.is_empty()),
                name: (*name).to_owned(),
            },
            _ => Self {
                kind: None,
                namespace: None,
                name: typed.to_owned(),
            },
        }
    }

    /// The same words read as `namespace/name`, as tables of runs show them.
    #[must_use]
    pub fn in_namespace(&self) -> Option<Self> {
        match (&self.kind, &self.namespace) {
            (Some(namespace), None) => Some(Self {
                kind: None,
                namespace: Some(namespace.clone()),
                name: self.name.clone(),
            }),
            _ => None,
        }
    }

    /// Why a text can be the name of nothing, where that is so: sources need not be asked.
    #[must_use]
    pub fn flaw(typed: &str) -> Option<&'static str> {
        if typed.trim().is_empty() {
            Some("the name is empty")
        } else if typed.chars().any(char::is_control) {
            Some("no name holds control characters")
        } else if typed.chars().count() > LONGEST {
            Some("no name is longer than 512 characters")
        } else {
            None
        }
    }

    /// Whether everything is asked for.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        self.kind.is_none() && self.name == "*"
    }

    /// Whether a kind is the one asked for. Plurals and any case are fine.
    #[must_use]
    pub fn is_kind(&self, kind: &str) -> bool {
        let Some(asked) = &self.kind else { return true };
        asked.eq_ignore_ascii_case(kind)
            || (matches!(kind, "SlurmJob" | "VolcanoJob") && asked.eq_ignore_ascii_case("job"))
            || asked
                .strip_suffix(['s', 'S'])
                .is_some_and(|one| one.eq_ignore_ascii_case(kind))
    }

    /// Whether a cloud's id is the one asked for. Case differs between sources.
    #[must_use]
    pub fn is_id(&self, id: &str) -> bool {
        glob(&self.name.to_lowercase(), &id.to_lowercase())
    }

    /// Whether a name is the one asked for.
    #[must_use]
    pub fn is(&self, name: &str) -> bool {
        glob(&self.name, name)
    }
}

/// Matches `*` against any run of characters.
fn glob(pattern: &str, text: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else {
        return pattern == text;
    };
    let Some(mut text) = text.strip_prefix(head) else {
        return false;
    };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let Some(last) = parts.pop() else { return true };
    for part in parts {
        let Some(at) = text.find(part) else {
            return false;
        };
        text = &text[at + part.len()..];
    }
    text.len() >= last.len() && text.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_no_name_is_told() {
        for (typed, flawed) in [
            ("llm-1", false),
            ("job/research/llm-1", false),
            ("", true),
            (" ", true),
            ("\0", true),
            ("a\nb", true),
            (&*"a".repeat(513), true),
        ] {
            assert_eq!(Name::flaw(typed).is_some(), flawed, "{typed:?}");
        }
    }

    #[test]
    fn a_label_that_names_experiments_may_stand_before_the_name() {
        let name = |typed| Name::parse(typed).to_string();
        assert_eq!(name("experiment=gpt2"), "gpt2");
        assert_eq!(name("jobset.sigs.k8s.io/jobset-name=gpt2"), "gpt2");
        for other in ["tier=front", "experiment="] {
            assert_eq!(name(other), other);
        }
    }

    #[test]
    fn kinds_may_be_short_plural_and_in_any_case() {
        for typed in ["po/x", "pod/x", "Pods/x", "pod/ns/x"] {
            assert!(Name::parse(typed).is_kind("Pod"), "{typed}");
        }
        assert_eq!(Name::parse("pod/ns/x").namespace.as_deref(), Some("ns"));
        assert!(Name::parse("plain").is_kind("Anything"));
    }

    #[test]
    fn stars_match_any_run() {
        assert!(glob("a*c", "abc") && glob("a*", "a") && glob("*", "") && glob("a*b*c", "a1b2bc"));
        assert!(!glob("a*c", "ab") && !glob("ab*ba", "aba"));
    }
}
