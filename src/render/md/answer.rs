use std::io;

use crate::answer::{Answer, Incident, Level};

use super::super::clock::{Clock, offset, run_of, seconds_between, zero};
use super::super::error::RenderError;
use super::super::page::{Spans, Tone};
use super::super::style::Style;
use super::super::table::main_incident;
use super::super::{everything, facts, wording};
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
        labelled(answer, incident, clock, out)?;
        why(answer, incident, clock, out)?;
        beside(incident, out)?;
    }
    incidents(answer, main, clock, out)?;
    missing(answer, main, out)?;
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
    let text = |spans: &Spans| {
        let texts = spans.0.iter().map(|span| escape(&plain(&span.text)));
        texts.collect::<String>()
    };
    let Some(experiment) = &answer.experiment else {
        let (sign, line) = everything::headline(answer);
        writeln!(out, "## {}{}\n", text(&sign), text(&line))?;
        return Ok(());
    };
    if facts::subject_run(answer, main).is_none() {
        writeln!(
            out,
            "## ? {}\n\nNo run with that name was found in the data that was read.\n",
            escape(experiment)
        )?;
        return Ok(());
    }
    let (sign, line) = facts::headline(answer, main);
    writeln!(out, "## {}{}\n", text(&sign), text(&line))?;
    Ok(())
}

/// The labelled lines of the verdict, in the words of the table.
fn labelled(
    answer: &Answer,
    incident: &Incident,
    clock: Clock,
    out: &mut dyn io::Write,
) -> Result<(), RenderError> {
    for (label, body) in facts::facts(answer, incident, clock, false) {
        // Where the table indents a line below the one before, a list needs a word.
        let label = if label.is_empty() { "Against" } else { label };
        let text = match label {
            "Cause" | "Verdict" => cause(&body),
            _ => spans(&body),
        };
        writeln!(out, "- {label}: {text}")?;
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
    writeln!(out, "### Traceback\n\n{}:\n", code(&traceback.pod))?;
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
    list("What to do", &incident.advice, out)
}

/// What would have shown more, above the sources of which some fell short.
fn missing(
    answer: &Answer,
    main: Option<&Incident>,
    out: &mut dyn io::Write,
) -> Result<(), RenderError> {
    let reported = main.map_or(&[][..], |incident| &incident.would_have_told);
    let reported: Vec<String> = reported
        .iter()
        .map(|line| wording::missing_evidence(line))
        .collect();
    let unknown = main.is_some_and(|incident| incident.level == Level::Unknown);
    if unknown {
        list("Evidence that would settle it", &reported, out)?;
    }
    let above = if unknown { &[][..] } else { &reported };
    coverage(answer, above, out)
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
            incident.level
        )?;
    }
    writeln!(out)?;
    Ok(())
}

/// A cause's line, with its id as code; how sure it is stays a word.
fn cause(spans: &Spans) -> String {
    let shown = spans.0.iter().map(|span| {
        let text = plain(&span.text);
        if span.tone == Tone::Bad {
            code(&text)
        } else {
            escape(&text)
        }
    });
    shown.collect()
}

/// Words, with names as code.
fn spans(spans: &Spans) -> String {
    let mut shown = String::new();
    for span in &spans.0 {
        let text = plain(&span.text);
        // A phrase is stressed; only names, which have no spaces, are code.
        let is_phrase = span.tone == Tone::Strong && text.contains(' ');
        let is_name = matches!(span.tone, Tone::Name | Tone::Strong);
        shown.push_str(&match (is_phrase, is_name) {
            (true, _) => format!("**{}**", escape(&text)),
            (_, true) => code(&text),
            _ => escape(&text),
        });
    }
    shown
}
