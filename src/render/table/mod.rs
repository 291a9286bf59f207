//! The table answer: the verdict in plain words, then why, then the rest.

mod aside;
mod chain;
mod coverage;
mod evidence;
mod gaps;
mod node;
mod overview;
mod timeline;
mod verdict;

pub(crate) use self::aside::role_in;
pub(crate) use self::coverage::shortfalls;
pub(crate) use self::evidence::{origin, witness};

use std::io;

pub(crate) use self::node::node;

use crate::answer::{Answer, Incident, IncidentRole};

use super::error::RenderError;
use super::page::{Page, Spans, Tone};
use super::style::{Style, Tz};

/// Writes the answer for a reader at a terminal.
pub(crate) fn answer(
    answer: &Answer,
    style: &Style,
    out: &mut dyn io::Write,
) -> Result<(), RenderError> {
    let mut page = Page::new(style);
    if answer.experiment.is_none() {
        overview::show(&mut page, answer);
        coverage::show(&mut page, answer, None);
    } else {
        let main = main_incident(answer);
        verdict::show(&mut page, answer, main);
        if let Some(incident) = main {
            chain::show(&mut page, answer, incident);
            aside::traceback(&mut page, incident);
            if style.explain {
                aside::ruled_out(&mut page, incident);
            }
            aside::advice(&mut page, incident);
            if style.explain {
                evidence::show(&mut page, incident);
            }
        }
        coverage::show(&mut page, answer, main);
        if style.explain {
            aside::runs(&mut page, answer, main);
        }
        aside::others(&mut page, answer, main);
        timeline::show(&mut page, answer, main);
    }
    foot(&mut page, answer);
    page.write(out)
}

/// The incident that the verdict speaks of.
pub(crate) fn main_incident(answer: &Answer) -> Option<&Incident> {
    answer
        .incidents
        .iter()
        .find(|incident| incident.role == IncidentRole::Main)
}

/// What is known beside what is shown, and how to see it.
fn more(page: &Page<'_>, answer: &Answer) -> Vec<String> {
    let mut more = Vec::new();
    let mut incidents = answer.incidents.iter();
    let mut reported = Vec::new();
    if incidents.any(|incident| !incident.evidence.is_empty()) {
        reported.push("evidence".to_owned());
    }
    // A list of everything says what became of each run already.
    let runs = answer.runs.len();
    if runs > 1 && answer.experiment.is_some() {
        reported.push(format!("its {}", super::wording::count(runs, "run")));
    }
    if !page.style.explain && !reported.is_empty() {
        more.push(format!("{}: --explain", reported.join(", ")));
    }
    let lines = answer.timeline.len();
    if page.style.timeline_limit == Some(0) && lines > 0 {
        let lines = super::wording::count(lines, "line");
        more.push(format!("timeline, {lines}: --timeline 30"));
    }
    more
}

/// Whether a text of the answer, which is shown as it was written, has a time in UTC.
fn quotes_utc(answer: &Answer, style: &Style) -> bool {
    let is_time = |word: &str| {
        let clock = word.trim_end_matches(['.', ',', ';', ':', ')']);
        let digits = |text: &str| text.bytes().filter(u8::is_ascii_digit).count() >= 6;
        clock.ends_with('Z') && clock.contains(':') && digits(clock)
    };
    let of_incidents = answer.incidents.iter().flat_map(|incident| {
        let rows = incident.chain.iter().map(|step| step.text.as_str());
        rows.chain([incident.summary.as_str()])
    });
    let shown = style.timeline_limit != Some(0);
    let lines = answer.timeline.iter().filter(|_| shown);
    let of_lines = lines.map(|row| row.text.as_str());
    of_incidents
        .chain(of_lines)
        .chain(answer.notes.iter().map(String::as_str))
        .any(|text| text.split_whitespace().any(is_time))
}

fn foot(page: &mut Page<'_>, answer: &Answer) {
    let clock = super::clock::Clock(page.style.tz);
    let mut spans = Spans::new();
    if let Some(now) = &answer.now {
        spans = spans.own(
            Tone::Dim,
            format!("As of {}", clock.full(now).replace(' ', "\u{a0}")),
        );
        spans = spans.own(Tone::Dim, " · ");
    }
    spans = spans
        .own(Tone::Dim, "rules\u{a0}")
        .data(Tone::Dim, &answer.ruleset);
    for more in more(page, answer) {
        spans = spans.own(Tone::Dim, format!(" · {}", more.replace(' ', "\u{a0}")));
    }
    if page.style.tz != Tz::Utc && quotes_utc(answer, page.style) {
        spans = spans.own(Tone::Dim, " · times ending in Z are UTC");
    }
    page.gap();
    page.hang(Spans::new(), spans);
}
