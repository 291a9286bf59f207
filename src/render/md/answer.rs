use std::io;

use crate::answer::{Answer, Incident, Level};

use super::super::clock::{Clock, duration, offset, run_of, seconds_between, zero};
use super::super::error::RenderError;
use super::super::machine_history::before;
use super::super::page::{Spans, Tone};
use super::super::style::Style;
use super::super::table::main_incident;
use super::super::{facts, process_output, wording};
use super::escape::{code, escape, plain};
use super::records::{coverage, timeline};

/// Writes the answer: the verdict, why, coverage, and the timeline folded away.
pub(crate) fn answer(
    answer: &Answer,
    style: &Style,
    out: &mut dyn io::Write,
) -> Result<(), RenderError> {
    let clock = Clock(style.tz);
    let main = main_incident(answer).filter(|_| answer.experiment.is_some());
    headline(answer, main, out)?;
    for note in &answer.notes {
        writeln!(out, "> {}\n", escape(note))?;
    }
    if let Some(incident) = main {
        writeln!(out, "**{}**\n", escape(&incident.summary))?;
        facts(incident, clock, out)?;
        why(answer, incident, clock, out)?;
        beside(incident, out)?;
    }
    incidents(answer, main, clock, out)?;
    coverage(answer, out)?;
    timeline(answer, style, clock, out)?;
    let now = answer
        .now
        .as_deref()
        .map(|now| format!("As of {} · ", clock.full(now)));
    let page =
        super::super::page_of(answer, None).map(|page| format!("[open the page](<{page}>) · "));
    writeln!(
        out,
        "<sub>{}{}rules {}</sub>",
        page.unwrap_or_default(),
        now.unwrap_or_default(),
        escape(&answer.ruleset)
    )?;
    Ok(())
}

fn headline(
    answer: &Answer,
    main: Option<&Incident>,
    out: &mut dyn io::Write,
) -> Result<(), RenderError> {
    let Some(experiment) = &answer.experiment else {
        writeln!(
            out,
            "## {}\n",
            plain(&wording::count(answer.incidents.len(), "incident"))
        )?;
        return Ok(());
    };
    let Some(run) = main
        .and_then(|incident| run_of(answer, incident))
        .or(answer.runs.first())
    else {
        writeln!(
            out,
            "## ? {}\n\nNo run with that name was found in the data that was read.\n",
            escape(experiment)
        )?;
        return Ok(());
    };
    let until = facts::until(answer, run, main);
    let took = seconds_between(run.start.as_deref(), until)
        .filter(|s| *s >= 0.0)
        .map(duration);
    let (sign, _) = wording::state_sign(&run.state);
    let state = wording::state_took(&run.state, took.as_deref());
    let which = wording::run_of_runs(run);
    writeln!(
        out,
        "## {sign} {} · {} · {}\n",
        escape(experiment),
        plain(&which),
        escape(&plain(&state))
    )?;
    Ok(())
}

fn facts(incident: &Incident, clock: Clock, out: &mut dyn io::Write) -> Result<(), RenderError> {
    let level = wording::level(incident.level);
    if incident.level == Level::Unknown {
        writeln!(out, "- Cause: {level}")?;
    } else {
        writeln!(
            out,
            "- Cause: {} · {} · {level}",
            escape(&incident.title),
            code(&incident.cause)
        )?;
    }
    match &incident.actor {
        Some(actor) => {
            let by = facts::done_by(incident);
            writeln!(out, "- {by}: {}", spans(&wording::actor(actor)))?;
        }
        None if incident.actor_unseen => {
            writeln!(out, "- {}: an unknown actor", facts::done_by(incident))?;
        }
        None => {}
    }
    if let Some(victim) = &incident.first_victim {
        let time = victim
            .time
            .as_deref()
            .map(|time| format!(" at {}", clock.time(time)));
        let how = if victim.how.is_empty() {
            String::new()
        } else {
            format!(", {}", escape(&victim.how))
        };
        let first = spans(&wording::victim(victim));
        writeln!(
            out,
            "- First victim: {first}{}{how}",
            time.unwrap_or_default()
        )?;
    }
    if !incident.collateral.is_empty() {
        writeln!(
            out,
            "- Followed: {}",
            spans(&wording::crowd(&incident.collateral))
        )?;
    }
    if let Some(known) = &incident.before {
        let body = before(known, incident.time.as_deref(), clock);
        writeln!(out, "- Before: {}", spans(&body))?;
    }
    for (label, body) in process_output::facts(incident, clock) {
        writeln!(out, "- {label}: {}", spans(&body))?;
    }
    writeln!(out)?;
    traceback(incident, out)
}

