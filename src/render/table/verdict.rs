//! The head of the answer: what, who, which pod first, how many followed.

use crate::answer::{Answer, Incident, Run};

use super::super::clock::Clock;
use super::super::facts;
use super::super::page::{Page, Spans, Tone};
use super::super::wording;

/// Columns of the labels before the facts.
const LABEL: usize = 12;

pub(super) fn show(page: &mut Page<'_>, answer: &Answer, main: Option<&Incident>) {
    let (sign, line) = facts::headline(answer, main);
    page.hang(sign, line);
    page.gap();
    match main {
        Some(incident) => {
            page.prose(indent(), Spans::new().data(Tone::Strong, &incident.summary));
            page.gap();
            let clock = Clock(page.style.tz);
            for (label, body) in facts::facts(answer, incident, clock, page.style.explain) {
                fact(page, label, body);
            }
        }
        None => page.prose(indent(), facts::nothing(answer)),
    }
    page.gap();
    identity(page, answer, facts::subject_run(answer, main));
    for note in &answer.notes {
        fact(page, "Note", Spans::new().data(Tone::Warn, note));
    }
}

/// Which object this is about, for the reader who knows several of the name.
fn identity(page: &mut Page<'_>, answer: &Answer, run: Option<&Run>) {
    let mut body = Spans::new();
    let Some(run) = run else {
        return;
    };
    body = body
        .data(Tone::Dim, wording::kind(&run.kind))
        .own(Tone::Dim, "\u{a0}");
    if let Some(namespace) = &run.namespace {
        body = body.data(Tone::Dim, namespace).own(Tone::Dim, "/");
    }
    body = body.data(Tone::Dim, &run.name);
    if let Some(cluster) = &run.cluster {
        body = body
            .own(Tone::Dim, " · cluster\u{a0}")
            .data(Tone::Dim, cluster);
    }
    if let Some(owner) = &run.owner {
        body = body.own(Tone::Dim, " · by\u{a0}").data(Tone::Dim, owner);
    }
    if let Some(start) = &run.start {
        let start = Clock(page.style.tz).full(start).replace(' ', "\u{a0}");
        body = body.own(Tone::Dim, format!(" · created\u{a0}{start}"));
    }
    if let Some(matched) = &answer.matched_by {
        let matched = matched.replace(' ', "\u{a0}");
        body = body
            .own(Tone::Dim, " · found by\u{a0}")
            .data(Tone::Dim, &matched);
    }
    page.prose(indent(), body);
}

fn fact(page: &mut Page<'_>, label: &str, body: Spans) {
    page.prose(indent().own(Tone::Dim, label).pad(LABEL + 2), body);
}

fn indent() -> Spans {
    Spans::new().say("  ")
}
