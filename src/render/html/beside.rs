//! What stands beside the verdict: advice, losers, runs and other incidents.

use maud::{Markup, html};

use crate::answer::Incident;
use whathappened_core::death::RunState;

use super::super::clock::{duration, run_of, seconds_between};
use super::super::table::role_in;
use super::super::{facts, wording};
use super::cells;
use super::links::full_name;
use super::page::Page;

pub(super) fn advice(told: Page<'_>) -> Markup {
    let advice = told.main.map_or(&[][..], |main| &main.advice);
    items(advice, told)
}

/// What would have told more, or could overturn the verdict.
pub(super) fn settle(told: Page<'_>) -> Markup {
    let lines = told.main.map_or(&[][..], |main| &main.would_have_told);
    let lines: Vec<String> = lines
        .iter()
        .map(|line| wording::would_have_told(line))
        .collect();
    items(&lines, told)
}

fn items(items: &[String], told: Page<'_>) -> Markup {
    html! {
        @if !items.is_empty() {
            ul { @for item in items.iter().take(told.room.entries) { li { (cells::text(item, told.room)) } } }
        }
    }
}

/// Causes that were considered and lost.
pub(super) fn ruled_out(told: Page<'_>) -> Markup {
    let lost = told.main.map_or(&[][..], |main| &main.alternatives);
    html! {
        @if !lost.is_empty() {
            ul {
                @for one in lost.iter().take(told.room.entries) {
                    li {
                        "not " code { (cells::text(&one.cause, told.room)) }
                        span.dim { " (at most " (one.level) ")" }
                        ": " (cells::text(&one.why_not, told.room))
                    }
                }
            }
            (cells::left_out(lost.len(), told.room.entries, "cause"))
        }
    }
}

/// Attempts of the run, and the other runs of the name.
pub(super) fn runs(told: Page<'_>) -> Markup {
    let run = facts::told_run(told.answer, told.main);
    let attempts = run.map_or(&[][..], |run| &run.attempts);
    let runs = &told.answer.runs;
    let is_needed = told.answer.experiment.is_none() || attempts.len() > 1 || runs.len() > 1;
    if !is_needed || runs.is_empty() {
        return html! {};
    }
    html! {
        @if attempts.len() > 1 && told.answer.experiment.is_some() {
            h3 { "Attempts" }
            ol.lines {
                @for attempt in attempts.iter().rev().take(told.room.entries) {
                    li {
                        "attempt " (attempt.number) " · "
                        (lived(attempt.state, attempt.start.as_deref(), attempt.end.as_deref(), told))
                        " · " (run.map(|run| wording::pods_died(run, attempt)).unwrap_or_default())
                    }
                }
            }
            (cells::left_out(attempts.len(), told.room.entries, "attempt"))
        }
        @if runs.len() > 1 || told.answer.experiment.is_none() {
            h3 { "Runs" }
            ol.lines {
                @for run in runs.iter().take(told.room.entries) {
                    li {
                        (cells::text(&run.kind, told.room)) " "
                        @if let Some(namespace) = &run.namespace { (cells::text(namespace, told.room)) "/" }
                        b { (told.links.experiment(
                            &full_name(&run.kind, run.namespace.as_deref(), &run.name), &cells::text(&run.name, told.room))) } " · " (wording::run_of_runs(run)) " · "
                        (lived(run.state, run.start.as_deref(), run.end.as_deref(), told))
                    }
                }
            }
            (cells::left_out(runs.len(), told.room.entries, "run"))
        }
    }
}

fn lived(state: RunState, start: Option<&str>, end: Option<&str>, told: Page<'_>) -> Markup {
    let (sign, _) = wording::state_sign(state);
    let took = seconds_between(start, end)
        .filter(|s| *s >= 0.0)
        .map(duration);
    html! {
        span aria-hidden="true" { (sign) " " }
        (cells::text(&wording::state_took(state, took.as_deref()), told.room))
        @if start.is_some() { ", from " (cells::maybe_time(start, told.clock, told.room)) }
    }
}

fn title(incident: &Incident, told: Page<'_>) -> Markup {
    match incident.title.as_str() {
        "" => html! { "Cause unknown" },
        title => cells::text(title, told.room),
    }
}

/// Incidents that do not lead.
pub(super) fn others(told: Page<'_>) -> Markup {
    let others: Vec<&Incident> = told
        .answer
        .incidents
        .iter()
        .filter(|other| told.main.is_none_or(|main| !std::ptr::eq(*other, main)))
        .collect();
    html! {
        @for incident in others.iter().take(told.room.entries) {
            article.incident {
                h3 { (told.links.incident(incident.id.as_deref(), &title(incident, told))) }
                p.dim {
                    (cells::maybe_time(incident.time.as_deref(), told.clock, told.room))
                    " · " code { (cells::text(&incident.cause, told.room)) }
                    " · " (cells::text(wording::level(incident.level), told.room))
                    " · " (role_in(told.answer, incident))
                    @if let Some(attempt) = incident.attempt { ", attempt " (attempt) }
                    @if let Some(run) = run_of(told.answer, incident) { " · " (cells::text(&run.name, told.room)) }
                }
                p { (cells::text(&incident.summary, told.room)) }
            }
        }
        (cells::left_out(others.len(), told.room.entries, "incident"))
    }
}
