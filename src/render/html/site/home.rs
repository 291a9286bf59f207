//! The first page: a search, what is running, and what happened lately.

use maud::{Markup, html};
use whathappened_core::death::RunState;
use whathappened_model::time::rfc3339;

use super::super::super::clock::{Clock, duration, seconds_between};
use super::super::super::style::Tz;
use super::super::super::text::in_address;
use super::super::super::wording;
use super::super::cells;
use super::super::room::Room;
use super::frame::{Frame, level, search};
use crate::answer::ListedRun;
use crate::fetch::IncidentOfRun;

/// What the first page shows.
#[derive(Clone, Debug, Default)]
pub struct Home {
    /// The latest incidents with their experiments, the latest first.
    pub incidents: Vec<(String, IncidentOfRun)>,
    /// How many there are in all.
    pub all: usize,
    /// What is running or waits to, the latest first.
    pub running: Vec<ListedRun>,
    /// How many are running in all.
    pub running_all: usize,
    /// Runs in the store, and how many of them were explained.
    pub runs: usize,
    /// Those that were explained.
    pub explained: usize,
    /// The present, RFC 3339.
    pub now: String,
}

/// The first page.
#[must_use]
pub fn home(frame: &Frame, home: &Home) -> String {
    let page = html! {
        main.home {
            section.hero {
                h1 { "What happened?" }
                (search("", true))
            }
            @if home.runs == 0 && home.incidents.is_empty() { (empty()) } @else {
                div.columns {
                    section aria-labelledby="recent" {
                        h2 #recent { "Recent incidents" }
                        (incidents(home))
                    }
                    section aria-labelledby="running" {
                        h2 #running { "Running and pending" }
                        (running(home))
                    }
                }
                @if home.explained < home.runs {
                    p.dim { (wording::grouped(home.explained as u64)) " of " (wording::count(home.runs, "run"))
                        " are explained so far; more are explained each time this page is opened." }
                }
            }
        }
        footer {
            p { "For programs: " a href="/api/v1/openapi.json" { "the HTTP API" } ". On a command line: " code { "whathappened EXPERIMENT" } "." }
        }
    };
    frame.around("Incidents", &[], &page)
}

fn empty() -> Markup {
    html! {
        p.summary { "There are no runs in the store that you may see." }
        p.dim { "Data arrives from the configured sources, by webhooks, or with " code { "whathappened import PATH" } "." }
    }
}

fn incidents(home: &Home) -> Markup {
    let room = Room::new(None);
    html! {
        @if home.incidents.is_empty() { p.dim { "None are known." } }
        ol.cards {
            @for (experiment, one) in &home.incidents {
                @let incident = &one.incident;
                li.card {
                    p.head {
                        (level(incident.level)) " "
                        @if let Some(time) = &incident.time { (ago(time, &home.now)) }
                    }
                    h3 { a href={ "/i/" (in_address(incident.id.as_deref().unwrap_or_default())) } {
                        @if incident.title.is_empty() { "Cause unknown" } @else { (cells::text(&incident.title, room)) }
                    } }
                    p { (cells::text(&incident.summary, Room { text: 260, ..room })) }
                    p.dim {
                        a href={ "/x/" (in_address(experiment)) } { (cells::text(experiment, room)) }
                        @if let Some(namespace) = one.run.as_ref().and_then(|run| run.namespace.as_ref()) {
                            " in " (cells::text(namespace, room))
                        }
                        @if let Some(owner) = one.run.as_ref().and_then(|run| run.owner.as_ref()) {
                            " · " (cells::text(owner, room))
                        }
                        @if let Some(hours) = incident.gpu_hours_lost.filter(|hours| *hours >= 0.005) { " · " (wording::gpu_hours(hours)) " lost" }
                    }
                }
            }
        }
        @if home.all > home.incidents.len() {
            p { a href={ "/sql?q=" (in_address("SELECT time, experiment, title, level, gpu_hours_lost, id FROM incidents ORDER BY time DESC")) }
                { "All " (wording::count(home.all, "incident")) } }
        }
    }
}

fn running(home: &Home) -> Markup {
    let room = Room::new(None);
    html! {
        @if home.running.is_empty() { p.dim { "No run is known to be running or pending." } }
        ul.runs {
            @for run in &home.running {
                @let state = run.state.unwrap_or(RunState::Running);
                @let (sign, _) = wording::state_sign(state);
                li {
                    span.busy aria-hidden="true" { (sign) } " "
                    a href={ "/x/" (in_address(&run.experiment)) } { (cells::text(&run.experiment, room)) }
                    p.dim {
                        (state.as_str()) " · " (cells::text(&run.kind, room))
                        @if let Some(namespace) = &run.namespace { " in " (cells::text(namespace, room)) }
                        " · " (wording::count(usize::try_from(run.pods).unwrap_or(usize::MAX), "pod"))
                        @if let Some(started) = &run.started { " · since " (cells::time(started, Clock(Tz::Utc), room)) }
                        (unheard(run, &home.now))
                    }
                }
            }
        }
        @if home.running_all > home.running.len() {
            p.dim { (wording::count(home.running_all - home.running.len(), "more run")) "." }
        }
    }
}

/// Since when nothing was heard of a run or its cluster, where that is long ago: how it stands now
/// is not known.
fn unheard(run: &ListedRun, now: &str) -> Markup {
    const LONG_S: f64 = 900.0;
    let heard = run.last_heard.map(rfc3339);
    let silent = seconds_between(heard.as_deref(), Some(now)).filter(|s| *s > LONG_S);
    html! {
        @if let (Some(heard), Some(_)) = (&heard, silent) { " · last record " (ago(heard, now)) }
    }
}

/// How long ago it was, with the time itself behind it.
fn ago(time: &str, now: &str) -> Markup {
    let clock = Clock(Tz::Utc);
    let since = seconds_between(Some(time), Some(now)).filter(|s| *s >= 0.0);
    html! {
        span.dim {
            @if let Some(since) = since { (duration(since)) " ago · " }
            (cells::time(time, clock, Room::new(None)))
        }
    }
}
