//! What the processes said, in a few labelled lines.

use crate::answer::{Collective, FailingBy, FirstFailing, Incident, Milestone, MissingBy};

use super::clock::{Clock, duration, seconds_between};
use super::page::{Spans, Tone};
use super::wording;

/// The labelled lines of an incident's logs.
pub(crate) fn facts(incident: &Incident, clock: Clock) -> Vec<(&'static str, Spans)> {
    let output = &incident.said;
    let mut lines = Vec::new();
    if let Some(collective) = &output.collective {
        lines.push(("Waited", waited(collective, clock)));
    }
    let victim = incident.first_victim.as_ref();
    // The headline says it already where the first victim's own failure led.
    let news = output.first_failing.as_ref().filter(|failing| {
        failing.by == FailingBy::Content
            || failing.pod.as_deref() != victim.map(|victim| victim.pod.as_str())
                && !came_late(failing, incident)
    });
    if let Some(failing) = news {
        lines.push(("First error", failed_first(failing, clock)));
    }
    if let Some(work) = work(incident, clock) {
        lines.push(("Work", work));
    }
    lines
}

/// Whether an error is known by its time alone, and was written well after the cause: it tells of what followed.
fn came_late(failing: &FirstFailing, incident: &Incident) -> bool {
    const LATE_S: f64 = 30.0;
    let after = seconds_between(incident.time.as_deref(), failing.time.as_deref());
    after.is_some_and(|after| after > LATE_S)
}

fn waited(collective: &Collective, clock: Clock) -> Spans {
    let mut spans = Spans::new();
    spans = match collective.waiting.as_slice() {
        [] => spans.say("for a rank that did not join"),
        waiting => spans.say(wording::ranks(waiting)),
    };
    if let Some(op) = &collective.op {
        spans = spans.say(" in ").data(Tone::Plain, op);
        if let Some(seq) = collective.seq {
            spans = spans.say(format!("\u{a0}{seq}"));
        }
    }
    if let Some(since) = &collective.since {
        spans = spans.say(format!(" since\u{a0}{}", clock.time(since)));
    }
    if !collective.missing.is_empty() {
        let ranks = wording::ranks(&collective.missing);
        spans = spans
            .say("; ")
            .own(Tone::Strong, format!("{ranks} did not join"));
        if collective.missing_by == Some(MissingBy::Elimination) {
            spans = spans.own(
                Tone::Dim,
                " (the logs of all other ranks show that they waited)",
            );
        }
    }
    spans
}

fn failed_first(failing: &FirstFailing, clock: Clock) -> Spans {
    let mut spans = Spans::new();
    spans = match (&failing.pod, failing.rank) {
        (Some(pod), Some(rank)) => spans
            .data(Tone::Name, pod)
            .say(format!(" (rank\u{a0}{rank})")),
        (Some(pod), None) => spans.data(Tone::Name, pod),
        (None, Some(rank)) => spans.say(format!("rank\u{a0}{rank}")),
        (None, None) => spans.say("a rank"),
    };
    let how = match failing.by {
        FailingBy::Content => ", according to the logs",
        FailingBy::Clock => ", by timestamp",
    };
    spans = spans.own(Tone::Dim, how);
    if let Some(time) = &failing.time {
        spans = spans.own(Tone::Dim, format!(" at\u{a0}{}", clock.time(time)));
    }
    if !failing.also.is_empty() {
        let many = wording::count(failing.also.len(), "more pod");
        spans = spans.own(
            Tone::Warn,
            format!("; {many} too close in time to order them"),
        );
    }
    // A heading says no more than that an error follows.
    if failing.text.trim_end().ends_with(':') {
        return spans;
    }
    spans.say(": ").data(Tone::Plain, &failing.text)
}

/// How far the work came, and what of it has to be done again.
fn work(incident: &Incident, clock: Clock) -> Option<Spans> {
    let output = &incident.said;
    let at = |milestone: &Milestone| {
        let time = milestone.time.as_deref();
        time.map_or(String::new(), |time| {
            format!(" at\u{a0}{}", clock.time(time))
        })
    };
    let step = |milestone: &Milestone| {
        let step = milestone.step;
        step.map_or(String::new(), |step| {
            let step = wording::grouped(step.unsigned_abs());
            format!(" step\u{a0}{step}")
        })
    };
    let mut spans = Spans::new();
    if let Some(last) = &output.last_step {
        let what = match last.step {
            Some(_) => "last",
            None => "last sign of progress",
        };
        spans = spans.say(format!("{what}{}{}", step(last), at(last)));
    }
    match &output.last_checkpoint {
        Some(saved) => {
            if !spans.is_empty() {
                spans = spans.say("; ");
            }
            spans = spans.say(format!("checkpoint{}{}", step(saved), at(saved)));
            if let Some(path) = &saved.path {
                spans = spans.say(" ").data(Tone::Dim, path);
            }
            if let Some(lost) = output.since_checkpoint_s {
                spans = spans
                    .say(", ")
                    .own(Tone::Warn, format!("{} before the end", duration(lost)));
            }
        }
        None if output.last_step.is_some() => {
            spans = spans.own(Tone::Dim, "; no completed checkpoint was found");
        }
        None => return None,
    }
    Some(spans)
}
