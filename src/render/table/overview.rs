//! Everything that was asked for: a table of incidents.

use crate::answer::{Answer, Incident, IncidentRole};

use super::super::clock::{Clock, run_of};
use super::super::everything;
use super::super::grid::{Cell, Grid};
use super::super::machine_history::before;
use super::super::page::{Page, Spans, Tone};
use super::super::wording;
use super::aside::role;

/// Incidents shown before the rest is counted.
const SHOWN: usize = 100;
/// Columns from which one row an incident is readable.
const WIDE: usize = 150;

pub(super) fn show(page: &mut Page<'_>, answer: &Answer) {
    let (sign, line) = everything::headline(answer);
    page.hang(sign, line);
    for note in &answer.notes {
        page.hang(
            Spans::new().own(Tone::Dim, "  Note  "),
            Spans::new().data(Tone::Warn, note),
        );
    }
    if answer.incidents.is_empty() {
        return;
    }
    page.gap();
    // In order of time: the latest are what is asked for, and what is cut is the earliest.
    let cut = answer.incidents.len().saturating_sub(SHOWN);
    if cut > 0 {
        let more = wording::count(cut, "earlier incident");
        let more = format!(
            "⋯ {more}: --until\u{a0}TIME, --format\u{a0}json, or in SQL SELECT * FROM incidents"
        );
        page.hang(Spans::new().say("  "), Spans::new().own(Tone::Dim, more));
    }
    let shown = answer.incidents.get(cut..).unwrap_or_default();
    if page.columns() >= WIDE {
        table(page, answer, shown);
    } else {
        for incident in shown {
            entry(page, answer, incident);
        }
    }
}

fn run_name<'a>(answer: &'a Answer, incident: &'a Incident) -> &'a str {
    match run_of(answer, incident) {
        Some(run) => &run.name,
        None => incident.run_id.as_deref().unwrap_or_default(),
    }
}

fn tone(incident: &Incident) -> Tone {
    if wording::is_calm(incident) {
        Tone::Good
    } else {
        Tone::Bad
    }
}

fn table(page: &mut Page<'_>, answer: &Answer, incidents: &[Incident]) {
    let clock = Clock(page.style.tz);
    let mut grid = Grid::new(&["time", "cause", "level", "run", "first victim", "summary"]);
    grid = grid.rigid(vec![true, true, true, false, false, false]);
    for incident in incidents {
        let time = incident
            .time
            .as_deref()
            .map(|time| clock.full(time))
            .unwrap_or_default();
        let first = incident
            .first_victim
            .as_ref()
            .map_or("", |victim| &victim.pod);
        grid.row(vec![
            Cell::new(&time, Tone::Dim),
            Cell::new(&incident.cause, tone(incident)),
            Cell::new(incident.level.as_str(), wording::level_tone(incident.level)),
            Cell::new(run_name(answer, incident), Tone::Plain),
            Cell::new(first, Tone::Name),
            Cell::new(&incident.summary, Tone::Plain),
        ]);
    }
    page.table(&grid);
}

fn entry(page: &mut Page<'_>, answer: &Answer, incident: &Incident) {
    let clock = Clock(page.style.tz);
    let time = incident
        .time
        .as_deref()
        .map(|time| clock.full(time).replace(' ', "\u{a0}"));
    let time = time.unwrap_or_else(|| "time unknown".to_owned());
    let prefix = Spans::new().own(Tone::Dim, format!("{time:20}  "));
    let mut line = Spans::new().data(tone(incident), &incident.cause);
    if incident.cause != incident.level.as_str() {
        line = line
            .own(Tone::Dim, " · ")
            .own(wording::level_tone(incident.level), incident.level.as_str());
    }
    if !matches!(incident.role, IncidentRole::Main | IncidentRole::Earlier) {
        line = line.own(Tone::Dim, " · ").say(role(incident.role));
    }
    page.hang(prefix, line);
    let mut about = Spans::new().data(Tone::Strong, run_name(answer, incident));
    if let Some(first) = &incident.first_victim {
        about = about
            .own(Tone::Dim, " · first ")
            .data(Tone::Name, &first.pod);
    }
    let followed = incident.victims.len() + incident.collateral.len();
    if followed > 1 {
        about = about.own(Tone::Dim, " · ").say(format!(
            "{} in total",
            wording::count(followed, wording::member(run_of(answer, incident)))
        ));
    }
    if !about.is_empty() {
        page.hang(Spans::new().say("    "), about);
    }
    page.hang(
        Spans::new().say("    "),
        Spans::new().data(Tone::Plain, &incident.summary),
    );
    if let Some(known) = &incident.before {
        let body = before(known, incident.time.as_deref(), clock);
        page.hang(Spans::new().say("    "), body);
    }
    page.gap();
}
