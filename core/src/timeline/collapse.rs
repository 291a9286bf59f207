//! What a timeline leaves out: lines that say the same as others, and that all is as it was.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use hashbrown::HashTable;
use whathappened_model::event::EventId;

use super::Entry;

/// That a machine is ready is told every few seconds; only that it is again is news.
pub(super) fn without_calm(entries: &mut Vec<Entry>, wanted: &BTreeSet<EventId>) {
    let mut unwell: BTreeSet<String> = BTreeSet::new();
    entries.retain(|entry| match entry.ready {
        Some(false) => {
            unwell.insert(entry.entity.clone());
            true
        }
        Some(true) => unwell.remove(&entry.entity) || entry.is_one_of(wanted),
        None => true,
    });
}

/// Neighbours that say the same of the same entity become one line; what a chain cites
/// only joins what it cites as well. The lines take the places of the first entries.
pub(super) fn collapse(entries: &mut Vec<Entry>, wanted: &BTreeSet<EventId>) {
    let mut lines = 0;
    // Places of the last line of each kind: names and texts are in the lines.
    let mut last_of: HashTable<usize> = HashTable::new();
    for at in 0..entries.len() {
        let (before, rest) = entries.split_at_mut(at);
        let Some(entry) = rest.first_mut() else { break };
        let hash = hash_of(entry);
        let says_so = |line: &usize| before.get(*line).is_some_and(|line| is_alike(line, entry));
        let known = last_of.find(hash, says_so).copied();
        let is_cited = entry.is_one_of(wanted);
        if let Some(line) = known.and_then(|line| before.get_mut(line))
            && (!is_cited || line.is_one_of(wanted))
        {
            line.count += entry.count;
            line.end = line.end.max(entry.end).max(Some(entry.time.lo));
            line.ids.append(&mut entry.ids);
            line.seen_by.append(&mut entry.seen_by);
            line.seen_by.sort_unstable();
            line.seen_by.dedup();
            continue;
        }
        entries.swap(lines, at);
        match last_of.find_mut(hash, |line| Some(*line) == known) {
            Some(last) => *last = lines,
            None => {
                let hash_of = |line: &usize| entries.get(*line).map_or(0, hash_of);
                last_of.insert_unique(hash, lines, hash_of);
            }
        }
        lines += 1;
    }
    entries.truncate(lines);
}

/// Whether two entries say the same of the same thing.
fn is_alike(one: &Entry, other: &Entry) -> bool {
    one.entity == other.entity && sense(one) == sense(other)
}

fn hash_of(entry: &Entry) -> u64 {
    let mut hasher = DefaultHasher::new();
    (&entry.entity, sense(entry)).hash(&mut hasher);
    hasher.finish()
}

/// What a line says without the names that its maker made up: each attempt to create a
/// pod names another one.
fn sense(entry: &Entry) -> Cow<'_, str> {
    if !entry.is_event || !entry.text.contains('"') {
        return Cow::Borrowed(&entry.text);
    }
    let parts = entry.text.split('"').enumerate();
    let unquoted: Vec<&str> = parts
        .map(|(at, part)| if at % 2 == 1 { "…" } else { part })
        .collect();
    Cow::Owned(unquoted.join("\""))
}

#[cfg(test)]
mod tests {
    use whathappened_model::time::{SECOND, Stamp};

    use super::super::{Lane, Weight};
    use super::*;

    fn reported(second: i64, fact: &str, text: &str) -> Entry {
        let id = EventId::of(&[&second.to_string(), text]);
        let time = Stamp::second(second * SECOND);
        Entry {
            time,
            actor: None,
            signals: Vec::new(),
            ready: None,
            is_event: fact == "k8s.event",
            seen_by: Vec::new(),
            lane: Lane::Workload,
            entity: "llm".to_owned(),
            text: text.to_owned(),
            weight: Weight::Warning,
            count: 1,
            end: None,
            ids: vec![id],
        }
    }

    #[test]
    fn repeats_are_one_line_even_where_a_chain_cites_all() {
        let failed = |second, pod| {
            let text = format!("FailedCreate: pods \"llm-{pod}\" is forbidden: quota");
            reported(second, "k8s.event", &text)
        };
        let entries = vec![failed(1, "x7k2p"), failed(2, "9dk3v"), failed(3, "zz1p0")];
        let lines = |wanted: &BTreeSet<EventId>| {
            let mut lines = entries.clone();
            collapse(&mut lines, wanted);
            lines
        };
        let cited: BTreeSet<EventId> = entries.iter().map(|one| one.ids[0]).collect();
        for wanted in [BTreeSet::new(), cited] {
            let lines = lines(&wanted);
            assert_eq!((lines.len(), lines[0].count), (1, 3));
            assert_eq!(lines[0].ids.len(), 3);
        }
        let only = BTreeSet::from([entries[2].ids[0]]);
        assert_eq!(lines(&only).len(), 2);
    }

    #[test]
    fn what_joins_a_line_leaves_the_order_of_the_others() {
        let mut entries: Vec<Entry> = ["a", "b", "a", "c", "b", "d"]
            .iter()
            .zip(1..)
            .map(|(text, second)| reported(second, "k8s.pod.status", text))
            .collect();
        let cited = BTreeSet::from([entries[4].ids[0]]);
        collapse(&mut entries, &cited);
        let lines: Vec<(&str, u64)> = entries
            .iter()
            .map(|line| (line.text.as_str(), line.count))
            .collect();
        assert_eq!(lines, [("a", 2), ("b", 1), ("c", 1), ("b", 1), ("d", 1)]);
    }

    #[test]
    fn a_machine_that_is_ready_is_no_news_unless_it_was_not() {
        let ready = |second, status: &str| {
            let mut entry = reported(second, "k8s.node.condition", status);
            entry.ready = Some(status == "True");
            entry
        };
        let states = ["True", "True", "Unknown", "True", "True"];
        let entries = (1..).zip(states).map(|(at, status)| ready(at, status));
        let mut kept: Vec<Entry> = entries.collect();
        without_calm(&mut kept, &BTreeSet::new());
        let reported: Vec<&str> = kept.iter().map(|one| one.text.as_str()).collect();
        assert_eq!(reported, ["Unknown", "True"]);
    }
}
