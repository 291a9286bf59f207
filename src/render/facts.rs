//! What every page says of a verdict, whatever it looks like.

use crate::answer::{Answer, Incident, Level, Run, StepRole, Victim};
use whathappened_core::death::{DeathState, RunState};
use whathappened_model::coverage::Status;

use whathappened_model::time::SECOND;

use super::clock::{Clock, duration, run_of, seconds_between};
use super::machine_history::before;
use super::page::{Spans, Tone};
use super::{process_output, wording};

/// The run that is told of: that of the main incident, else the newest.
pub(crate) fn subject_run<'a>(answer: &'a Answer, main: Option<&Incident>) -> Option<&'a Run> {
    main.and_then(|incident| run_of(answer, incident))
        .or(answer.runs.first())
}

/// Which run, and how it stands: its sign and the words beside it.
pub(crate) fn headline(answer: &Answer, main: Option<&Incident>) -> (Spans, Spans) {
    let run = subject_run(answer, main);
    let state = run.map_or(RunState::Unknown, |run| run.state);
    let (sign, tone) = wording::state_sign(state);
    let name = answer.experiment.as_deref().unwrap_or_default();
    let mut line = Spans::new().data(Tone::Strong, name);
    if let Some(run) = run {
        line = line.say(" · ").say(wording::run_of_runs(run));
        let newest = run.attempts.last().map(|attempt| attempt.number);
        if let Some(number) = main.and_then(|incident| incident.attempt).or(newest) {
            line = line.say(format!(", attempt\u{a0}{number}"));
        }
        let until = until(answer, run, main);
        let took = seconds_between(since(run), until)
            .filter(|s| *s >= 0.0)
            .map(duration);
        line = line
            .say(" · ")
            .own(tone, wording::state_took(state, took.as_deref()));
    }
    (Spans::new().own(tone, sign).say(" "), line)
}

/// Since when a run has stood as it does, where it waits again; else since when it is there.
fn since(run: &Run) -> Option<&str> {
    let again = run
        .attempts
        .last()
        .filter(|_| run.state == RunState::Pending);
    let again = again.and_then(|last| {
        let earlier = run.attempts.len() > 1;
        last.end
            .as_deref()
            .or(last.start.as_deref().filter(|_| earlier))
    });
    again.or(run.start.as_deref())
}

/// Until when a run took: what is over was over at its end, or when its first pod died;
/// where neither is known the present says nothing of it.
pub(crate) fn until<'a>(
    answer: &'a Answer,
    run: &'a Run,
    main: Option<&'a Incident>,
) -> Option<&'a str> {
    if run.state.goes_on() {
        return answer.now.as_deref();
    }
    let victim = || {
        main?
            .first_victim
            .as_ref()
            .filter(|one| !is_wide(one))?
            .time
            .as_deref()
    };
    run.end.as_deref().or_else(victim)
}

/// What is said where no incident leads.
pub(crate) fn nothing(answer: &Answer) -> Spans {
    let gaps = answer
        .coverage
        .iter()
        .filter(|row| row.status != Status::Complete)
        .count();
    let spans = match answer.runs.first() {
        None => Spans::new().own(
            Tone::Strong,
            "No run with that name was found in the data that was read.",
        ),
        Some(run) if run.state == RunState::Completed => {
            Spans::new().own(Tone::Strong, "Completed without incidents.")
        }
        Some(run) if matches!(run.state, RunState::Deleted | RunState::Deleting) => Spans::new()
            .own(
                Tone::Strong,
                "Deleted; no incident was found in the data that was read.",
            ),
        Some(_) => Spans::new().own(
            Tone::Strong,
            "Nothing has ended, and no incident was found in the data that was read.",
        ),
    };
    match gaps {
        0 => spans,
        _ => spans.say(
            " Some sources were not read, or only in part; see below for what they would have shown.",
        ),
    }
}

/// What became of those that were hit first, where it is the same of all.
fn fate(incident: &Incident) -> &'static str {
    let first = incident.first_victim.iter().chain(&incident.first_victims);
    let fates = first.map(|victim| match victim.state {
        DeathState::CrashLoop => "loops",
        DeathState::Died | DeathState::Restarted => "died",
        DeathState::Failed | DeathState::Failing => "hit",
        DeathState::NotRecorded
            if incident
                .chain
                .iter()
                .any(|link| link.role == StepRole::Death) =>
        {
            "died"
        }
        DeathState::NotRecorded => "hit",
        _ => "stuck",
    });
    let mut fates: Vec<&str> = fates.collect();
    fates.sort_unstable();
    fates.dedup();
    match fates.as_slice() {
        ["died"] | ["died", "loops"] => "died",
        ["loops"] => "loops",
        ["stuck"] => "stuck",
        _ => "hit",
    }
}

/// How whoever was first is called: what never ran did not die.
pub(crate) fn came_first(incident: &Incident) -> &'static str {
    match fate(incident) {
        "died" if others_ended_before(incident) || worked_on(incident) => "Hit first",
        "died" => "Died first",
        "loops" => "Keeps dying",
        "stuck" => "Stuck first",
        _ => "Hit first",
    }
}

/// Whether those that followed had ended when the first one to fail did: it may have hung on in its cleanup.
fn others_ended_before(incident: &Incident) -> bool {
    let first = incident.first_victim.as_ref();
    let ended = first.and_then(|first| first.time.as_deref());
    let mut followed = incident.collateral.iter();
    followed.any(|other| {
        let lag = seconds_between(other.time.as_deref(), ended);
        lag.is_some_and(|lag| lag >= 1.0)
    })
}

