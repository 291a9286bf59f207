//! Clusters by the names that one source has for them. Another source may call the same one otherwise.

use whathappened_model::event::{Event, SourceKind};

use super::{Fact, Task};
use crate::symbols::{Symbol, SymbolTable};

/// What a source calls the cluster that a record is from.
pub(super) fn of(event: &Event, symbols: &mut SymbolTable) -> Symbol {
    symbols.optional(event.entities.cluster.as_deref())
}

/// Notes the cluster of a task, as a record of it says.
pub(super) fn note(event: &Event, symbols: &mut SymbolTable, task: Option<&mut Task>) {
    let named = (event.source_kind, of(event, symbols));
    if let Some(task) = task
        && named.1.is_some()
        && !task.clusters.contains(&named)
    {
        task.clusters.push(named);
        task.clusters.sort_unstable();
    }
}

/// Whether the source of a fact about a machine says that it is in a cluster in which the task is not.
#[must_use]
pub fn is_elsewhere(task: &Task, fact: &Fact) -> bool {
    let own = |(source, _): &&(SourceKind, Symbol)| *source == fact.source_kind;
    let mut known = task.clusters.iter().filter(own).peekable();
    fact.cluster.is_some() && known.peek().is_some() && known.all(|(_, name)| *name != fact.cluster)
}
