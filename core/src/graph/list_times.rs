//! Until when lists of objects were read: all rows of a list are of one moment, so that each still was as it shows at the latest
//! time that any of them tells.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use whathappened_model::event::SourceKind;
use whathappened_model::time::{Nanos, Stamp};

use crate::evidence::{Objects, Version};

/// The latest time that any row of a list tells, by the list's file and its kind of object.
#[derive(Default)]
pub(super) struct ListTimes<'a>(HashMap<(&'a str, &'a str), Nanos>);

impl<'a> ListTimes<'a> {
    pub(super) fn of(objects: &'a Objects) -> Self {
        let mut rows: BTreeMap<(&str, &str), BTreeSet<u64>> = BTreeMap::new();
        let mut found = HashMap::new();
        // Two files that were read under one name, as a store keeps those of two days, are no list, nor is a
        // stream of versions: rows stand at lines of their own, and each object once.
        let mut several = BTreeSet::new();
        for (key, versions) in objects.iter() {
            let mut lists = BTreeSet::new();
            for version in versions.iter().filter(|version| is_row(version)) {
                let list = (&*version.origin.file, key.kind.as_str());
                let is_new = rows.entry(list).or_default().insert(version.origin.line);
                if !is_new || !lists.insert(list) {
                    several.insert(list);
                }
                let at = version.at.map_or(Nanos::MIN, |at| at.lo);
                let latest = found.entry(list).or_insert(at);
                *latest = at.max(*latest);
            }
        }
        found.retain(|list, _| !several.contains(list));
        Self(found)
    }

    /// When an object was known last not to be asked to go, by its last version in a list.
    pub(super) fn unasked(&self, kind: &str, versions: &[Version]) -> Option<Nanos> {
        let rows = versions.iter().filter(|version| is_row(version));
        let last = rows.max_by_key(|version| (version.revision, version.at))?;
        let unasked = last.body.deletion_requested.is_none() && !last.deleted;
        let read = self.0.get(&(&*last.origin.file, kind));
        read.copied().filter(|_| unasked)
    }
}

fn is_row(version: &Version) -> bool {
    let is_read = version.source_kind == SourceKind::Kubernetes && !version.origin.file.is_empty();
    is_read && version.at.is_some_and(|at| at != Stamp::OPEN)
}
