//! What is announced for the machines of a run.

use serde::Serialize;
use utoipa::ToSchema;
use whathappened_connectors::node_log::is_calendar_entry;
use whathappened_core::describe::describe;
use whathappened_core::resolve::{MachineMatch, Name, place, resolve};
use whathappened_core::upcoming::{Machines, is_undated, upcoming as coming};
use whathappened_model::coverage::Status;
use whathappened_model::time::{Nanos, SECOND, rfc3339};

use crate::case::Case;
use crate::error::{Error, unread};

/// What is announced, for programs.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Report {
    /// Always `whathappened/upcoming/v1`.
    pub schema: &'static str,
    /// What was asked for.
    pub name: String,
    /// The time it looks ahead from, RFC 3339.
    pub now: String,
    /// How far ahead it looked.
    pub until: String,
    /// Whether it is on a machine at that time; otherwise nothing can be announced for it.
    pub placed: bool,
    /// Whether nothing but announcements was read, which know no machine that none is for.
    #[serde(skip)]
    pub calendar_alone: bool,
    /// Whether entries of a calendar could not be read.
    #[serde(skip)]
    pub is_incomplete: bool,
    /// What is announced, in order of time.
    pub announced: Vec<Announcement>,
    /// Sources of announcements that were read.
    pub read: Vec<String>,
    /// Sources of announcements that could not be read, and why.
    pub unread: Vec<String>,
}

/// One announcement.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Announcement {
    /// The machine.
    pub machine: String,
    /// The cloud instance behind it, if known.
    pub instance: Option<String>,
    /// What it means, in the tool's vocabulary.
    pub signal: String,
    /// What it says, in words.
    pub text: String,
    /// When it begins.
    pub from: Option<String>,
    /// When it ends.
    pub to: Option<String>,
    /// When it was announced; null if the record does not show it.
    #[schema(required)]
    pub announced_at: Option<String>,
    /// Who announced it, where known.
    pub actor: Option<String>,
    /// The connector.
    pub source: &'static str,
    /// The record.
    pub event_id: String,
}

/// Looks at what is announced for the machines that a name means, up to `within` after `now`.
///
/// # Errors
/// When nothing bears the name, or facts cannot be read back.
pub fn upcoming(case: &Case, name: &str, now: Nanos, within: Nanos) -> Result<Report, Error> {
    let machines = machines(case, name, now)?;
    let until = now.saturating_add(within);
    let graph = &case.graph;
    let mut announced = Vec::new();
    for number in coming(graph, &machines, now, until) {
        let Some(fact) = graph.facts.get(number) else {
            continue;
        };
        let event = graph.evidence.event(fact.row)?;
        let names = &event.entities;
        let instance = names.instance.clone();
        announced.push(Announcement {
            machine: names.node.clone().or(instance.clone()).unwrap_or_default(),
            instance,
            signal: graph.name(fact.signal).to_owned(),
            text: describe(&event),
            from: fact.due.map(|due| rfc3339(due.lo)),
            to: fact
                .due
                .filter(|due| due.hi > due.lo.saturating_add(SECOND))
                .map(|due| rfc3339(last_second(due.hi))),
            announced_at: (event.time.lo != Nanos::MIN && !is_undated(fact))
                .then(|| rfc3339(event.time.lo)),
            actor: event.actor.clone(),
            source: event.source_kind.as_str(),
            event_id: event.id.to_string(),
        });
    }
    let (mut read, mut unread) = (Vec::new(), Vec::new());
    for row in &case.coverage {
        // Conditions and Events of nodes, records of clouds, calendars of one's own.
        if !matches!(
            row.resource.as_str(),
            "nodes" | "events" | "activity" | "scheduled_events" | "health" | "maintenance"
        ) {
            continue;
        }
        let what = format!("{} {}", row.source, row.resource);
        match row.status {
            Status::Complete | Status::Sampled | Status::Truncated => read.push(what),
            status => unread.push(match &row.detail {
                Some(detail) => format!("{what}: {}: {detail}", status.as_str()),
                None => format!("{what}: {}", status.as_str().replace('_', " ")),
            }),
        }
    }
    // An entry that could not be read may be of the machine that is asked about.
    let rejected = case.summary.rejected.iter();
    let rejected = rejected.filter(|record| is_calendar_entry(&record.why));
    let rejected: Vec<String> = rejected
        .map(|record| format!("{}: {}", record.origin, record.why))
        .collect();
    let is_incomplete = !rejected.is_empty();
    unread.extend(rejected);
    for list in [&mut read, &mut unread] {
        list.sort();
        list.dedup();
    }
    Ok(Report {
        schema: "whathappened/upcoming/v1",
        name: name.to_owned(),
        now: rfc3339(now),
        until: rfc3339(until),
        is_incomplete,
        placed: !machines.is_empty(),
        calendar_alone: is_calendar_alone(case),
        announced,
        read,
        unread,
    })
}

/// An end told to the second is known as the second after it.
fn last_second(end: Nanos) -> Nanos {
    if end % SECOND == 0 {
        end.saturating_sub(SECOND)
    } else {
        end
    }
}

/// Whether a calendar of maintenance is all that was read: they say nothing of who is where, nor of the present.
#[must_use]
pub fn is_calendar_alone(case: &Case) -> bool {
    let graph = &case.graph;
    let planned = graph.evidence.symbols.find("cloud.host_event");
    let mut rows = graph.evidence.rows().iter();
    case.runs.is_empty()
        && planned.is_some()
        && graph.evidence.objects.iter().next().is_none()
        && rows.all(|row| Some(row.fact) == planned)
}

/// Whether everything is asked for and no entry of the calendar could be read.
fn is_all_of_nothing(case: &Case, name: &Name) -> bool {
    let mut rejected = case.summary.rejected.iter();
    name.is_everything() && rejected.any(|record| is_calendar_entry(&record.why))
}

/// The machines that a name means: those its newest run is on, else itself.
fn machines(case: &Case, text: &str, now: Nanos) -> Result<Machines, Error> {
    let name = Name::parse(text);
    if !name.is_machine() && !name.is_everything() {
        let matched = resolve(&case.graph, &case.runs, &name);
        let runs = matched.runs.iter().filter_map(|run| case.runs.get(*run));
        let found = Machines::of_runs(&case.graph, runs, &case.ends, now);
        if !found.is_empty() {
            return Ok(found);
        }
        // It is known, and on no machine: nothing can befall it.
        if !matched.runs.is_empty() {
            return Ok(Machines::default());
        }
    }
    match place(&case.graph, &name)? {
        Some(place) => Ok(Machines::at(place)),
        // A calendar lists machines that something is planned for, and says so of no other.
        None if is_calendar_alone(case) || is_all_of_nothing(case, &name) => {
            Ok(Machines::at(MachineMatch::default()))
        }
        None => Err(Error::UnknownName {
            name: text.to_owned(),
            nearest: resolve(&case.graph, &case.runs, &name).nearest,
            unread: unread(&case.coverage),
        }),
    }
}
