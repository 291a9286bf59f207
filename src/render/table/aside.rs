//! What stands beside the verdict: losers, advice, other runs and incidents.

use crate::answer::{Answer, Incident, IncidentRole, Run};
use whathappened_core::death::RunState;

use super::super::clock::{Clock, duration, run_of, seconds_between};
use super::super::page::{Page, Spans, Tone};
use super::super::wording;

/// Lines of a list before the rest is counted.
const LINES: usize = 6;

/// Lines of a traceback that are shown, its last ones.
const TRACEBACK: usize = 6;

/// Other incidents that are shown, a line each, beside the verdict.
const BESIDE: usize = 3;

/// Causes that were considered and lost.
pub(super) fn ruled_out(page: &mut Page<'_>, incident: &Incident) {
    if incident.alternatives.is_empty() {
        return;
    }
    page.section("Ruled out", Spans::new());
    let limit = if page.style.explain {
        usize::MAX
    } else {
        LINES
    };
    for alternative in incident.alternatives.iter().take(limit) {
        let mut body = Spans::new().data(Tone::Strong, &alternative.cause);
        if page.style.explain {
            body = body
                .own(Tone::Dim, " (at most ")
                .data(Tone::Dim, alternative.level.as_str())
                .own(Tone::Dim, ")");
        }
        body = body.say(": ").data(Tone::Plain, &alternative.why_not);
        page.prose(Spans::new().own(Tone::Dim, "  not "), body);
    }
    and_more(
        page,
        incident.alternatives.len(),
        limit,
        "other cause",
        "--explain",
    );
}

/// The end of the traceback, as the process wrote it.
pub(super) fn traceback(page: &mut Page<'_>, incident: &Incident) {
    let Some(traceback) = &incident.said.traceback else {
        return;
    };
    let lines: Vec<&str> = traceback.text.lines().collect();
    // One line is told in the headline.
    if lines.len() < 2 {
        return;
    }
    let shown = if page.style.explain {
        lines.as_slice()
    } else {
        &lines[lines.len().saturating_sub(TRACEBACK)..]
    };
    let mut whose = Spans::new().data(Tone::Name, &traceback.pod);
    if let Some(rank) = traceback.rank {
        whose = whose.say(format!(" (rank\u{a0}{rank})"));
    }
    if let Some(time) = &traceback.time {
        let time = Clock(page.style.tz).time(time);
        whose = whose.own(Tone::Dim, format!(" at\u{a0}{time}"));
    }
    if shown.len() < lines.len() {
        whose = whose.own(Tone::Dim, format!(" · its last {TRACEBACK} lines"));
    }
    page.section("Traceback", whose);
    for line in shown {
        let text = line.trim_start();
        let indent = " ".repeat(line.len() - text.len());
        page.hang(
            Spans::new().say(format!("  {indent}")),
            Spans::new().data(Tone::Plain, text),
        );
    }
}

/// What to do now.
pub(super) fn advice(page: &mut Page<'_>, incident: &Incident) {
    if incident.advice.is_empty() {
        return;
    }
    page.section("What to do", Spans::new());
    for advice in &incident.advice {
        page.prose(
            Spans::new().own(Tone::Strong, "  → "),
            Spans::new().data(Tone::Plain, advice),
        );
    }
}

/// Attempts of the explained run, and the other runs of the name.
pub(super) fn runs(page: &mut Page<'_>, answer: &Answer, main: Option<&Incident>) {
    let explained = main
        .and_then(|incident| run_of(answer, incident))
        .or(answer.runs.first());
    if let Some(run) = explained.filter(|run| run.attempts.len() > 1) {
        page.section("Attempts", Spans::new());
        let older = run.attempts.len().saturating_sub(LINES);
        if older > 0 {
            let older = format!("⋯ {} before", wording::count(older, "attempt"));
            page.prose(Spans::new().say("    "), Spans::new().own(Tone::Dim, older));
        }
        for attempt in &run.attempts[older..] {
            let what = format!("attempt\u{a0}{}", attempt.number);
            let took = (attempt.start.as_deref(), attempt.end.as_deref());
            line(
                page,
                &what,
                attempt.state,
                took,
                Spans::new().say(wording::pods_died(run, attempt)),
            );
        }
    }
    if answer.runs.len() > 1 {
        page.section("Runs", Spans::new());
        for run in answer.runs.iter().take(LINES) {
            let what = wording::run_of_runs(run);
            line(
                page,
                &what,
                run.state,
                (run.start.as_deref(), run.end.as_deref()),
                about(run),
            );
        }
        and_more(
            page,
            answer.runs.len(),
            LINES,
            "earlier run",
            "--format json",
        );
    }
}

fn about(run: &Run) -> Spans {
    let kind = wording::kind(&run.kind).replace(' ', "\u{a0}");
    let mut spans = Spans::new().data(Tone::Plain, &kind).say("\u{a0}");
    if let Some(namespace) = &run.namespace {
        spans = spans.data(Tone::Plain, namespace).say("/");
    }
    spans = spans.data(Tone::Plain, &run.name);
    if let Some(cluster) = &run.cluster {
        spans = spans.say(" on ").data(Tone::Plain, cluster);
    }
    let last = run.attempts.last();
    let pods = last.map(|attempt| wording::pods_died(run, attempt));
    match (run.attempts.len(), pods) {
        (0, _) | (_, None) => spans,
        (1, Some(pods)) => spans.own(Tone::Dim, format!(" · {pods}")),
        (n, Some(pods)) => spans.own(
            Tone::Dim,
            format!(" · {}, the last with {pods}", wording::count(n, "attempt")),
        ),
    }
}

