//! Which workload a record speaks of, and when records say that one was made.

use whathappened_model::event::{Event, EventId};
use whathappened_model::kind::is_workload;
use whathappened_model::time::Stamp;

use super::identity::Workloads;
use super::learn::earlier;
use crate::evidence::{Evidence, EvidenceRow, SpillError};
use crate::graph::WorkloadRow;
use crate::request::was_done;
use crate::symbols::{Symbol, SymbolTable};

/// What a record calls the workload that it is about.
struct Mention {
    kind: Symbol,
    uid: Symbol,
    namespace: Symbol,
    name: Symbol,
    time: Stamp,
}

impl Mention {
    fn of(event: &Event, symbols: &mut SymbolTable) -> Option<Self> {
        let (kind, name) = (
            event.entities.workload_kind.as_ref()?,
            event.entities.workload.as_ref()?,
        );
        Some(Self {
            kind: symbols.number(kind),
            uid: symbols.optional(event.object_uid.as_deref()),
            namespace: symbols.optional(event.entities.namespace.as_deref()),
            name: symbols.number(name),
            time: event.time,
        })
    }

    /// The workload that bore the name then.
    fn bearer(&self, workloads: &mut Workloads) -> WorkloadRow {
        workloads.of(self.kind, self.uid, self.namespace, self.name, self.time)
    }

    /// The workload that was made under the name then, by whom.
    fn made(&self, made_by: Symbol, workloads: &mut Workloads) {
        let made = workloads.made(self.kind, self.uid, self.namespace, self.name, self.time);
        if let Some(workload) = workloads.all.get_mut(made) {
            workload.made_by = made_by;
            workload.created = earlier(workload.created, self.time);
        }
    }
}

/// Reads who bore a name when, in time order and those with a uid first, in whatever order the records come.
pub(super) fn in_time_order(
    evidence: &Evidence,
    symbols: &mut SymbolTable,
    workloads: &mut Workloads,
) -> Result<(), SpillError> {
    let mut named: Vec<(Stamp, EventId, EvidenceRow)> = evidence
        .rows()
        .numbered()
        .filter(|(_, row)| row.has_signal && row.workload.is_some())
        .map(|(number, row)| (row.time, row.id, number))
        .collect();
    named.sort_unstable();
    let mut mentions: Vec<(Mention, Option<Symbol>)> = Vec::new();
    for (.., number) in named {
        let (_, event) = evidence.body(number)?;
        let makes = event.fact == "k8s.audit.create";
        // What was refused, or only tried, made nothing.
        if event.object_kind.as_deref().is_some_and(is_workload) && (!makes || was_done(&event)) {
            let made_by = makes.then(|| symbols.optional(event.actor.as_deref()));
            mentions.extend(Mention::of(&event, symbols).map(|mention| (mention, made_by)));
        }
    }
    // The sort is stable: time order stays.
    mentions.sort_by_key(|(mention, _)| !mention.uid.is_some());
    for (mention, made_by) in &mentions {
        match made_by {
            Some(by) => mention.made(*by, workloads),
            None => _ = mention.bearer(workloads),
        }
    }
    Ok(())
}

/// A workload that a record says was made.
pub(super) fn created(event: &Event, symbols: &mut SymbolTable, workloads: &mut Workloads) {
    let made_by = symbols.optional(event.actor.as_deref());
    if let Some(mention) = Mention::of(event, symbols) {
        mention.made(made_by, workloads);
    }
}

/// The workload that a fact is about.
pub(super) fn workload(
    event: &Event,
    symbols: &mut SymbolTable,
    workloads: &mut Workloads,
) -> Option<WorkloadRow> {
    let mention = Mention::of(event, symbols)?;
    Some(mention.bearer(workloads))
}

/// The job that the record of what made it names.
pub(super) fn named_job(
    event: &Event,
    symbols: &mut SymbolTable,
    workloads: &mut Workloads,
) -> Option<WorkloadRow> {
    let name = event.attribute("other_job")?;
    let mention = Mention {
        kind: symbols.number("Job"),
        uid: Symbol::NONE,
        namespace: symbols.optional(event.entities.namespace.as_deref()),
        name: symbols.number(name),
        time: event.time,
    };
    Some(mention.bearer(workloads))
}
