//! The runs and attempts of a name.

use whathappened_slack::{Message, MessageBuilder, Mrkdwn};

use crate::answer::{Answer, Run};

use super::super::clock::{Clock, duration, seconds_between};
use super::super::style::Tz;
use super::super::text::escape;
use super::super::wording;
use super::markup::plain;

/// Every run and attempt, the newest first.
#[must_use]
pub fn attempts(answer: &Answer) -> Message {
    let name = answer.experiment.as_deref().unwrap_or("it");
    let all: usize = answer.runs.iter().map(|run| run.attempts.len()).sum();
    let mut message = MessageBuilder::new(&format!(
        "{} has {} with {} in total.",
        escape(name),
        wording::count(answer.runs.len(), "run").replace('\u{a0}', " "),
        wording::count(all, "attempt").replace('\u{a0}', " "),
    ));
    for run in &answer.runs {
        let title = format!(
            "{}: {} {}",
            plain(&super::super::page::Spans::new().say(wording::run_of_runs(run))),
            run.kind,
            escape(&run.name)
        );
        message.lines(&title, &of_run(answer, run), 20);
    }
    message.build()
}

fn of_run(answer: &Answer, run: &Run) -> Vec<Mrkdwn> {
    let clock = Clock(Tz::Utc);
    let attempts = run.attempts.iter().rev().map(|attempt| {
        // The present says how long it runs, and nothing of what is over.
        let goes_on = attempt.state.goes_on();
        let now = answer.now.as_deref().filter(|_| goes_on);
        let until = attempt.end.as_deref().or(now);
        let took = seconds_between(attempt.start.as_deref(), until)
            .filter(|seconds| *seconds >= 0.0)
            .map(duration);
        let (sign, _) = wording::state_sign(attempt.state);
        let mut text = Mrkdwn::new()
            .bold(format!("attempt {}", attempt.number))
            .say(format!(" {sign} "))
            .say(wording::state_took(attempt.state, took.as_deref()).replace('\u{a0}', " "))
            .say(", ")
            .say(wording::pods_died(run, attempt).replace('\u{a0}', " "));
        if let Some(start) = &attempt.start {
            text = text.say(format!(", from {}", clock.full(start)));
        }
        let causes = answer.incidents.iter().filter(|incident| {
            incident.run_id.as_deref() == Some(&run.id) && incident.attempt == Some(attempt.number)
        });
        for incident in causes {
            text = text.say(" · ").code(escape(&incident.cause));
        }
        text
    });
    attempts.collect()
}
