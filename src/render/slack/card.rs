//! The verdict: what, who, which pod first, why, what to do, what was not seen.

use whathappened_slack::{Block, Button, Message, MessageBuilder, Mrkdwn};

use crate::answer::{Answer, ChainLink, Incident, StepRole};

use super::super::clock::{Clock, instant, run_of};
use super::super::page::{Spans, Tone};
use super::super::style::Tz;
use super::super::table::{main_incident, shortfalls};
use super::super::text::escape;
use super::super::wording;
use super::super::{everything, facts};
use super::fallback::read_aloud;
use super::markup::{lines, markup, plain, sentence};

/// Lines of a traceback that are shown, its last ones.
const TRACEBACK: usize = 10;

/// What stands around an answer in a message.
#[derive(Clone, Debug, Default)]
pub struct Card<'a> {
    /// What the buttons send back, so that it is known what they are about; no
    /// buttons without it.
    pub value: Option<&'a str>,
    /// A page with the same answer.
    pub page: Option<&'a str>,
    /// A remark under the headline: who subscribed, what is not shown here.
    pub remark: Option<&'a str>,
    /// The incident that is told, by its place in the answer; else the main one.
    pub incident: Option<usize>,
}

/// The page of what a message is about: of the incident, else of the answer.
#[must_use]
pub fn page_of(answer: &Answer, incident: Option<usize>) -> Option<String> {
    let page = about(answer, incident).and_then(|main| main.page.clone());
    page.or_else(|| answer.page.clone())
}

/// The incident that a message is about.
fn about(answer: &Answer, incident: Option<usize>) -> Option<&Incident> {
    let wanted = incident.and_then(|at| answer.incidents.get(at));
    wanted.or_else(|| main_incident(answer).filter(|_| answer.experiment.is_some()))
}

/// The answer as one message, whatever its size.
#[must_use]
pub fn card(answer: &Answer, around: &Card<'_>) -> Message {
    let main = about(answer, around.incident);
    let mut message = MessageBuilder::new(&read_aloud(answer, main));
    if let Some(buttons) = buttons(answer, main, around) {
        message.last(buttons);
    }
    message.last(foot(answer, main));
    message.push(Block::header(&headline(answer, main)));
    if let Some(remark) = around.remark {
        message.push(Block::context(&sentence(remark)));
    }
    for note in &answer.notes {
        message.push(Block::context(&sentence(note)));
    }
    match main {
        Some(incident) => verdict(&mut message, answer, incident),
        None if answer.experiment.is_some() => {
            message.push(Block::section(&markup(&facts::nothing(answer))));
        }
        None => {}
    }
    others(&mut message, answer, main);
    unseen(&mut message, answer, main);
    message.build()
}

fn headline(answer: &Answer, main: Option<&Incident>) -> String {
    if answer.experiment.is_none() {
        let (sign, line) = everything::headline(answer);
        return format!("{}{}", plain(&sign), plain(&line));
    }
    let (sign, line) = facts::headline(answer, main);
    format!("{}{}", plain(&sign), plain(&line))
}

fn verdict(message: &mut MessageBuilder, answer: &Answer, incident: &Incident) {
    let clock = Clock(Tz::Utc);
    message.push(Block::section(
        &Mrkdwn::new().bold(escape(&incident.summary)),
    ));
    let mut known = Mrkdwn::new();
    let mut is_first = true;
    let mut next_line = |known: Mrkdwn| match std::mem::take(&mut is_first) {
        true => known,
        false => known.say("\n"),
    };
    for (label, body) in facts::facts(answer, incident, clock, false) {
        known = next_line(known);
        if !label.is_empty() {
            known = known.bold(format!("{label}:")).say(" ");
        }
        known = known.and(markup(&body));
    }
    if let Some(time) = &incident.time {
        known = next_line(known)
            .bold("When:")
            .say(" ")
            .and(moment(time, clock));
        let announced = incident.announced_at.as_ref();
        if let Some(announced) = announced.filter(|announced| *announced != time) {
            known = known.say(", announced ").and(moment(announced, clock));
        }
    }
    message.push(Block::section(&known));
    traceback(message, incident);
    let steps: Vec<Mrkdwn> = incident
        .chain
        .iter()
        .map(|link| step(link, clock))
        .collect();
    message.lines("Why", &steps, 12);
    let advice: Vec<Mrkdwn> = incident.advice.iter().map(|text| sentence(text)).collect();
    message.lines("What to do", &advice, 5);
    let lost = alternatives(incident);
    if answer.incidents.len() == 1 {
        message.lines("Ruled out", &lost, 3);
    }
}

/// Why others lost, in lines.
pub(super) fn alternatives(incident: &Incident) -> Vec<Mrkdwn> {
    let reported = incident.alternatives.iter().map(|lost| {
        let text = Mrkdwn::new()
            .say("not ")
            .code(escape(&lost.cause))
            .say(": ");
        text.and(sentence(&lost.why_not))
    });
    reported.collect()
}

/// A step of the chain in a line.
pub(super) fn step(link: &ChainLink, clock: Clock) -> Mrkdwn {
    let mut text = Mrkdwn::new();
    if let Some(time) = &link.time {
        text = text.say(clock.time(time)).say(" ");
    }
    let role = link.role.as_str().to_owned();
    match link.role {
        StepRole::Cause | StepRole::Death | StepRole::Stuck => {
            text.bold(role).say(": ").and(sentence(&link.text))
        }
        _ => text.italic(role).say(": ").and(sentence(&link.text)),
    }
}

