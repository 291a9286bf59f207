//! Why: the chain from cause to effect, a step a line.

use crate::answer::{Answer, ChainLink, Edge, Incident, StepRole};

use super::super::clock::{Clock, offset, seconds_between, zero};
use super::super::page::{Page, Spans, Tone};
use super::super::text::clip;
use super::evidence::ids;

/// Characters of a step that are shown; `--explain` shows all.
const CHARACTERS: usize = 200;

pub(super) fn show(page: &mut Page<'_>, answer: &Answer, incident: &Incident) {
    if incident.chain.is_empty() {
        return;
    }
    let clock = Clock(page.style.tz);
    let zero = zero(answer, Some(incident));
    let times: Vec<Cell> = incident
        .chain
        .iter()
        .map(|link| cell(link, clock, zero.as_deref()))
        .collect();
    let time_width = times.iter().map(|cell| cell.time.len()).max().unwrap_or(0);
    let role_width = incident
        .chain
        .iter()
        .map(|link| link.role.as_str().len())
        .max()
        .unwrap_or(0);
    let offset_width = times
        .iter()
        .map(|cell| cell.offset.len())
        .max()
        .unwrap_or(0);
    let remark = incident.chain.iter().find_map(|link| link.time.as_deref());
    let remark = remark.map_or_else(Spans::new, |time| {
        Spans::new().own(Tone::Dim, clock.day_and_zone(time))
    });
    page.section("Why", remark);
    let mut day = None;
    for (link, cell) in incident.chain.iter().zip(&times) {
        let today = link.time.as_deref().and_then(|time| clock.day(time));
        if day.is_some() && today.is_some() && day != today {
            page.hang(
                Spans::new().say("  "),
                Spans::new().own(Tone::Dim, today.clone().unwrap_or_default()),
            );
        }
        day = today.or(day);
        let (sign, tone) = sign(link.role);
        let time = format!(
            "  {:>time_width$} {:>offset_width$}  ",
            cell.time, cell.offset
        );
        let prefix = Spans::new().own(Tone::Dim, time).own(tone, sign).say(" ");
        let prefix = prefix.own(tone, link.role.as_str());
        let prefix = prefix.pad(2 + time_width + 1 + offset_width + 2 + 2 + role_width + 2);
        let text = if matches!(
            link.role,
            StepRole::Cause | StepRole::Death | StepRole::Stuck
        ) {
            Tone::Strong
        } else {
            Tone::Plain
        };
        let reported = if page.style.explain {
            link.text.clone()
        } else {
            clip(&link.text, CHARACTERS).into_owned()
        };
        page.hang(prefix.clone(), Spans::new().data(text, &reported));
        if page.style.explain {
            page.hang(Spans::new().pad(prefix.width()), edge_words(link));
        }
    }
}

struct Cell {
    time: String,
    offset: String,
}

fn cell(link: &ChainLink, clock: Clock, zero: Option<&str>) -> Cell {
    Cell {
        time: link
            .time
            .as_deref()
            .map(|time| match &link.time_hi {
                Some(_) => format!("~{}", clock.time(time)),
                None => clock.time(time),
            })
            .unwrap_or_default(),
        offset: seconds_between(zero, link.time.as_deref())
            .map(offset)
            .unwrap_or_default(),
    }
}

fn sign(role: StepRole) -> (&'static str, Tone) {
    match role {
        StepRole::Cause => ("●", Tone::Fatal),
        StepRole::Announcement => ("○", Tone::Warn),
        StepRole::Mechanism => ("│", Tone::Plain),
        StepRole::Death => ("✗", Tone::Fatal),
        StepRole::Stuck => ("○", Tone::Fatal),
        StepRole::Teardown => ("↳", Tone::Plain),
        StepRole::Outcome => ("→", Tone::Strong),
    }
}

/// How the step is tied to the one before it, and which records say so.
fn edge_words(link: &ChainLink) -> Spans {
    let spans = Spans::new();
    let spans = match link.edge {
        Some(Edge::Asserted) => spans.own(
            Tone::Dim,
            "asserted: one record names both this step and the one before · ",
        ),
        Some(Edge::Inferred) => spans.own(
            Tone::Dim,
            "inferred: the same pod, node or run at that time, but no record names both · ",
        ),
        Some(Edge::Guess) => spans.own(
            Tone::Dim,
            "guess: by elimination, since nothing else was found · ",
        ),
        Some(Edge::Context) => spans.own(Tone::Dim, "context: not part of the proof · "),
        Some(Edge::Against) => spans.own(Tone::Dim, "against · "),
        None => spans,
    };
    spans.and(ids(&link.event_ids))
}
