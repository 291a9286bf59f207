//! The head of the answer: what, who, which pod first, how many followed.

use crate::answer::{Answer, Incident, Run};

use super::super::clock::{Clock, duration, run_of, seconds_between};
use super::super::page::{Page, Spans, Tone};
use super::super::{said, words};

/// Columns of the labels before the facts.
const LABEL: usize = 12;

pub(super) fn show(page: &mut Page<'_>, answer: &Answer, main: Option<&Incident>) {
    let run = main
        .and_then(|incident| run_of(answer, incident))
        .or(answer.runs.first());
    headline(page, answer, main, run);
    page.gap();
    match main {
        Some(incident) => {
            page.prose(indent(), Spans::new().data(Tone::Strong, &incident.summary));
            page.gap();
            facts(page, incident);
        }
        None => page.prose(indent(), nothing(answer)),
    }
    page.gap();
    identity(page, answer, run);
    for note in &answer.notes {
        fact(page, "Note", Spans::new().data(Tone::Warn, note));
    }
}

fn headline(page: &mut Page<'_>, answer: &Answer, main: Option<&Incident>, run: Option<&Run>) {
    let state = run.map_or("unknown", |run| run.state.as_str());
    let (sign, tone) = words::state_sign(state);
    let name = answer.experiment.as_deref().unwrap_or_default();
    let mut line = Spans::new().data(Tone::Strong, name);
    if let Some(run) = run {
        line = line.say(" · ").say(words::run_of_runs(&answer.runs, run));
        let newest = run.attempts.last().map(|attempt| attempt.number);
        if let Some(number) = main.and_then(|incident| incident.attempt).or(newest) {
            line = line.say(format!(", attempt\u{a0}{number}"));
        }
        let until = run.end.as_deref().or(answer.now.as_deref());
        let took = seconds_between(run.start.as_deref(), until)
            .filter(|s| *s >= 0.0)
            .map(duration);
        line = line
            .say(" · ")
            .own(tone, words::state_took(state, took.as_deref()));
    }
    page.hang(Spans::new().own(tone, sign).say(" "), line);
}

/// What is said where no incident leads.
fn nothing(answer: &Answer) -> Spans {
    let gaps = answer
        .coverage
        .iter()
        .filter(|row| row.status != "complete")
        .count();
    let spans = match answer.runs.first() {
        None => Spans::new().own(
            Tone::Strong,
            "No run of that name was seen in what was read.",
        ),
        Some(run) if run.state == "completed" => {
            Spans::new().own(Tone::Strong, "It completed; nothing hurt it.")
        }
        Some(_) => Spans::new().own(
            Tone::Strong,
            "Nothing ended; no incident was found in what was read.",
        ),
    };
    match gaps {
        0 => spans,
        _ => spans.say(
            " Some sources were not read, or not in full: see below what they would have shown.",
        ),
    }
}

fn facts(page: &mut Page<'_>, incident: &Incident) {
    let died = incident.chain.iter().any(|link| link.role == "death");
    cause(page, incident);
    match &incident.actor {
        Some(actor) => fact(
            page,
            if died { "Killed by" } else { "Done by" },
            words::actor(actor),
        ),
        None if incident.actor_unseen => {
            let label = if died { "Killed by" } else { "Done by" };
            let unseen = Spans::new().own(Tone::Warn, "an unseen actor");
            fact(
                page,
                label,
                unseen.say(": no source that was read says who"),
            );
        }
        None => {}
    }
    first(
        page,
        incident,
        if died { "Died first" } else { "Hit first" },
    );
    let also: Vec<_> = incident
        .victims
        .iter()
        .filter(|victim| !is_first(incident, &victim.pod))
        .cloned()
        .collect();
    if !also.is_empty() {
        fact(page, "Also hit", words::crowd(&also));
    }
    if !incident.collateral.is_empty() {
        fact(page, "Followed", words::crowd(&incident.collateral));
    }
    for (label, body) in said::facts(incident, Clock(page.style.tz)) {
        fact(page, label, body);
    }
    if let Some(hours) = incident.gpu_hours_lost.filter(|hours| *hours > 0.0) {
        fact(page, "Lost", Spans::new().say(words::gpu_hours(hours)));
    }
}

fn cause(page: &mut Page<'_>, incident: &Incident) {
    if incident.level == "unknown" || incident.cause == "unknown" {
        fact(
            page,
            "Cause",
            Spans::new().own(Tone::Warn, "could not be determined"),
        );
        return;
    }
    let mut body = Spans::new();
    if !incident.title.is_empty() {
        body = body
            .data(Tone::Plain, &incident.title)
            .own(Tone::Dim, " · ");
    }
    let tone = if words::is_calm(incident) {
        Tone::Plain
    } else {
        Tone::Bad
    };
    body = body.data(tone, &incident.cause).own(Tone::Dim, " · ");
    let level = words::level(&incident.level).replace(' ', "\u{a0}");
    body = body.data(words::level_tone(&incident.level), &level);
    if page.style.explain {
        body = body.own(
            Tone::Dim,
            format!(": {}", words::level_means(&incident.level)),
        );
    }
    fact(
        page,
        if words::is_calm(incident) {
            "Verdict"
        } else {
            "Cause"
        },
        body,
    );
    if !page.style.explain && !incident.against.is_empty() {
        let many = words::count(incident.against.len(), "record");
        let verb = if incident.against.len() == 1 {
            "speaks"
        } else {
            "speak"
        };
        let body = Spans::new().own(Tone::Warn, format!("{many} {verb} against it"));
        fact(page, "", body.own(Tone::Dim, " (--explain)"));
    }
}

fn first(page: &mut Page<'_>, incident: &Incident, label: &str) {
    if incident.first_victims.len() > 1 {
        let body = words::crowd(&incident.first_victims);
        fact(
            page,
            label,
            body.own(Tone::Dim, "; their times cannot be told apart"),
        );
        return;
    }
    let Some(victim) = &incident.first_victim else {
        return;
    };
    let mut body = words::victim(victim);
    if let Some(time) = &victim.time {
        body = body.say(format!(" at\u{a0}{}", Clock(page.style.tz).time(time)));
    }
    if !victim.how.is_empty() {
        body = body.say(", ").data(Tone::Plain, &victim.how);
    }
    if let Some(code) = victim.exit_code {
        body = body.say(format!(", exit\u{a0}{code}"));
    }
    fact(page, label, body);
}

fn is_first(incident: &Incident, pod: &str) -> bool {
    let first = incident.first_victim.iter().chain(&incident.first_victims);
    first.into_iter().any(|victim| victim.pod == pod)
}

/// Which object this is about, for the reader who knows several of the name.
fn identity(page: &mut Page<'_>, answer: &Answer, run: Option<&Run>) {
    let mut body = Spans::new();
    let Some(run) = run else {
        return;
    };
    body = body.data(Tone::Dim, &run.kind).own(Tone::Dim, "\u{a0}");
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
        body = body
            .own(Tone::Dim, " · made by\u{a0}")
            .data(Tone::Dim, owner);
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