/// A moment that Slack shows in each reader's own time.
fn moment(time: &str, clock: Clock) -> Mrkdwn {
    match instant(time) {
        Some(at) => Mrkdwn::new().date(at.timestamp(), clock.full(time)),
        None => sentence(time),
    }
}

/// The end of the traceback, as the process wrote it.
fn traceback(message: &mut MessageBuilder, incident: &Incident) {
    let Some(traceback) = &incident.said.traceback else {
        return;
    };
    let all: Vec<&str> = traceback.text.lines().collect();
    if all.len() < 2 {
        return;
    }
    let end = all[all.len().saturating_sub(TRACEBACK)..].join("\n");
    let mut title = Mrkdwn::new()
        .bold("Traceback of")
        .say(" ")
        .code(escape(&traceback.pod));
    if all.len() > TRACEBACK {
        title = title.say(format!(", its last {TRACEBACK} lines of {}", all.len()));
    }
    message.push(Block::section(&title.and(lines(&end))));
}

/// What else happened, or everything where no name was asked for.
fn others(message: &mut MessageBuilder, answer: &Answer, main: Option<&Incident>) {
    let clock = Clock(Tz::Utc);
    let others: Vec<Mrkdwn> = answer
        .incidents
        .iter()
        .filter(|other| main.is_none_or(|main| !std::ptr::eq(*other, main)))
        .map(|other| {
            let mut text = Mrkdwn::new();
            if let Some(time) = &other.time {
                text = text.say(clock.full(time)).say(" ");
            }
            text = text.code(escape(&other.cause)).say(" ");
            if let Some(run) = run_of(answer, other).filter(|_| main.is_none()) {
                text = text.bold(escape(&run.name)).say(" ");
            }
            text.and(sentence(&other.summary))
        })
        .collect();
    let title = if main.is_some() {
        "Also happened"
    } else {
        "What happened"
    };
    message.lines(title, &others, if main.is_some() { 4 } else { 15 });
}

/// What could not be seen, and what it would have told.
fn unseen(message: &mut MessageBuilder, answer: &Answer, main: Option<&Incident>) {
    let reported = main.map_or(&[][..], |incident| &incident.would_have_told);
    let reported = reported
        .iter()
        .map(|text| sentence(&wording::missing_evidence(text)));
    let short = shortfalls(answer, Clock(Tz::Utc));
    let all: Vec<Mrkdwn> = reported.chain(short.iter().map(markup)).collect();
    message.lines("Missing data", &all, 5);
}

fn foot(answer: &Answer, main: Option<&Incident>) -> Block {
    let clock = Clock(Tz::Utc);
    let mut parts = Vec::new();
    if let Some(run) = facts::subject_run(answer, main) {
        let place = run.namespace.as_ref().map(|name| format!("{name}/"));
        let place = place.unwrap_or_default();
        let kind = wording::kind(&run.kind);
        parts.push(format!("{kind} {place}{}", run.name));
    }
    if let Some(now) = &answer.now {
        parts.push(format!("as of {}", clock.full(now)));
    }
    let full = answer
        .coverage
        .iter()
        .filter(|row| wording::is_read_in_full(row, &answer.coverage));
    match full.count() {
        0 => parts.push("no source was read completely".to_owned()),
        read => parts.push(format!("{} read in full", wording::count(read, "source"))),
    }
    parts.push(format!("rules {}", answer.ruleset));
    let spans = Spans::new().data(Tone::Dim, &parts.join(" · "));
    Block::context(&markup(&spans))
}

fn buttons(answer: &Answer, main: Option<&Incident>, around: &Card<'_>) -> Option<Block> {
    let value = around.value;
    let button = |text: &str, action: &'static str| Button::new(text, action, value?.to_owned());
    let has_victim = main.is_some_and(|incident| incident.first_victim.is_some());
    let attempts: usize = answer.runs.iter().map(|run| run.attempts.len()).sum();
    let timeline = (!answer.timeline.is_empty()).then(|| button("Timeline", "timeline"));
    let why = has_victim.then(|| button("Why this pod", "why"));
    let others = (attempts > 1).then(|| button("Other attempts", "attempts"));
    Block::actions([
        timeline.flatten(),
        why.flatten(),
        others.flatten(),
        button("As a file", "file"),
        around
            .page
            .and_then(|page| Button::open("Open in the browser", "open", page)),
    ])
}

#[cfg(test)]
mod page_tests {
    use super::super::super::fixtures::gpt2;
    use super::page_of;

    #[test]
    fn the_button_leads_to_the_incident_that_is_shown() {
        let mut answer = gpt2();
        assert_eq!(page_of(&answer, None), None);
        answer.page = Some("https://w.example.com/x/gpt2".to_owned());
        assert_eq!(page_of(&answer, None), answer.page);
        for (at, incident) in answer.incidents.iter_mut().enumerate() {
            incident.page = Some(format!("https://w.example.com/i/{at}"));
        }
        let last = answer.incidents.len() - 1;
        assert_eq!(
            page_of(&answer, None).as_deref(),
            Some("https://w.example.com/i/0")
        );
        assert_eq!(page_of(&answer, Some(last)), answer.incidents[last].page);
    }
}
