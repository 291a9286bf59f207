//! A machine that no record names: whether work is planned for it, a calendar does not tell.

use std::collections::BTreeSet;

use whathappened_connectors::node_log::is_calendar_entry;
use whathappened_core::graph::Task;
use whathappened_core::resolve::{Name, place, rank_names, resolve};

use crate::case::Case;
use crate::error::Error;
use crate::report;

/// That no record names the machine, with the nearest name, where announcements are all that was read. A calendar lists
/// machines that something is planned for: whether another one is free or its name misspelt, it does
/// not tell, and whoever asks is about to start something there.
///
/// # Errors
/// When facts cannot be read back.
pub(super) fn sentence(case: &Case, text: &str) -> Result<Option<String>, Error> {
    let name = Name::parse(text);
    if name.is_everything() || !is_calendar_at_most(case) {
        return Ok(None);
    }
    let is_run = !resolve(&case.graph, &case.runs, &name).runs.is_empty();
    if is_run || place(&case.graph, &name)?.is_some() {
        return Ok(None);
    }
    let nearest = match rank_names(&name.name, machines(case)).first() {
        Some(nearest) => format!(" (did you mean {nearest}?)"),
        None => String::new(),
    };
    Ok(Some(format!("no record names this machine{nearest}")))
}

/// An unknown name with the machines that are nearest to it, where a machine was asked for.
pub(super) fn nearest_machines(error: Error, case: &Case, text: &str) -> Error {
    let asked = Name::parse(text);
    match error {
        Error::UnknownName {
            name,
            nearest,
            unread,
        } if asked.is_machine() => {
            let mut near = rank_names(&asked.name, machines(case));
            near.extend(nearest);
            near.truncate(5);
            Error::UnknownName {
                name,
                nearest: near,
                unread,
            }
        }
        error => error,
    }
}

/// Whether entries of a calendar were read, or could not be, and nothing that says who is where.
fn is_calendar_at_most(case: &Case) -> bool {
    let evidence = &case.graph.evidence;
    let is_nothing = evidence.rows().is_empty() && evidence.objects.iter().next().is_none();
    let mut rejected = case.summary.rejected.iter();
    report::is_calendar_alone(case)
        || (is_nothing && rejected.any(|record| is_calendar_entry(&record.why)))
}

/// Every machine that some record names.
fn machines(case: &Case) -> BTreeSet<String> {
    let graph = &case.graph;
    let of_facts = graph.facts.iter().map(|fact| fact.node);
    let of_tasks = graph.pods.iter().flat_map(Task::machines);
    let names = of_facts.chain(of_tasks).filter(|node| node.is_some());
    names.map(|node| graph.name(node).to_owned()).collect()
}
