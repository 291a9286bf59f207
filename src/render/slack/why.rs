//! Why the first pod died: the evidence, and how each step is proven.

use whathappened_slack::{Block, Message, MessageBuilder, Mrkdwn};

use crate::answer::{Answer, Edge, Incident};

use super::super::clock::Clock;
use super::super::style::Tz;
use super::super::table::{main_incident, witness};
use super::super::text::escape;
use super::super::wording;
use super::card::{alternatives, step};
use super::markup::{markup, plain, sentence};

/// Why the first pod of the main incident died, with evidence and what speaks
/// against it.
#[must_use]
pub fn why(answer: &Answer) -> Message {
    let Some(incident) = main_incident(answer) else {
        return Message::text(
            &Mrkdwn::new()
                .say("There is no incident to explain. The timeline shows what was recorded."),
        );
    };
    let clock = Clock(Tz::Utc);
    let who = incident.first_victim.as_ref().map(wording::victim);
    let whom = who.as_ref().map_or_else(|| "it".to_owned(), plain);
    let means = wording::level_means_of(incident);
    let mut message = MessageBuilder::new(&format!(
        "Why {whom} ended. {} This is {}: {means}. {} it, {} against it.",
        escape(&incident.summary),
        incident.level,
        match incident.evidence.len() {
            1 => "1 record supports".to_owned(),
            many => format!("{} support", wording::count(many, "record")),
        },
        match incident.against.len() {
            0 => "and there is no evidence".to_owned(),
            1 => "1 record is evidence".to_owned(),
            many => format!("{} are evidence", wording::count(many, "record")),
        },
    ));
    let title = Mrkdwn::new().bold("Why").say(" ");
    let title = match &who {
        Some(who) => title.and(markup(who)),
        None => title.say("it ended"),
    };
    message.push(Block::section(
        &title.say("\n").and(sentence(&incident.summary)),
    ));
    let level = Mrkdwn::new()
        .bold(incident.level.as_str())
        .say(": ")
        .say(means);
    message.push(Block::context(&level));
    steps(&mut message, incident, clock);
    let evidence: Vec<Mrkdwn> = incident
        .evidence
        .iter()
        .map(|row| markup(&witness(row, clock)))
        .collect();
    message.lines("Evidence", &evidence, 12);
    let against: Vec<Mrkdwn> = incident
        .against
        .iter()
        .map(|against| sentence(&against.text))
        .collect();
    message.lines("Against", &against, 6);
    message.lines("Ruled out", &alternatives(incident), 8);
    let reported: Vec<Mrkdwn> = incident
        .would_have_told
        .iter()
        .map(|text| sentence(&wording::missing_evidence(text)))
        .collect();
    message.lines("Missing evidence", &reported, 6);
    message.build()
}

fn steps(message: &mut MessageBuilder, incident: &Incident, clock: Clock) {
    let steps: Vec<Mrkdwn> = incident
        .chain
        .iter()
        .map(|link| {
            let how = match link.edge {
                Some(Edge::Asserted) => " (one record names this step and the one before)",
                Some(Edge::Inferred) => " (inferred from place and time)",
                Some(Edge::Guess) => " (by elimination)",
                Some(Edge::Context) => " (for context only)",
                Some(Edge::Against) | None => "",
            };
            step(link, clock).italic(how)
        })
        .collect();
    message.lines("Step by step", &steps, 15);
}
