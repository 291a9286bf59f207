//! What is said of everything that was asked for, whatever it looks like.

use crate::answer::{Answer, Incident, IncidentRole, Run};
use whathappened_core::death::RunState;
use whathappened_core::timeline::Weight;

use super::page::{Spans, Tone};
use super::wording;

/// What became of everything, or of all that was on one machine: a sign, and the words beside it.
pub(crate) fn headline(answer: &Answer) -> (Spans, Spans) {
    let calm = answer
        .incidents
        .iter()
        .filter(|incident| wording::is_calm(incident))
        .count();
    // What is announced has not happened, as far as anybody knows.
    let is_announced = |incident: &&Incident| incident.role == IncidentRole::Announced;
    let announced = answer.incidents.iter().filter(is_announced).count();
    let errors = answer
        .timeline
        .iter()
        .filter(|row| row.weight == Weight::Error);
    let errors = errors.count();
    // A tick needs something that is seen to be well, and nothing that is not.
    let is_well = |run: &Run| matches!(run.state, RunState::Completed | RunState::Running);
    let well = answer.runs.iter().all(is_well) && (!answer.runs.is_empty() || calm > 0);
    let failed = answer.runs.iter().any(|run| run.state == RunState::Failed);
    let (sign, tone, title) = match answer.incidents.len() - calm - announced {
        0 if errors > 0 => (
            "•",
            Tone::Dim,
            format!(
                "No incident, but {} on the timeline without a known victim",
                wording::count(errors, "error")
            ),
        ),
        0 if well => ("✓", Tone::Good, "No failures".to_owned()),
        // Whoever asked for a machine asked whether it was to blame.
        0 if failed && answer.machine.is_some() => (
            "•",
            Tone::Dim,
            "No failure was traced to this machine".to_owned(),
        ),
        0 => ("•", Tone::Dim, "No incident found".to_owned()),
        n => ("✗", Tone::Fatal, wording::count(n, "incident")),
    };
    let mut line = match &answer.machine {
        Some(machine) => Spans::new()
            .data(Tone::Strong, machine)
            .own(Tone::Dim, " · "),
        None => Spans::new(),
    };
    line = line.own(Tone::Strong, title);
    for state in [
        RunState::Failed,
        RunState::Deleted,
        RunState::Deleting,
        RunState::Pending,
        RunState::Running,
        RunState::Completed,
        RunState::Unknown,
    ] {
        let n = answer.runs.iter().filter(|run| run.state == state).count();
        if n > 0 {
            line = line.own(Tone::Dim, " · ").say(match state {
                RunState::Unknown => format!("{} in an unknown state", wording::count(n, "run")),
                state => format!("{}\u{a0}{state}", wording::count(n, "run")),
            });
        }
    }
    if announced > 0 {
        line = line
            .own(Tone::Dim, " · ")
            .say(wording::count(announced, "announcement"));
    }
    (Spans::new().own(tone, sign).say(" "), line)
}