/// Whether steps were made well after the first one's end was asked for: it had not died then.
fn worked_on(incident: &Incident) -> bool {
    let first = incident.first_victim.as_ref();
    let ended = first.and_then(|first| first.time.as_deref());
    let last = incident.said.last_step.as_ref();
    let last = last.and_then(|last| last.time.as_deref());
    seconds_between(ended, last).is_some_and(|later| later > 60.0)
}

/// How the one who did it is called.
pub(crate) fn done_by(incident: &Incident) -> &'static str {
    match fate(incident) {
        "died" | "loops" => "Killed by",
        _ => "Done by",
    }
}

/// A label and what stands behind it.
pub(crate) type Fact = (&'static str, Spans);

/// What is known of an incident, in labelled lines.
pub(crate) fn facts(
    answer: &Answer,
    incident: &Incident,
    clock: Clock,
    explain: bool,
) -> Vec<Fact> {
    let mut facts = Vec::new();
    let member = wording::member(run_of(answer, incident));
    let by = done_by(incident);
    cause(&mut facts, incident, explain);
    match &incident.actor {
        Some(actor) => fact(&mut facts, by, wording::actor(actor)),
        None if incident.actor_unseen => {
            let unseen = Spans::new().own(Tone::Warn, "an unknown actor");
            fact(
                &mut facts,
                by,
                unseen.say(": none of the sources read shows who"),
            );
        }
        None => {}
    }
    first(&mut facts, incident, clock, member);
    let also: Vec<_> = incident
        .victims
        .iter()
        .filter(|victim| !is_first(incident, &victim.pod))
        .cloned()
        .collect();
    if !also.is_empty() {
        fact(&mut facts, "Also hit", wording::crowd(&also, member));
    }
    if !incident.collateral.is_empty() {
        let followed = wording::crowd(&incident.collateral, member);
        fact(&mut facts, "Followed", followed);
    }
    for (label, body) in process_output::facts(incident, clock) {
        fact(&mut facts, label, body);
    }
    if let Some(known) = &incident.before {
        let body = before(known, incident.time.as_deref(), clock);
        fact(&mut facts, "Before", body);
    }
    if let Some(hours) = incident.gpu_hours_lost.filter(|hours| *hours > 0.0) {
        fact(
            &mut facts,
            "Lost",
            Spans::new().say(wording::gpu_hours(hours)),
        );
    }
    facts
}

fn cause(facts: &mut Vec<Fact>, incident: &Incident, explain: bool) {
    let unknown = incident.level == Level::Unknown && !wording::is_calm(incident);
    if unknown || incident.cause == "unknown" {
        fact(
            facts,
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
    let tone = if wording::is_calm(incident) {
        Tone::Plain
    } else {
        Tone::Bad
    };
    body = body.data(tone, &incident.cause);
    // A state that is unknown says so itself.
    let is_level_shown = incident.level != Level::Unknown;
    if is_level_shown {
        let level = wording::level(incident.level).replace(' ', "\u{a0}");
        body = body
            .own(Tone::Dim, " · ")
            .data(wording::level_tone(incident.level), &level);
    }
    if explain && is_level_shown {
        body = body.own(
            Tone::Dim,
            format!(": {}", wording::level_means_of(incident)),
        );
    }
    fact(
        facts,
        if wording::is_calm(incident) {
            "Verdict"
        } else {
            "Cause"
        },
        body,
    );
    if !explain && !incident.against.is_empty() {
        let many = wording::count(incident.against.len(), "record");
        let verb = if incident.against.len() == 1 {
            "is evidence"
        } else {
            "are evidence"
        };
        let body = Spans::new().own(Tone::Warn, format!("{many} {verb} against it"));
        fact(facts, "", body.own(Tone::Dim, " (--explain)"));
    }
}

fn first(facts: &mut Vec<Fact>, incident: &Incident, clock: Clock, member: &str) {
    let label = came_first(incident);
    if incident.first_victims.len() > 1 {
        let body = wording::crowd(&incident.first_victims, member);
        fact(
            facts,
            label,
            body.own(Tone::Dim, "; too close in time to order them"),
        );
        return;
    }
    let Some(victim) = &incident.first_victim else {
        return;
    };
    let mut body = wording::victim(victim);
    let (time, until) = (victim.time.as_deref(), victim.time_hi.as_deref());
    match (time, until) {
        (Some(time), Some(until)) if is_wide(victim) => {
            let (time, until) = (clock.time(time), clock.time(until));
            body = body.say(format!(" between\u{a0}{time} and\u{a0}{until}"));
        }
        (Some(time), _) => body = body.say(format!(" at\u{a0}{}", clock.time(time))),
        (None, _) => {}
    }
    if !victim.how.is_empty() {
        body = body.say(", ").data(Tone::Plain, &victim.how);
    }
    let has_code = |code: i32| victim.how.contains(&format!("exit code {code}"));
    if let Some(code) = victim.exit_code.filter(|code| !has_code(*code)) {
        body = body.say(format!(", exit\u{a0}{code}"));
    }
    fact(facts, label, body);
}

/// Whether nobody saw an end, and it is known between what it was; by an hour it is not.
fn is_wide(victim: &Victim) -> bool {
    let width = victim.time_width();
    width.is_some_and(|width| width > 5 * SECOND && width < 3600 * SECOND)
}

fn is_first(incident: &Incident, pod: &str) -> bool {
    let first = incident.first_victim.iter().chain(&incident.first_victims);
    first.into_iter().any(|victim| victim.pod == pod)
}

fn fact(facts: &mut Vec<Fact>, label: &'static str, body: Spans) {
    facts.push((label, body));
}