/// The traceback as the process wrote it.
fn traceback(incident: &Incident, out: &mut dyn io::Write) -> Result<(), RenderError> {
    let Some(traceback) = &incident.said.traceback else {
        return Ok(());
    };
    if traceback.text.lines().count() < 2 {
        return Ok(());
    }
    writeln!(out, "### Traceback of {}\n", code(&traceback.pod))?;
    // Indented text needs no fence, which a line of it could close.
    for line in traceback.text.lines() {
        writeln!(out, "    {}", super::super::text::escape(line))?;
    }
    writeln!(out)?;
    Ok(())
}

fn why(
    answer: &Answer,
    incident: &Incident,
    clock: Clock,
    out: &mut dyn io::Write,
) -> Result<(), RenderError> {
    if incident.chain.is_empty() {
        return Ok(());
    }
    let zero = zero(answer, Some(incident));
    writeln!(
        out,
        "### Why\n\n| time | offset | step | what happened |\n| --- | ---: | --- | --- |"
    )?;
    for link in &incident.chain {
        let time = link
            .time
            .as_deref()
            .map(|time| clock.full(time))
            .unwrap_or_default();
        let offset = seconds_between(zero.as_deref(), link.time.as_deref())
            .map(offset)
            .unwrap_or_default();
        writeln!(
            out,
            "| {time} | {offset} | {} | {} |",
            link.role,
            escape(&link.text)
        )?;
    }
    writeln!(out)?;
    Ok(())
}

fn beside(incident: &Incident, out: &mut dyn io::Write) -> Result<(), RenderError> {
    if !incident.alternatives.is_empty() {
        writeln!(out, "### Ruled out\n")?;
        for alternative in &incident.alternatives {
            writeln!(
                out,
                "- not {}: {}",
                code(&alternative.cause),
                escape(&alternative.why_not)
            )?;
        }
        writeln!(out)?;
    }
    list("What to do", &incident.advice, out)?;
    let reported = incident.would_have_told.iter();
    let reported: Vec<String> = reported
        .map(|line| wording::would_have_told(line))
        .collect();
    list("Missing evidence", &reported, out)
}

fn list(title: &str, items: &[String], out: &mut dyn io::Write) -> Result<(), RenderError> {
    if items.is_empty() {
        return Ok(());
    }
    writeln!(out, "### {title}\n")?;
    for item in items {
        writeln!(out, "- {}", escape(item))?;
    }
    writeln!(out)?;
    Ok(())
}

fn incidents(
    answer: &Answer,
    main: Option<&Incident>,
    clock: Clock,
    out: &mut dyn io::Write,
) -> Result<(), RenderError> {
    let others = || {
        answer
            .incidents
            .iter()
            .filter(|other| main.is_none_or(|main| !std::ptr::eq(*other, main)))
    };
    if others().next().is_none() {
        return Ok(());
    }
    if main.is_some() {
        writeln!(out, "### Also happened\n")?;
    }
    writeln!(
        out,
        "| time | cause | level | run | first victim | summary |\n| --- | --- | --- | --- | --- | --- |"
    )?;
    for incident in others() {
        let time = incident
            .time
            .as_deref()
            .map(|time| clock.full(time))
            .unwrap_or_default();
        let run = run_of(answer, incident)
            .map(|run| code(&run.name))
            .unwrap_or_default();
        let first = incident
            .first_victim
            .as_ref()
            .map(|victim| code(&victim.pod))
            .unwrap_or_default();
        let (cause, summary) = (code(&incident.cause), escape(&incident.summary));
        writeln!(
            out,
            "| {time} | {cause} | {} | {run} | {first} | {summary} |",
            escape(&incident.level)
        )?;
    }
    writeln!(out)?;
    Ok(())
}

/// Words, with names as code.
fn spans(spans: &Spans) -> String {
    let mut shown = String::new();
    for span in &spans.0 {
        let text = plain(&span.text);
        let is_name = matches!(span.tone, Tone::Name | Tone::Strong);
        shown.push_str(&if is_name { code(&text) } else { escape(&text) });
    }
    shown
}
