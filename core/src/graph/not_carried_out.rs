//! Reboots and power-offs that were asked for and did not happen: somebody's inhibitor lock, a masked target or a
//! session without the right to it kept the machine up. Its journal then goes on, and has no word of going down.

use std::collections::HashSet;

use whathappened_model::event::SourceKind;
use whathappened_model::time::{Nanos, SECOND, Stamp};

use super::{EntityGraph, Fact, Journals};
use crate::evidence::SpillError;
use crate::signals::SignalClass;

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
    let journals = Journals::of(&graph.evidence);
    let refused: HashSet<usize> = requests
        .into_iter()
        .filter(|(_, fact)| {
            let row = graph.evidence.rows().get(fact.row);
            let row = row.filter(|row| row.file().is_some());
            let by = fact.time.lo.saturating_add(GOES_DOWN);
            row.is_some_and(|row| journals.goes_on_after(row, by)) && !went_down(graph, fact)
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

/// Whether anything tells that the machine went down, or started, since it was asked to.
fn went_down(graph: &EntityGraph, request: &Fact) -> bool {
    graph.facts.iter().any(|fact| {
        let signal = graph.name(fact.signal);
        let classes = [SignalClass::GoesDown, SignalClass::Boots];
        fact.node == request.node
            && !graph.traits.is(signal, SignalClass::AsksDown)
            && classes.iter().any(|class| graph.traits.is(signal, *class))
            && fact.time.hi >= request.time.lo.saturating_sub(CLOCKS)
    })
}
