//! What happened to a machine, in order of time.

use std::collections::BTreeMap;
use whathappened_core::evidence::EvidenceRow;
use whathappened_core::signals::named;

use whathappened_core::describe::describe;
use whathappened_core::resolve::MachineMatch;
use whathappened_core::signals::{LANES, MachineEventKind};
use whathappened_model::event::{Event, EventId};
use whathappened_model::time::{Nanos, rfc3339};

use super::episode::ONE_FAULT;
use super::node::{NodeQuery, is_asked};
use crate::answer::MachineEvent;
use crate::case::Case;
use crate::error::Error;
use crate::explain::fault_of_machine;
use crate::report::gpu;

/// Records of one line that are named.
const MOST_IDS: usize = 8;

/// One line in the making.
struct Line {
    event: Event,
    kind: MachineEventKind,
    seen_by: Vec<String>,
    last: Nanos,
    count: u64,
    ids: Vec<EventId>,
}

/// The lines of a machine, in order of (time, kind, text, id).
pub(super) fn happened(
    case: &Case,
    place: &MachineMatch,
    asked: &NodeQuery,
) -> Result<Vec<MachineEvent>, Error> {
    let graph = &case.graph;
    let mut rows: BTreeMap<EventId, EvidenceRow> = BTreeMap::new();
    for fact in &graph.facts {
        if place.holds(graph, fact) && is_asked(asked, fact.time, fact.end) {
            rows.insert(fact.id, fact.row);
        }
    }
    let mut reported: Vec<Line> = Vec::new();
    for (id, number) in rows {
        let event = graph.evidence.event(number)?;
        let Some(row) = graph.evidence.rows().get(number) else {
            continue;
        };
        let seen_by = row.seen_by().map(|kind| kind.as_str().to_owned());
        let end = event.end.map_or(event.time.lo, |end| end.lo);
        reported.push(Line {
            kind: kind(case, &event),
            seen_by: seen_by.collect(),
            last: end.max(event.time.lo),
            count: event.count.unwrap_or(1).max(1),
            ids: vec![id],
            event,
        });
    }
    reported.sort_by_cached_key(|line| {
        (
            line.event.time,
            line.kind.as_str(),
            describe(&line.event),
            line.event.id,
        )
    });
    let lines = folded(reported).into_iter();
    let mut lines: Vec<MachineEvent> = lines.map(|line| machine_event(line, graph.now)).collect();
    // Stable: what is at one time keeps its order.
    lines.sort_by(|a, b| a.time.cmp(&b.time));
    Ok(lines)
}

/// What says the same of the same soon after is one line.
fn folded(reported: Vec<Line>) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for line in reported {
        let same = |known: &&mut Line| {
            known.kind == line.kind
                && known.event.signals == line.event.signals
                && known.event.actor == line.event.actor
                && gpu(&known.event) == gpu(&line.event)
                && known.event.attribute("phase") == line.event.attribute("phase")
                // Work that was moved is announced anew.
                && known.event.attribute("not_before") == line.event.attribute("not_before")
                && line.event.time.lo.saturating_sub(known.last) <= ONE_FAULT
        };
        // A condition that was otherwise in between is another stretch of it.
        let turned = |known: &&mut Line| {
            let condition = line.event.attribute("condition");
            condition.is_some()
                && known.event.fact == line.event.fact
                && known.event.attribute("condition") == condition
                && known.event.attribute("status") != line.event.attribute("status")
        };
        // Only what is near can be the same.
        let near = lines.iter_mut().rev().take(16);
        match near.take_while(|known| !turned(known)).find(same) {
            Some(known) => {
                known.last = known.last.max(line.last);
                known.count += line.count;
                known.ids.extend(line.ids);
                known.seen_by.extend(line.seen_by);
                known.seen_by.sort();
                known.seen_by.dedup();
            }
            None => lines.push(line),
        }
    }
    lines
}

fn machine_event(line: Line, now: Option<Nanos>) -> MachineEvent {
    let time = line.event.time;
    let (at, when) = match (time.lo, time.hi) {
        // Nothing that is known is later than the last record.
        (Nanos::MIN, Nanos::MAX) => match now {
            Some(now) => (now, "at this time or before: "),
            None => (line.last.max(0), "at an unknown time: "),
        },
        (Nanos::MIN, hi) => (hi, "at this time or before: "),
        (lo, Nanos::MAX) => (lo, "at this time or after: "),
        (lo, _) => (lo, ""),
    };
    let ids = line.ids.iter().take(MOST_IDS);
    MachineEvent {
        time: rfc3339(at),
        time_hi: rfc3339(if when.is_empty() { time.hi } else { at }),
        end: (line.last > at).then(|| rfc3339(line.last)),
        kind: line.kind,
        text: format!("{when}{}", describe(&line.event)),
        instance: line.event.entities.instance.clone(),
        gpu: gpu(&line.event),
        actor: line.event.actor.clone(),
        signals: line.event.signals.clone(),
        seen_by: line.seen_by,
        count: line.count,
        event_ids: ids.map(ToString::to_string).collect(),
    }
}

fn kind(case: &Case, event: &Event) -> MachineEventKind {
    let signals = || event.signals.iter();
    if signals().any(|signal| fault_of_machine(&case.rules.causes, signal).is_some()) {
        return MachineEventKind::Fault;
    }
    // What a driver says while it cleans up is no fault of its own.
    if signals().any(|signal| signal == named::GPU_XID_SYMPTOM) {
        return MachineEventKind::State;
    }
    let traits = &case.graph.traits;
    let is = |lane: &MachineEventKind| signals().any(|one| traits.lane(one) == Some(*lane));
    LANES
        .into_iter()
        .find(is)
        .unwrap_or(MachineEventKind::State)
}
