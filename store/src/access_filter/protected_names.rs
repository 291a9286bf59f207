//! Names of what others own, to be found in texts and hidden there.

mod from_catalogue;

use std::collections::HashSet;
use std::ops::Range;

use super::mentions::{self, HidePolicy};
use super::name_finder::{NameFinder, parts};
use super::readings::readings;
use super::{public_names, workload_names};

/// What stands where a name was.
pub(super) const HIDDEN: &str = "[hidden]";

/// Letters of the longest word that may hold a name of the caller's own.
const LONGEST: usize = 512;

/// Who owns which names.
#[derive(Debug, Default)]
pub(super) struct ProtectedNames {
    /// Names and uids of the caller's own.
    own: HashSet<String>,
    /// Those of others.
    others: HashSet<String>,
    /// Names of machines, which belong to nobody.
    machines: HashSet<String>,
    /// Names and ids of instances that are no machines under nodes but members
    /// of experiments.
    members: HashSet<String>,
    /// All words of others that are nobody else's.
    all: NameFinder,
    /// What may not stand in a text of the caller's own: names of others' pods,
    /// their uids, and names of others' namespaces.
    foreign: NameFinder,
    /// Names of others' workloads and experiments, in lower case.
    workloads: HashSet<String>,
    /// Those of them that tell whose they are wherever they stand.
    distinctive: NameFinder,
    /// Namespaces of others that the catalogue knows, in lower case.
    namespaces: HashSet<String>,
    /// The caller's own, in lower case.
    permitted: HashSet<String>,
}

impl HidePolicy for ProtectedNames {
    fn is_foreign(&self, namespace: &str) -> bool {
        !self.permitted.contains(namespace) && !public_names::is_public(namespace)
    }

    fn is_known(&self, namespace: &str) -> bool {
        self.namespaces.contains(namespace)
    }

    fn is_workload(&self, name: &str) -> bool {
        self.workloads.contains(name)
    }

    fn is_own(&self, name: &str) -> bool {
        self.own.contains(name)
    }
}

impl ProtectedNames {
    /// Whether a record that names no namespace is about the caller's own, by
    /// the uid of its pod, else by a name that nobody else bears.
    pub(super) fn is_own(&self, uid: Option<&str>, name: Option<&str>) -> bool {
        let own = |word: &str| self.own.contains(word) && !self.others.contains(word);
        match (uid, name) {
            (Some(uid), _) if own(uid) => true,
            (Some(uid), _) if self.others.contains(uid) => false,
            (_, Some(name)) => own(name),
            _ => false,
        }
    }

    /// Whether an instance is a member of an experiment of others.
    pub(super) fn is_member(&self, name: &str) -> bool {
        self.members.contains(name)
    }

    /// A text without any name of others; `None` where it has none.
    pub(super) fn hide_all(&self, text: &str) -> Option<String> {
        self.hide(text, &|lower| self.all.ranges(lower))
    }

    /// A text without what is found in it, however it is read.
    fn hide(&self, text: &str, find: &dyn Fn(&str) -> Vec<Range<usize>>) -> Option<String> {
        let mut ranges = Vec::new();
        for (begin, piece) in pieces(text) {
            for reading in readings(piece) {
                let mut found = find(&reading.lower);
                found.retain(|place| !self.is_within_own(&reading.lower, place));
                let places = found.iter().map(|place| reading.place(place));
                ranges.extend(places.map(|place| begin + place.start..begin + place.end));
            }
        }
        cover(text, ranges)
    }

    /// Whether what was found is a part of a name of the caller's own, or of a machine's.
    fn is_within_own(&self, lower: &str, place: &Range<usize>) -> bool {
        let goes_on = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '.');
        let (before, behind) = (&lower[..place.start], &lower[place.end..]);
        let start = before.trim_end_matches(goes_on).len();
        let end = lower.len() - behind.trim_start_matches(goes_on).len();
        let token = &lower[start..end];
        if token.len() == place.len() || token.len() > LONGEST {
            return false;
        }
        let parts: Vec<Range<usize>> = parts(token)
            .into_iter()
            .map(|part| start + part.start..start + part.end)
            .collect();
        let begins = parts.iter().filter(|part| part.start <= place.start);
        begins.into_iter().any(|first| {
            let ends = parts.iter().filter(|part| part.end >= place.end);
            ends.into_iter().any(|last| {
                let is_longer = last.end - first.start > place.len();
                let name = &lower[first.start..last.end];
                is_longer && (self.own.contains(name) || self.machines.contains(name))
            })
        })
    }

    /// What a record says of a machine, without any name of others, also of those that
    /// no catalogue knows; `None` where it has none.
    pub(super) fn hide_in_machine_text(&self, text: &str) -> Option<String> {
        self.hide(text, &|lower| {
            let mut ranges = self.all.ranges(lower);
            ranges.extend(mentions::find(lower, self));
            ranges
        })
    }

    /// A text of the caller's own without the names of others' pods, workloads and
    /// namespaces; `None` where it has none.
    pub(super) fn hide_foreign(&self, text: &str) -> Option<String> {
        self.hide(text, &|lower| {
            let mut ranges = self.foreign.ranges(lower);
            let distinctive = self.distinctive.ranges(lower).into_iter();
            ranges.extend(distinctive.filter(|place| workload_names::stands(lower, place)));
            ranges.extend(mentions::find(lower, self));
            ranges
        })
    }

    /// Whether a value under a name is the name of a namespace of others.
    pub(super) fn is_foreign_namespace(&self, key: &str, value: &str) -> bool {
        // `ns/name`; a job of another scheduler has none.
        if matches!(key, "preemptor" | "other_pod")
            && let Some((namespace, _)) = value.split_once('/')
        {
            return namespace != "slurm" && self.is_foreign(&namespace.to_ascii_lowercase());
        }
        let is_key = key.to_ascii_lowercase().ends_with("namespace");
        is_key
            && !value.is_empty()
            && value != HIDDEN
            && self.is_foreign(&value.to_ascii_lowercase())
    }

    /// Hides every name of others in a text.
    pub(super) fn hide_in(&self, text: &mut String) {
        if let Some(hidden) = self.hide_all(text) {
            *text = hidden;
        }
    }
}

/// A text in pieces that overlap by more than a name and what is told of it, each with
/// where it begins: what a long one is decoded into is much longer than itself.
fn pieces(text: &str) -> impl Iterator<Item = (usize, &str)> {
    const PIECE: usize = 256 << 10;
    const OVERLAP: usize = 2 << 10;
    let mut begin = Some(0);
    std::iter::from_fn(move || {
        let from = begin?;
        let to = text.ceil_char_boundary(from + PIECE + OVERLAP);
        let next = text.ceil_char_boundary(from + PIECE);
        begin = Some(next).filter(|_| to < text.len());
        Some((from, &text[from..to]))
    })
}

/// A text with some ranges of it hidden; those that overlap are hidden as one.
pub(super) fn cover(text: &str, mut ranges: Vec<Range<usize>>) -> Option<String> {
    if ranges.is_empty() {
        return None;
    }
    ranges.sort_unstable_by_key(|range| (range.start, range.end));
    let mut hidden = String::with_capacity(text.len());
    let mut reported = 0;
    for range in ranges {
        if range.start >= reported {
            hidden.push_str(&text[reported..range.start]);
            hidden.push_str(HIDDEN);
        }
        reported = reported.max(range.end);
    }
    hidden.push_str(&text[reported..]);
    Some(hidden)
}

#[cfg(test)]
mod tests;
