//! What keeps ending: what ended it once need not be why it ends today.

use std::collections::BTreeSet;

use whathappened_core::death::{Death, DeathState};
use whathappened_core::graph::{EntityGraph, Exit, Fact};
use whathappened_core::symbols::Symbol;
use whathappened_model::time::{Nanos, SECOND, Stamp};

use super::super::machine_facts::is_of_machine;
use super::super::requests::DEVICE;
use super::Bounds;

/// A program writes why it ends at most this long before it does.
const LAST_WORDS: Nanos = 120 * SECOND;

/// Who lacks what it needs to start ends sooner.
const LIVED: Nanos = 60 * SECOND;

/// When a container that ends and is started again first ended in the way it did now:
/// what happened to its machine since then is not why.
pub(super) fn schedule(graph: &EntityGraph, death: &Death) -> Option<Nanos> {
    if !matches!(death.state, DeathState::Restarted | DeathState::CrashLoop) {
        return None;
    }
    let pod = graph.pods.get(death.pod)?;
    let mut ends: Vec<&Exit> = pod
        .exits
        .iter()
        .filter(|exit| exit.container == death.container && exit.time != Stamp::OPEN)
        .filter(|exit| exit.time.lo <= death.time.hi)
        .collect();
    ends.sort_by_key(|exit| exit.time);
    let same = ends
        .iter()
        .rev()
        .take_while(|exit| exit.exit_code == death.exit_code);
    let first = same.last()?.time.hi;
    // Of the ends before it the status keeps the number, and the wait between them.
    let restarts = pod.body.as_ref().map(|body| &body.restarts);
    let restarts = restarts.and_then(|all| all.get(graph.name(death.container)));
    let unrecorded = restarts.map_or(0, |count| *count - ends.len() as i64);
    let wait = match unrecorded {
        ..=0 => 0,
        1..=4 => (10 * SECOND) << (unrecorded - 1),
        _ => 300 * SECOND,
    };
    Some(first.saturating_sub(wait))
}

/// One of the ends of what keeps ending, and what the program wrote by then.
pub(super) struct RepeatedEnd {
    time: Stamp,
    words: BTreeSet<Symbol>,
}

/// The ends of a container in a crash loop, in order.
fn repeated_ends(graph: &EntityGraph, death: &Death) -> Vec<RepeatedEnd> {
    let pod = graph
        .pods
        .get(death.pod)
        .filter(|_| death.state == DeathState::CrashLoop);
    let Some(pod) = pod else {
        return Vec::new();
    };
    let mine = pod
        .exits
        .iter()
        .filter(|exit| !exit.init && exit.time != Stamp::OPEN)
        .filter(|exit| !death.container.is_some() || exit.container == death.container);
    let mut ends: Vec<Stamp> = mine.map(|exit| exit.time).collect();
    ends.sort_unstable();
    ends.dedup();
    if ends.len() < 2 {
        return Vec::new();
    }
    let lines = graph.facts.iter();
    let lines: Vec<&Fact> = lines
        .filter(|fact| fact.pod == death.pod && fact.is_line && !fact.is_mild)
        .collect();
    let mut found: Vec<RepeatedEnd> = Vec::new();
    for time in ends {
        let before = found.last().map(|end| end.time.hi);
        let near = |failure: Stamp| {
            failure != Stamp::OPEN
                && before.is_none_or(|before| failure.hi > before)
                && failure.hi.saturating_add(LAST_WORDS) >= time.lo
                && failure.lo <= time.hi.saturating_add(SECOND)
        };
        let of_end = |line: &&&Fact| near(line.time) || line.end.is_some_and(near);
        let words = lines.iter().filter(of_end).map(|line| line.signal);
        found.push(RepeatedEnd {
            time,
            words: words.collect(),
        });
    }
    found
}

impl Bounds<'_> {
    /// Whether a fact is of an end after which the container lived on for a while, or spoke of its devices no more, and then ended
    /// with other words, as it does today: whatever it was, it is not why this container keeps ending.
    pub(super) fn is_of_earlier_end(&self, fact: &Fact) -> bool {
        let is_own_word = fact.is_line && fact.pod == self.death.pod;
        let until = fact.end.unwrap_or(fact.time);
        if !(is_own_word || is_of_machine(fact)) || until == Stamp::OPEN {
            return false;
        }
        let ends = self
            .ends
            .get_or_init(|| repeated_ends(self.graph, self.death));
        let mut later = ends.iter();
        let struck = later.find(|end| end.time.hi >= until.lo);
        let Some(((struck, next), last)) = struck.zip(later.next()).zip(ends.last()) else {
            return false;
        };
        let lived = next.time.lo.saturating_sub(struck.time.hi) > LIVED;
        let is_over = || self.speaks_of_device(struck) && !self.speaks_of_device(last);
        let says_more = |one: &RepeatedEnd, other: &RepeatedEnd| {
            one.words.difference(&other.words).next().is_some()
        };
        says_more(struck, last) && says_more(last, struck) && (lived || is_over())
    }

    fn speaks_of_device(&self, end: &RepeatedEnd) -> bool {
        let names = || end.words.iter().map(|word| self.graph.name(*word));
        DEVICE
            .iter()
            .any(|device| names().any(|name| name.starts_with(device)))
    }
}
