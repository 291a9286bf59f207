//! The head of the page: what, who, which pod first, how many followed.

use maud::{Markup, html};

use super::super::page::Spans;
use super::super::wording;
use super::super::{everything, facts};
use super::cells;
use super::page::Page;
use crate::answer::Level;

pub(super) fn show(page: Page<'_>) -> Markup {
    let Page {
        answer, main, room, ..
    } = page;
    if answer.experiment.is_none() {
        let (sign, line) = everything::headline(answer);
        return html! {
            h1 { span.sign aria-hidden="true" { (cells::spans(&sign, room)) } (cells::spans(&line, room)) }
            (notes(page))
        };
    }
    let (sign, line) = facts::headline(answer, main);
    let labels = main.map(|incident| facts::facts(answer, incident, page.clock, true));
    let title = main.filter(|one| !one.title.is_empty() && !wording::is_calm(one));
    html! {
        p.eyebrow {
            span { span.sign aria-hidden="true" { (cells::spans(&sign, room)) } (cells::spans(&line, room)) }
            @if let Some(incident) = main { (level(incident.level)) }
        }
        h1 {
            @match (title, main) {
                (Some(incident), _) => { (cells::text(&incident.title, room)) }
                (None, Some(incident)) if !wording::is_calm(incident) => { "Cause unknown" }
                _ => { (cells::text(answer.experiment.as_deref().unwrap_or_default(), room)) }
            }
        }
        @match main {
            Some(incident) => { p.summary { (cells::text(&incident.summary, long(page))) } }
            None => { p.summary { (cells::spans(&facts::nothing(answer), room)) } }
        }
        @if let Some(labels) = labels {
            dl.facts {
                @for (label, body) in labels {
                    div { dt { (label) } dd { (cells::spans(&body, room)) } }
                }
            }
        }
        (identity(page))
        (notes(page))
    }
}

/// How the run stands, as a class.
pub(super) fn state(page: Page<'_>) -> &'static str {
    let run = facts::subject_run(page.answer, page.main);
    let own = run.filter(|_| page.answer.experiment.is_some());
    own.map_or("none", |run| run.state.as_str())
}

/// A level as a chip.
pub(super) fn level(level: Level) -> Markup {
    html! { span class={ "level " (level) } title=(wording::level_means(level)) { (wording::level(level)) } }
}

/// The verdict itself is shown whole, unless it is absurdly long.
fn long(page: Page<'_>) -> super::room::Room {
    super::room::Room {
        text: page.room.text * 4,
        ..page.room
    }
}

/// Which object this is about, for the reader who knows several of the name.
fn identity(page: Page<'_>) -> Markup {
    let Some(run) = facts::subject_run(page.answer, page.main) else {
        return html! {};
    };
    let text = |value: &str| cells::text(value, page.room);
    let (namespace, cluster) = (run.namespace.as_deref(), run.cluster.as_deref());
    html! {
        p.identity {
            (text(wording::kind(&run.kind))) " "
            @if let Some(namespace) = namespace { (text(namespace)) "/" }
            (text(&run.name))
            @if let Some(cluster) = cluster { " · cluster " (text(cluster)) }
            @if let Some(owner) = &run.owner { " · created by " (text(owner)) }
            @if let Some(start) = &run.start { " · created " (cells::time(start, page.clock, page.room)) }
            @if let Some(matched) = &page.answer.matched_by { " · found by " (text(matched)) }
        }
    }
}

fn notes(page: Page<'_>) -> Markup {
    html! {
        @for note in page.answer.notes.iter().take(page.room.entries) {
            p.note { (cells::spans(&Spans::new().data(super::super::page::Tone::Warn, note), page.room)) }
        }
    }
}
