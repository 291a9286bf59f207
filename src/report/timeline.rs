//! The timeline of an answer.

use std::collections::BTreeSet;

use whathappened_core::graph::TaskRow;
use whathappened_core::resolve::NameMatch;
use whathappened_core::timeline::{Entry, timeline};
use whathappened_model::event::EventId;
use whathappened_model::time::{Nanos, rfc3339};

use super::answer::Question;
use crate::answer::{Incident, TimelineRow};
use crate::case::Case;
use crate::error::Error;

/// The lines of the newest run, or of all that were asked for.
pub(super) fn lines(
    case: &Case,
    matched: &NameMatch,
    pods: &BTreeSet<TaskRow>,
    incidents: &[Incident],
    question: &Question,
) -> Result<Vec<TimelineRow>, Error> {
    let Some(newest) = matched
        .runs
        .first()
        .and_then(|number| case.runs.get(*number))
    else {
        return Ok(Vec::new());
    };
    let id = newest.id(&case.graph);
    let own = incidents
        .iter()
        .filter(|incident| incident.run_id.as_deref() == Some(id.as_str()));
    let cited = cited(own);
    let cited_ids: BTreeSet<EventId> = cited
        .iter()
        .filter_map(|id| u128::from_str_radix(id, 16).ok().map(EventId))
        .collect();
    let wanted = case
        .graph
        .facts
        .iter()
        .map(|fact| fact.id)
        .filter(|id| cited_ids.contains(id))
        .collect();
    let many = matched.how == "namespace" || question.name.contains('*');
    let runs: Vec<&whathappened_core::resolve::Run> = if many && pods.is_empty() {
        matched
            .runs
            .iter()
            .filter_map(|number| case.runs.get(*number))
            .collect()
    } else {
        vec![newest]
    };
    let start = newest.begin;
    let entries = timeline(&case.graph, &runs, &wanted)?;
    Ok(placed_lines(entries, start, &cited))
}

/// The lines of a timeline that is of no run.
pub(super) fn lines_without_run(
    entries: Vec<Entry>,
    start: Option<Nanos>,
    incidents: &[Incident],
) -> Vec<TimelineRow> {
    placed_lines(entries, start, &cited(incidents.iter()))
}

/// The records that the chains of some incidents hold.
fn cited<'a>(incidents: impl Iterator<Item = &'a Incident>) -> BTreeSet<String> {
    let links = incidents.flat_map(|incident| &incident.chain);
    links
        .flat_map(|link| link.event_ids.iter().cloned())
        .collect()
}

fn placed_lines(
    mut entries: Vec<Entry>,
    start: Option<Nanos>,
    cited: &BTreeSet<String>,
) -> Vec<TimelineRow> {
    // Stable: what is at one place keeps its order.
    entries.sort_by_key(|entry| place(entry, start));
    entries
        .into_iter()
        .map(|entry| line(entry, start, cited))
        .collect()
}

/// Where a line stands: at its time, where that is open at the end that is
/// known, and where nothing is known at the beginning.
fn place(entry: &Entry, start: Option<Nanos>) -> Nanos {
    let time = entry.time;
    match (time.lo, time.hi) {
        (Nanos::MIN, Nanos::MAX) => entry
            .end
            .filter(|end| *end != Nanos::MIN)
            .or(start)
            .unwrap_or(0),
        (Nanos::MIN, hi) => hi,
        (lo, _) => lo,
    }
}

fn line(entry: Entry, start: Option<Nanos>, cited: &BTreeSet<String>) -> TimelineRow {
    let at = place(&entry, start);
    let ids: Vec<String> = entry.ids.iter().map(ToString::to_string).collect();
    #[expect(clippy::cast_precision_loss, reason = "seconds to milliseconds")]
    let offset = start.map_or(0.0, |start| {
        (at.saturating_sub(start) / 1_000_000) as f64 / 1e3
    });
    let time = entry.time;
    let (until, when) = match (time.lo, time.hi) {
        (Nanos::MIN, Nanos::MAX) => (at, "at an unknown time: "),
        (Nanos::MIN, hi) => (hi, "at this time or before: "),
        (_, Nanos::MAX) => (at, "at this time or after: "),
        (_, hi) => (hi, ""),
    };
    TimelineRow {
        time: rfc3339(at),
        time_hi: rfc3339(until),
        end: entry.end.filter(|end| *end >= at).map(rfc3339),
        offset_s: offset,
        lane: entry.lane,
        entity: entry.entity,
        text: format!("{when}{}", entry.text),
        actor: entry.actor,
        weight: entry.weight,
        signals: entry.signals,
        seen_by: entry.seen_by.into_iter().map(str::to_owned).collect(),
        count: entry.count,
        in_chain: ids.iter().any(|id| cited.contains(id)),
        event_ids: ids,
    }
}
