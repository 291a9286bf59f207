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

pub(super) fn advice(page: Page<'_>) -> Markup {
    let advice = page.main.map_or(&[][..], |main| &main.advice);
    items(advice, page)
}

/// What would have told more, or could overturn the verdict.
pub(super) fn settle(page: Page<'_>) -> Markup {
    let lines = page.main.map_or(&[][..], |main| &main.would_have_told);
    let lines: Vec<String> = lines
        .iter()
        .map(|line| wording::missing_evidence(line))
        .collect();
    items(&lines, page)
}

fn items(items: &[String], page: Page<'_>) -> Markup {
    html! {
        @if !items.is_empty() {
            ul { @for item in items.iter().take(page.room.entries) { li { (cells::text(item, page.room)) } } }
        }
    }
}

/// Causes that were considered and lost.
pub(super) fn ruled_out(page: Page<'_>) -> Markup {
    let lost = page.main.map_or(&[][..], |main| &main.alternatives);
    html! {
        @if !lost.is_empty() {
            ul {
                @for one in lost.iter().take(page.room.entries) {
                    li {
                        "not " code { (cells::text(&one.cause, page.room)) }
                        span.dim { " (at most " (one.level) ")" }
                        ": " (cells::text(&one.why_not, page.room))
                    }
                }
            }
            (cells::left_out(lost.len(), page.room.entries, "cause"))
        }
    }
}

/// Attempts of the run, and the other runs of the name.
pub(super) fn runs(page: Page<'_>) -> Markup {
    let run = facts::subject_run(page.answer, page.main);
    let attempts = run.map_or(&[][..], |run| &run.attempts);
    let runs = &page.answer.runs;
    let is_needed = page.answer.experiment.is_none() || attempts.len() > 1 || runs.len() > 1;
    if !is_needed || runs.is_empty() {
        return html! {};
    }
    html! {
        @if attempts.len() > 1 && page.answer.experiment.is_some() {
            h3 { "Attempts" }
            ol.lines {
                @for attempt in attempts.iter().rev().take(page.room.entries) {
                    li {
                        "attempt " (attempt.number) " · "
                        (lived(attempt.state, attempt.start.as_deref(), attempt.end.as_deref(), page))
                        " · " (run.map(|run| wording::pods_died(run, attempt)).unwrap_or_default())
                    }
                }
            }
            (cells::left_out(attempts.len(), page.room.entries, "attempt"))
        }
        @if runs.len() > 1 || page.answer.experiment.is_none() {
            h3 { "Runs" }
            ol.lines {
                @for run in runs.iter().take(page.room.entries) {
                    li {
                        (cells::text(&run.kind, page.room)) " "
                        @if let Some(namespace) = &run.namespace { (cells::text(namespace, page.room)) "/" }
                        b { (page.links.experiment(
                            &full_name(&run.kind, run.namespace.as_deref(), &run.name), &cells::text(&run.name, page.room))) } " · " (wording::run_of_runs(run)) " · "
                        (lived(run.state, run.start.as_deref(), run.end.as_deref(), page))
                    }
                }
            }
            (cells::left_out(runs.len(), page.room.entries, "run"))
        }
    }
}

fn lived(state: RunState, start: Option<&str>, end: Option<&str>, page: Page<'_>) -> Markup {
    let (sign, _) = wording::state_sign(state);
    let took = seconds_between(start, end)
        .filter(|s| *s >= 0.0)
        .map(duration);
    html! {
        span aria-hidden="true" { (sign) " " }
        (cells::text(&wording::state_took(state, took.as_deref()), page.room))
        @if start.is_some() { ", from " (cells::maybe_time(start, page.clock, page.room)) }
    }
}

fn title(incident: &Incident, page: Page<'_>) -> Markup {
    match incident.title.as_str() {
        "" => html! { "Cause unknown" },
        title => cells::text(title, page.room),
    }
}

/// Incidents that do not lead.
pub(super) fn others(page: Page<'_>) -> Markup {
    let others: Vec<&Incident> = page
        .answer
        .incidents
        .iter()
        .filter(|other| page.main.is_none_or(|main| !std::ptr::eq(*other, main)))
        .collect();
    html! {
        @for incident in others.iter().take(page.room.entries) {
            article.incident {
                h3 { (page.links.incident(incident.id.as_deref(), &title(incident, page))) }
                p.dim {
                    (cells::maybe_time(incident.time.as_deref(), page.clock, page.room))
                    " · " code { (cells::text(&incident.cause, page.room)) }
                    " · " (cells::text(wording::level(incident.level), page.room))
                    " · " (role_in(page.answer, incident))
                    @if let Some(attempt) = incident.attempt { ", attempt " (attempt) }
                    @if let Some(run) = run_of(page.answer, incident) { " · " (cells::text(&run.name, page.room)) }
                }
                p { (cells::text(&incident.summary, page.room)) }
            }
        }
        (cells::left_out(others.len(), page.room.entries, "incident"))
    }
}
