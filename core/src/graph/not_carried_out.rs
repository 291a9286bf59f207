//! Reboots and power-offs that were asked for and did not happen: somebody's inhibitor lock, a masked target or a
//! session without the right to it kept the machine up. Its journal then goes on, and has no word of going down.

use std::collections::{HashMap, HashSet};

use whathappened_model::event::SourceKind;
use whathappened_model::time::{Nanos, SECOND, Stamp};

use super::{EntityGraph, Fact};
use crate::evidence::{Row, SpillError};
use crate::signals::SignalClass;
use crate::symbols::Symbol;

/// A machine that goes down says so within this long, and writes nothing more after it.
const GOES_DOWN: Nanos = 180 * SECOND;

/// What tells of a machine's end or start may be dated by another clock.
const CLOCKS: Nanos = 60 * SECOND;

/// Drops such requests.
///
/// # Errors
/// When a record cannot be read again.
pub(super) fn forget(graph: &mut EntityGraph) -> Result<(), SpillError> {
    let mut requests: Vec<(usize, Fact)> = Vec::new();
    for (place, fact) in graph.facts.iter().enumerate() {
        let asks = graph
            .traits
            .is(graph.name(fact.signal), SignalClass::AsksDown);
        let of_machine = fact.source_kind == SourceKind::NodeLog && fact.node.is_some();
        if !asks || !of_machine || fact.time == Stamp::OPEN {
            continue;
        }
        // What a board's own controller is asked it does.
        if graph.evidence.event(fact.row)?.attribute("program") == Some("sudo") {
            requests.push((place, *fact));
        }
    }
    if requests.is_empty() {
        return Ok(());
    }
    let mut lines: HashMap<Symbol, Vec<Nanos>> = HashMap::new();
    let files: HashSet<Symbol> = requests
        .iter()
        .filter_map(|(_, fact)| file(graph, fact))
        .collect();
    for row in graph.evidence.rows() {
        let is_dated = row.time.lo != Nanos::MIN && row.time.hi != Nanos::MAX;
        if files.contains(&row.file()) && is_dated {
            lines.entry(row.file()).or_default().push(row.time.lo);
        }
    }
    let refused: HashSet<usize> = requests
        .into_iter()
        .filter(|(_, fact)| {
            let written = file(graph, fact).and_then(|file| lines.get(&file));
            let goes_on = written.is_some_and(|written| {
                let mut since = written.iter().map(|line| line.saturating_sub(fact.time.lo));
                since.any(|since| since > GOES_DOWN)
            });
            goes_on && !went_down(graph, fact)
        })
        .map(|(place, _)| place)
        .collect();
    let mut place = 0;
    graph.facts.retain(|_| {
        place += 1;
        !refused.contains(&(place - 1))
    });
    Ok(())
}

/// The log in which a fact stands.
fn file(graph: &EntityGraph, fact: &Fact) -> Option<Symbol> {
    let row = graph.evidence.rows().get(fact.row as usize);
    row.map(Row::file).filter(|file| file.is_some())
}

/// Whether anything tells that the machine went down, or started, since it was asked to.
fn went_down(graph: &EntityGraph, request: &Fact) -> bool {
    graph.facts.iter().any(|fact| {
        let signal = graph.name(fact.signal);
        let tells = [SignalClass::GoesDown, SignalClass::Boots];
        fact.node == request.node
            && !graph.traits.is(signal, SignalClass::AsksDown)
            && tells.iter().any(|class| graph.traits.is(signal, *class))
            && fact.time.hi >= request.time.lo.saturating_sub(CLOCKS)
    })
}
