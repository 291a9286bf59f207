//! What had stood still for long when a limit, or somebody, ended it: more time would not have helped.

use whathappened_core::death::DeathState;
use whathappened_core::lifecycle::Mode;
use whathappened_model::time::{Nanos, SECOND, rfc3339};

use super::context::ReportContext;
use super::repeats::duration;
use crate::explain::Rule;
use crate::explain::gang::Finding;

/// Evaluating and saving take a while.
const LEAST: Nanos = 1_800 * SECOND;

/// And so many of its own steps.
const STEPS: Nanos = 30;

/// Ends that come when their time is come, whatever the program does.
const WHENEVER: [&str; 2] = ["code.deadline", "ops.manual_delete"];

/// What is to be done about one that stood still.
const LOOK_FOR_HANG: &str = "Find out why it made no steps any more before giving it more time: where its processes waited (py-spy dump), and what its machines and file systems reported when the steps stopped.";

/// What is to be done where one had stood still: more time, which is all that a limit leaves to ask for, helps no hang.
pub(super) fn instead_of(advice: Vec<String>, rule: Option<&Rule>) -> Vec<String> {
    let of_limit = rule.is_some_and(|rule| rule.cause == "code.deadline");
    let rest = if of_limit { Vec::new() } else { advice };
    std::iter::once(LOOK_FOR_HANG.to_owned())
        .chain(rest)
        .collect()
}

impl ReportContext<'_> {
    /// Says of the first victim that it had made no step for long, where its steps are known.
    pub(super) fn stood_still(&self, finding: &Finding, rule: Option<&Rule>) -> Option<String> {
        rule.filter(|rule| WHENEVER.contains(&rule.cause.as_str()))?;
        let first = finding.first.first().and_then(|death| self.death(*death))?;
        let pod = self.graph().pods.get(first.pod)?;
        let steps = pod.progress.as_deref().filter(|steps| steps.are_known())?;
        let quiet = first.time.lo.saturating_sub(steps.last.hi);
        let is_done =
            steps.is_done() || pod.logged_done.is_some_and(|done| done.hi >= steps.last.lo);
        let long = LEAST.max(steps.usual().saturating_mul(STEPS));
        let was_ended = first.state == DeathState::Died && first.mode == Mode::Killed;
        if !was_ended || is_done || quiet < long {
            return None;
        }
        let step = steps
            .step
            .map_or_else(String::new, |step| format!(" {step}"));
        let time = rfc3339(steps.last.lo);
        let time: String = time.chars().skip(11).take(8).collect();
        Some(format!(
            "Its log shows no step after step{step} at {time}Z, {} before that: it seems to have hung.",
            duration(quiet)
        ))
    }
}
