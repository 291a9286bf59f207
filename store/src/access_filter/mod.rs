//! What of the store one caller may see: the one place that rows pass on
//! their way out.
//!
//! Rows of the caller's namespaces pass whole, but for names of others in their
//! texts. Machines belong to nobody: what is told of them passes without the
//! original record and without what it says of other people's pods. Everything
//! else is not there.

mod mention_words;
mod mentions;
mod name_finder;
mod protected_names;
mod public_names;
mod readings;
mod rows;
mod workload_names;

use rusqlite::Connection;
use whathappened_model::coverage::Coverage;

use crate::access::Access;
use crate::catalogue::{Entity, TAGGED};
use protected_names::ProtectedNames;
use rows::in_own;
pub(crate) use rows::in_value;

/// Kinds of the catalogue that belong to no namespace of Kubernetes; an instance
/// keeps its account where others have a namespace.
const OUTSIDE: [&str; 7] = [
    "Experiment",
    "Gang",
    "Instance",
    "InstanceGroup",
    "Log",
    "SlurmJob",
    TAGGED,
];

/// What of the store one caller may see.
#[derive(Debug)]
pub(crate) struct AccessFilter {
    access: Access,
    /// Known where namespaces are restricted.
    words: Option<ProtectedNames>,
}

impl AccessFilter {
    pub(crate) fn new(db: &Connection, access: &Access) -> rusqlite::Result<Self> {
        let words = match &access.namespaces {
            Some(_) => Some(ProtectedNames::read(db, access)?),
            None => None,
        };
        Ok(Self {
            access: access.clone(),
            words,
        })
    }

    pub(crate) fn is_whole(&self) -> bool {
        self.access.is_whole()
    }

    pub(crate) fn permits_namespace(&self, namespace: &str) -> bool {
        self.access.permits_namespace(namespace)
    }

    pub(crate) fn permits_every_source(&self) -> bool {
        self.access.sources.is_none()
    }

    pub(crate) fn permits_source(&self, source: &str) -> bool {
        self.access.permits_source(source)
    }

    /// Whether a machine of this name may be named: it is under a node, not a
    /// member of an experiment of others.
    pub(crate) fn permits_machine(&self, name: &str) -> bool {
        let words = self.words.as_ref();
        words.is_none_or(|words| !words.is_member(name))
    }

    /// Whether a pod or workload of the catalogue may be seen.
    pub(crate) fn entity(&self, one: &Entity) -> bool {
        may_see(&self.access, &one.kind, &one.namespace)
    }

    /// A text of no owner without the names of what others own.
    pub(crate) fn text(&self, text: &str) -> Option<String> {
        self.words.as_ref()?.hide_in_machine_text(text)
    }

    /// A value of the caller's own without what names a pod or a namespace of others.
    pub(crate) fn hide_in_own(&self, value: &mut serde_json::Value) {
        if let Some(words) = &self.words {
            in_own("", value, words);
        }
    }

    /// A row of what a source could show, if it may be seen.
    pub(crate) fn coverage(&self, mut row: Coverage) -> Option<Coverage> {
        if !self.access.permits_source(&row.source) {
            return None;
        }
        if let Some(namespace) = &row.namespace
            && !self.permits_namespace(namespace)
        {
            return None;
        }
        if let Some(words) = &self.words {
            for text in [&mut row.detail, &mut row.would_have_shown]
                .into_iter()
                .flatten()
            {
                words.hide_in(text);
            }
        }
        Some(row)
    }
}

fn may_see(access: &Access, kind: &str, namespace: &str) -> bool {
    access.namespaces.is_none() || (!OUTSIDE.contains(&kind) && access.permits_namespace(namespace))
}
