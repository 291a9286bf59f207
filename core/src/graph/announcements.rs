//! Which announcements still stood, and until when: what was moved, called off or is over announces nothing.
//!
//! A later word on the same work takes the place of the earlier one: on one machine, by the id of the event (AWS, a
//! calendar), or, where every notice bears an id of its own, by the kind of the notice (Google Cloud: attribute `series`).

use crate::signals::named;
use std::collections::HashMap;

use whathappened_model::event::SourceKind;
use whathappened_model::time::{Nanos, SECOND};

use super::EntityGraph;
use super::fact::{Fact, Phase};
use crate::evidence::SpillError;
use crate::symbols::Symbol;

/// What work that is over did shows only after a while.
const NOTICED: Nanos = 120 * SECOND;

/// Notes of every announcement when it ceased to stand.
pub(super) fn settle(graph: &mut EntityGraph) -> Result<(), SpillError> {
    // By name and machine: one event of a cloud may be about thousands of them.
    let mut series: HashMap<(String, Symbol), Vec<usize>> = HashMap::new();
    for (number, fact) in graph.facts.iter().enumerate() {
        if fact.phase == Phase::Unstated || !(fact.node.is_some() || fact.instance.is_some()) {
            continue;
        }
        let event = graph.evidence.event(fact.row)?;
        let name = event.attribute("series").or(event.attribute("event_id"));
        let own = || format!("row {:?}", fact.row);
        let name = name.map_or_else(own, str::to_owned);
        let machine = if fact.node.is_some() {
            fact.node
        } else {
            fact.instance
        };
        series.entry((name, machine)).or_default().push(number);
    }
    let started = graph.evidence.symbols.find(named::MAINTENANCE_STARTED);
    let mut found: Vec<(usize, Nanos)> = Vec::new();
    for numbers in series.values() {
        for number in numbers {
            let Some(fact) = graph.facts.get(*number) else {
                continue;
            };
            let later = numbers
                .iter()
                .filter_map(|other| graph.facts.get(*other))
                .filter_map(|other| replaced(fact, other, started));
            if let Some(at) = later.chain(over(fact, started)).min() {
                found.push((*number, at));
            }
        }
    }
    for (number, at) in found {
        if let Some(fact) = graph.facts.get_mut(number) {
            fact.withdrawn = Some(at);
        }
    }
    Ok(())
}

/// From when on another record of the series takes the place of this one.
fn replaced(fact: &Fact, other: &Fact, started: Option<Symbol>) -> Option<Nanos> {
    if !same_machine(fact, other) || !is_work(fact, started) {
        return None;
    }
    let later = other.time.lo > fact.time.lo;
    match other.phase {
        // One of a calendar tells that it was called off, and not when.
        Phase::Ended if other.source_kind == SourceKind::NodeLog => {
            Some(other.time.lo).filter(|_| fact.phase == Phase::Announced)
        }
        Phase::Ended if later && fact.phase == Phase::Announced => Some(other.time.lo),
        Phase::Ended if later => Some(other.time.lo.saturating_add(NOTICED)),
        Phase::Announced | Phase::Started if later => {
            let moved = match (fact.due, other.due) {
                (Some(old), Some(new)) => old.lo != new.lo,
                _ => false,
            };
            let begun = fact.phase != Phase::Announced;
            (moved && (!begun || other.phase == Phase::Announced)).then_some(other.time.lo)
        }
        _ => None,
    }
}

/// When the work was over by its own record: a calendar is its owner's word on that.
fn over(fact: &Fact, started: Option<Symbol>) -> Option<Nanos> {
    if fact.source_kind != SourceKind::NodeLog || !is_work(fact, started) {
        return None;
    }
    match fact.phase {
        Phase::Announced => fact
            .due
            .filter(|due| due.hi > due.lo.saturating_add(SECOND)),
        Phase::Acted => fact.end,
        _ => None,
    }
    .map(|end| match fact.phase {
        Phase::Announced => end.hi,
        _ => end.hi.saturating_add(NOTICED),
    })
}

/// Whether a record is of work that is to come or goes on.
fn is_work(fact: &Fact, started: Option<Symbol>) -> bool {
    fact.phase == Phase::Announced
        || matches!(fact.phase, Phase::Started | Phase::Acted) && Some(fact.signal) == started
}

fn same_machine(a: &Fact, b: &Fact) -> bool {
    if a.instance.is_some() && b.instance.is_some() {
        a.instance == b.instance
    } else {
        a.node.is_some() && a.node == b.node
    }
}
