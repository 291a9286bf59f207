//! Whether the machine of an incident has failed before.

use std::collections::BTreeSet;

use whathappened_model::time::{Nanos, SECOND, Stamp, rfc3339};
use whathappened_store::Snapshot;

use super::episode::{Episode, ONE_FAULT};
use super::past_faults::PastFaults;
use crate::answer::{Answer, Gpu, Incident, Machine, MachineHistory, PastFault};
use crate::case::Case;
use crate::error::Error;

/// How many days are looked back.
pub(super) const DAYS: u32 = 30;

/// Machines that are looked up for one answer.
const MOST: usize = 64;

/// Tells of each incident of a machine how often that has failed in the days
/// before: by the store, where the case is of one, else by the case itself.
///
/// # Errors
/// When the store or the case cannot be read.
pub fn remember(
    answer: &mut Answer,
    case: &Case,
    store: Option<&Snapshot<'_>>,
) -> Result<(), Error> {
    let of_interest = answer.incidents.iter().filter_map(about);
    let asked: Vec<(Machine, Nanos)> = of_interest
        .map(|(machine, at)| (machine.clone(), at))
        .take(MOST)
        .collect();
    let times = || asked.iter().map(|(_, at)| *at);
    let (Some(first), Some(last)) = (times().min(), times().max()) else {
        return Ok(());
    };
    let past = match store {
        None => PastFaults::of_case(case)?,
        Some(snapshot) => {
            let names: BTreeSet<String> = asked
                .iter()
                .flat_map(|(machine, _)| [&machine.node, &machine.instance])
                .flatten()
                .cloned()
                .collect();
            let window = (first.saturating_sub(reach() + ONE_FAULT), last);
            PastFaults::of_store(snapshot, &names, window, &case.rules)?
        }
    };
    for incident in &mut answer.incidents {
        let reported = about(incident).filter(|(machine, at)| {
            let is = |(one, time): &(Machine, Nanos)| (one, *time) == (*machine, *at);
            asked.iter().any(is)
        });
        incident.before = reported.and_then(|(machine, at)| before(&past, machine, at));
    }
    Ok(())
}

fn reach() -> Nanos {
    Nanos::from(DAYS) * 86_400 * SECOND
}

/// The machine of an incident whose past is of interest: one that failed, or one
/// under what nothing explains so far.
fn about(incident: &Incident) -> Option<(&Machine, Nanos)> {
    let machine = incident.machines.first()?;
    let open = incident.cause == "unknown" || incident.cause.starts_with("hang.");
    if !machine.at_fault && !open {
        return None;
    }
    let at = Stamp::parse(incident.time.as_deref()?)?.lo;
    Some((machine, at))
}

/// The faults of a machine before one at a time.
fn before(past: &PastFaults, machine: &Machine, at: Nanos) -> Option<MachineHistory> {
    let from = at.saturating_sub(reach());
    let mut faults: Vec<Episode> = past.episodes(machine, Some(at));
    faults.retain(|one| one.last < at && one.last >= from && !one.holds(at));
    if faults.is_empty() {
        return None;
    }
    let since = past.begins().map_or(from, |begins| begins.max(from));
    Some(MachineHistory {
        machine: machine.node.clone().or(machine.instance.clone())?,
        days: DAYS,
        since: rfc3339(since),
        count: faults.len() + usize::from(machine.at_fault),
        with_this: machine.at_fault,
        faults: faults
            .iter()
            .map(|one| reported(one, machine.gpu.as_ref()))
            .collect(),
    })
}

/// An episode as it is told; `gpu` is the one that the incident is of.
pub(super) fn reported(one: &Episode, gpu: Option<&Gpu>) -> PastFault {
    PastFault {
        time: rfc3339(one.first),
        end: rfc3339(one.last),
        cause: one.cause.clone(),
        what: one.what.clone(),
        gpu: one.gpu.clone(),
        same_gpu: one.gpu.as_ref().zip(gpu).is_some_and(|(a, b)| a.is(b)),
        records: one.records(),
        event_ids: one.ids(),
    }
}
