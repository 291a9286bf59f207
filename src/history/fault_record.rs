//! Records that count against a machine.

use whathappened_core::evidence::SpillError;
use whathappened_core::graph::Fact;
use whathappened_core::signals::SignalClass;
use whathappened_model::event::{Event, EventId};
use whathappened_model::time::{Nanos, SECOND, Stamp};

use crate::answer::{Gpu, Incident};
use crate::case::Case;
use crate::explain::fault_of_machine;
use crate::report::gpu;

/// A record whose time is less well known than this is of no day.
const VAGUE: Nanos = 86_400 * SECOND;

/// What has been explained goes before what a record is by itself.
const EXPLAINED: i64 = 1_000;

/// A record of a fault, or an incident that was explained by one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FaultRecord {
    /// When.
    pub(super) time: Nanos,
    /// The record; none for an incident.
    pub(super) id: Option<EventId>,
    /// The machine's name.
    pub(super) node: String,
    /// The instance that it names, in lower case.
    pub(super) instance: Option<String>,
    /// Cause id.
    pub(super) cause: String,
    /// How far upstream the cause is.
    pub(super) rank: i64,
    /// What it names: `Xid 79`.
    pub(super) what: Option<String>,
    /// The GPU that it is about.
    pub(super) gpu: Option<Gpu>,
}

/// Something that ended a fault: the machine was started anew, repaired, or let
/// in again.
#[derive(Clone, Debug)]
pub(super) struct Recovery {
    pub(super) time: Nanos,
    pub(super) node: String,
    pub(super) instance: Option<String>,
}

/// All that a case has of both.
pub(super) fn of_case(case: &Case) -> Result<(Vec<FaultRecord>, Vec<Recovery>), SpillError> {
    let graph = &case.graph;
    let (mut marks, mut recoveries): (Vec<FaultRecord>, Vec<Recovery>) = (Vec::new(), Vec::new());
    for fact in graph.facts.iter().filter(|fact| graph.is_of_machine(fact)) {
        let signal = graph.name(fact.signal);
        if !(fact.node.is_some() || fact.instance.is_some()) || is_vague(fact.time) {
            continue;
        }
        let node = graph.name(fact.node).to_owned();
        let instance = fact.instance.is_some().then(|| graph.name(fact.instance));
        let instance = instance.map(str::to_lowercase);
        if graph.traits.is(signal, SignalClass::Repairs) {
            recoveries.push(Recovery {
                time: fact.time.lo,
                node,
                instance,
            });
        } else if let Some(rule) = fault_of_machine(&case.rules.causes, signal) {
            let event = graph.evidence.event(fact.row)?;
            marks.push(FaultRecord {
                time: fact.time.lo,
                id: Some(fact.id),
                node,
                instance,
                cause: rule.cause.clone(),
                rank: rule.rank,
                what: what(&event),
                gpu: gpu(&event),
            });
            marks.extend(last(fact, marks.last()));
        }
    }
    Ok((marks, recoveries))
}

/// A record that counts its repeats was true at the last of them, too.
fn last(fact: &Fact, mark: Option<&FaultRecord>) -> Option<FaultRecord> {
    let end = fact.end.filter(|end| !is_vague(*end))?;
    let mark = mark.filter(|mark| end.lo > mark.time)?;
    Some(FaultRecord {
        time: end.lo,
        ..mark.clone()
    })
}

/// An incident that was kept, if it was a fault of its machine.
pub(super) fn of_incident(incident: &Incident) -> Option<FaultRecord> {
    let machine = incident.machines.first().filter(|one| one.at_fault)?;
    Some(FaultRecord {
        time: Stamp::parse(incident.time.as_deref()?)?.lo,
        id: None,
        node: machine.node.clone().unwrap_or_default(),
        instance: machine.instance.as_deref().map(str::to_lowercase),
        cause: incident.cause.clone(),
        rank: EXPLAINED,
        what: None,
        gpu: machine.gpu.clone(),
    })
}

fn is_vague(time: Stamp) -> bool {
    time.lo == Nanos::MIN || time.hi.saturating_sub(time.lo) > VAGUE
}

/// The number by which a fault is known, where its record has one.
fn what(event: &Event) -> Option<String> {
    let number = |key: &str, name: &str| Some(format!("{name} {}", event.attribute(key)?));
    number("xid", "Xid").or_else(|| number("sxid", "SXid"))
}