fn line(
    page: &mut Page<'_>,
    what: &str,
    state: RunState,
    (start, end): (Option<&str>, Option<&str>),
    more: Spans,
) {
    let (sign, tone) = wording::state_sign(state);
    let mut body = Spans::new();
    if let Some(start) = start {
        let clock = Clock(page.style.tz);
        body = body
            .own(Tone::Dim, clock.full(start).replace(' ', "\u{a0}"))
            .say("  ");
    }
    let took = seconds_between(start, end)
        .filter(|s| *s >= 0.0)
        .map(duration);
    body = body
        .own(tone, wording::state_took(state, took.as_deref()))
        .own(Tone::Dim, " · ")
        .and(more);
    page.prose(
        Spans::new()
            .say("  ")
            .own(tone, sign)
            .say(format!(" {what}  ")),
        body,
    );
}

/// Incidents that do not lead: recovered, earlier, faults.
pub(super) fn others(page: &mut Page<'_>, answer: &Answer, main: Option<&Incident>) {
    let others: Vec<&Incident> = answer
        .incidents
        .iter()
        .filter(|incident| main.is_none_or(|main| !std::ptr::eq(*incident, main)))
        .collect();
    if others.is_empty() {
        return;
    }
    page.section("Also happened", Spans::new());
    let explain = page.style.explain;
    let limit = if explain { LINES } else { BESIDE };
    let others = folded(&others);
    for (incident, again) in others.iter().take(limit) {
        let clock = Clock(page.style.tz);
        let time = incident
            .time
            .as_deref()
            .map(|time| clock.full(time).replace(' ', "\u{a0}"));
        let mut body = Spans::new()
            .own(Tone::Dim, time.unwrap_or_default())
            .say("  ");
        body = body
            .data(Tone::Strong, &incident.cause)
            .own(Tone::Dim, " · ");
        body = body
            .data(wording::level_tone(incident.level), incident.level.as_str())
            .own(Tone::Dim, " · ");
        body = body.say(role_in(answer, incident));
        if let Some(attempt) = incident.attempt {
            body = body.say(format!(", attempt\u{a0}{attempt}"));
        }
        if !again.is_empty() {
            let last = again.iter().filter_map(|one| one.time.as_deref()).max();
            let until = last.filter(|last| incident.time.as_deref() < Some(*last));
            let until = until.map(|until| format!(" until\u{a0}{}", clock.time(until)));
            let until = until.unwrap_or_default();
            body = body.own(Tone::Dim, format!(" · ×{}{until}", again.len() + 1));
        }
        page.prose(Spans::new().own(Tone::Dim, "  • "), body);
        page.prose(
            Spans::new().say("    "),
            Spans::new().data(Tone::Plain, &incident.summary),
        );
    }
    let by = if explain {
        "--format json"
    } else {
        "--explain"
    };
    and_more(page, others.len(), limit, "other incident", by);
}

/// Incidents in the order given, each with those that are the same again: of the same pod, with the
/// same cause, as well proven.
fn folded<'a>(all: &[&'a Incident]) -> Vec<(&'a Incident, Vec<&'a Incident>)> {
    let key = |one: &'a Incident| {
        let pod = one.first_victim.as_ref().map(|victim| victim.pod.as_str());
        (one.cause.as_str(), one.level, one.role, one.attempt, pod)
    };
    let mut found: Vec<(&Incident, Vec<&Incident>)> = Vec::new();
    for one in all {
        let same = found
            .iter_mut()
            .find(|(first, _)| key(first) == key(one) && key(one).4.is_some());
        match same {
            Some((_, again)) => again.push(one),
            None => found.push((one, Vec::new())),
        }
    }
    found
}

/// What an incident was to its run, or to the one that leads the answer, in words.
pub(crate) fn role_in(answer: &Answer, incident: &Incident) -> &'static str {
    let own = run_of(answer, incident).filter(|_| incident.role == IncidentRole::Also);
    let is_anothers = own
        .zip(answer.runs.first())
        .is_some_and(|(own, leading)| own.id != leading.id);
    match is_anothers {
        true => "of another run at that time",
        false => role(incident.role),
    }
}

/// What an incident was to its run, in words.
pub(super) fn role(role: IncidentRole) -> &'static str {
    match role {
        IncidentRole::Recovered => "the run continued",
        IncidentRole::Earlier => "of an earlier run",
        IncidentRole::Episode => "the run continued",
        IncidentRole::Fault => "no known victim",
        IncidentRole::Announced => "announced, not known to have taken place",
        IncidentRole::Main | IncidentRole::Also => role.as_str(),
    }
}

fn and_more(page: &mut Page<'_>, all: usize, shown: usize, noun: &str, by: &str) {
    if all > shown {
        let more = format!("⋯ and {}: {by}", wording::count(all - shown, noun));
        page.prose(Spans::new().say("  "), Spans::new().own(Tone::Dim, more));
    }
}
