//! What a screen reader or a notification tells.

use crate::answer::{Answer, Incident, Level};
use whathappened_core::signals::ActorKind;
use whathappened_model::coverage::Status;

use super::super::clock::{Clock, run_of};
use super::super::style::Tz;
use super::super::text::escape;
use super::super::wording;
use super::super::{everything, facts};
use super::markup::plain;

/// The answer in some sentences.
pub(super) fn read_aloud(answer: &Answer, main: Option<&Incident>) -> String {
    let mut sentences = Vec::new();
    if answer.experiment.is_some() {
        let (_, headline) = facts::headline(answer, main);
        sentences.push(plain(&headline).replace(" · ", ", "));
    } else {
        let (_, headline) = everything::headline(answer);
        sentences.push(plain(&headline).replace(" · ", ", "));
    }
    match main {
        Some(incident) => of_incident(answer, incident, &mut sentences),
        None if answer.experiment.is_some() => sentences.push(plain(&facts::nothing(answer))),
        None => sentences.extend(
            answer
                .incidents
                .iter()
                .take(3)
                .map(|incident| incident.summary.clone()),
        ),
    }
    let short = answer
        .coverage
        .iter()
        .filter(|row| !matches!(row.status, Status::Complete | Status::NotConfigured));
    match short.count() {
        0 => {}
        1 => sentences.push("One source was not read in full".to_owned()),
        many => sentences.push(format!("{many} sources were not read in full")),
    }
    joined(&sentences)
}

fn of_incident(answer: &Answer, incident: &Incident, sentences: &mut Vec<String>) {
    sentences.push(incident.summary.clone());
    if incident.level == Level::Unknown || incident.cause == "unknown" {
        sentences.push("The cause could not be determined".to_owned());
    } else {
        let level = match incident.level {
            Level::Hypothesis => "a hypothesis, unconfirmed",
            other => other.as_str(),
        };
        let what = if wording::is_calm(incident) {
            "Verdict"
        } else {
            "Cause"
        };
        sentences.push(format!("{what}: {}, {level}", incident.title));
    }
    if let Some(actor) = &incident.actor {
        sentences.push(format!("Done by {}, {}", actor.name, one(actor.kind)));
    } else if incident.actor_unseen {
        sentences.push("It is not known who did it".to_owned());
    }
    if let Some(victim) = &incident.first_victim {
        let mut first = format!("{}: {}", facts::came_first(incident), victim.pod);
        if let Some(rank) = victim.rank {
            first.push_str(&format!(", rank {rank}"));
        }
        if let Some(time) = &victim.time {
            first.push_str(&format!(", at {}", Clock(Tz::Utc).full(time)));
        }
        if incident.first_victims.len() > 1 {
            first.push_str(", or another at that time");
        }
        sentences.push(first);
    }
    match incident.collateral.len() {
        0 => {}
        many => {
            let member = wording::member(run_of(answer, incident));
            sentences.push(format!("{} followed", wording::count(many, member)));
        }
    }
    if let Some(advice) = incident.advice.first() {
        sentences.push(format!("What to do: {advice}"));
    }
}

/// A kind with its article; "user" begins with the sound of a consonant.
fn one(kind: ActorKind) -> String {
    let kind = kind.as_str();
    let article = if kind.starts_with(['a', 'e', 'i', 'o']) {
        "an"
    } else {
        "a"
    };
    format!("{article} {kind}")
}

/// Sentences with a full stop each.
fn joined(sentences: &[String]) -> String {
    let mut text = String::new();
    for sentence in sentences {
        let sentence = escape(sentence.trim()).replace('\u{a0}', " ");
        if sentence.is_empty() {
            continue;
        }
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(&sentence);
        if !sentence.ends_with(['.', '!', '?', '…']) {
            text.push('.');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{ActorKind, one};

    #[test]
    fn a_kind_has_its_article() {
        assert_eq!(one(ActorKind::Autoscaler), "an autoscaler");
        assert_eq!(one(ActorKind::User), "a user");
        assert_eq!(one(ActorKind::Controller), "a controller");
    }
}
